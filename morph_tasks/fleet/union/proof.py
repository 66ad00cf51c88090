"""Measure a union as a verify measures a feature: the same nodes, the same evidence, and no stamp."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import FEATURES
from morph_tasks.fleet.union.plans import UNION, write_joint_plan
from morph_tasks.verify.judge import Outcome, Verdict, roll_up, skipped
from morph_tasks.verify.progress import Silent
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run, new_run_id

if TYPE_CHECKING:
    from morph_tasks.fleet.union.joining import Joined
    from morph_tasks.fleet.union.scratch import Scratch
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.nodes import Node

_APPLICATION = "the application of a union is not brought up"
_EVALS = "a union asks no model: its answers are recorded in the tree of a feature"
_TAIL = 20

Say = Callable[[str], None]


class _Noted(Silent):
    """Passes on what is worth a line."""

    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say = say

    def note(self, line: str) -> None:
        self._say(line)


@dataclass(frozen=True)
class Proof:
    """What the nodes came to on one tree. `warnings`: what the tree lacks that a feature's own tree has."""

    tree: str
    verdict: Verdict
    warnings: tuple[str, ...] = ()

    @property
    def green(self) -> bool:
        return self.verdict.status == "pass"

    @property
    def red(self) -> tuple[Outcome, ...]:
        """Return the nodes that stand in the way."""
        return tuple(outcome for outcome in self.verdict.outcomes if not outcome.green)

    @property
    def measured(self) -> int:
        return sum(bool(one.record) and not one.reused for one in self.verdict.outcomes if one.status != "skip")

    @property
    def reused(self) -> int:
        return sum(one.reused and one.status != "skip" for one in self.verdict.outcomes)

    def runs(self) -> list[dict[str, Any]]:
        """Return what a stamp would say of each node."""
        from morph_tasks.verify.stamp import run_entry

        return [run_entry(outcome) for outcome in self.verdict.outcomes]


class Prover:
    """Measures unions in one scratch tree, one after the other."""

    def __init__(self, room: Scratch, primary: Repo, trees: Sequence[Path], say: Say) -> None:
        self._room = room
        self._primary = primary
        self._trees = trees  # of the features: a submodule may be filled in one of them only
        self._say = say

    def prove(self, joined: Joined, *, only: Collection[str] = (), fresh: bool = False) -> Proof:
        """Measure a union; `only` these nodes with the builds they need, when given.

        `fresh` measures what is proved, too. Raises Refusal `busy` (exit 3), `invalid-config`, …
        """
        from morph_tasks.tasks.actions import tree_held
        from morph_tasks.verify.service import end_of_run

        warnings = self._set_up(joined)
        run = Run(self._room.tree, UNION, Request(fresh=fresh), new_run_id(), quiet=True, progress=_Noted(self._say))
        with tree_held(run.repo, run.request.wait_s):
            try:
                outcomes = _measured(run, only)
            finally:
                end_of_run(run)
        return Proof(joined.tree, roll_up(outcomes), warnings)

    def _set_up(self, joined: Joined) -> tuple[str, ...]:
        """Make the tree hold the union, with what git does not bring: shared folders, `.env*`, the decisions."""
        from morph_tasks.fleet.copies import copy_all
        from morph_tasks.fleet.excludes import DERIVED, exclude
        from morph_tasks.fleet.links import link_all, wanted
        from morph_tasks.fleet.union.submodules import fill
        from morph_tasks.model.load import load_config

        tree = self._room.tree
        self._room.put(joined.commit)
        empty = fill(self._room, [self._primary.root, *self._trees])
        config = load_config(tree)
        exclude(tree, [*wanted(self._primary, config), *DERIVED, f"{FEATURES}/{UNION}"])
        linked = link_all(self._primary, tree, config)
        copied = copy_all(self._primary, tree)
        write_joint_plan(tree.root, joined.merged)
        said = [f"{one['path']} is not in the union's tree: {one['why']}" for one in (*linked.skipped, *copied.skipped)]
        return (*said, *(f"the submodule {path} is empty in the union's tree" for path in empty))


def _measured(run: Run, only: Collection[str]) -> list[Outcome]:
    from morph_tasks.verify.measure import measure

    # Made with all nodes: what each of them writes is no input of any.
    observer = run.observer
    chosen = _chosen(run.nodes, only)
    left_out = {node.ref: why for node in chosen if (why := _left_out(node))}
    order, run.nodes = run.nodes, tuple(node for node in chosen if node.ref not in left_out)
    for node in run.nodes:
        measure(run, node)
    observer.save()
    with observer.kept():
        known = {outcome.node.ref: outcome for outcome in run.outcomes()}
    refs = {node.ref for node in chosen}
    return [
        skipped(node, left_out[node.ref]) if node.ref in left_out else known[node.ref]
        for node in {node.ref: node for node in order if node.ref in refs}.values()
    ]


def _chosen(nodes: Sequence[Node], only: Collection[str]) -> list[Node]:
    """Return nodes in an order in which each comes after those it needs."""
    from graphlib import TopologicalSorter

    known = {node.ref: node for node in nodes}
    waiting = [ref for ref in (only or known) if ref in known]
    graph: dict[str, list[str]] = {}
    while waiting:
        ref = waiting.pop()
        if ref not in graph:
            graph[ref] = [other for other in known[ref].needs if other in known]
            waiting += graph[ref]
    return [known[ref] for ref in TopologicalSorter(graph).static_order()]


def _left_out(node: Node) -> str | None:
    if node.family == "e2e" or node.e2e:
        # A project that has no application says so itself, and one that is declared wrong stays red.
        return _APPLICATION if node.runs else None
    return _EVALS if node.evals else None


def red_node(outcome: Outcome) -> dict[str, Any]:
    """Return what is told of a red node: its reason, where its log is, the end of it and the tests that failed."""
    record = outcome.record or {}
    log = Path(record["log"]) if record.get("log") else None
    failures: list[dict[str, Any]] = []
    lines = list(record.get("detail") or ())
    if log is not None and log.is_file():
        from morph_tasks.verify.reading import tail
        from morph_tasks.verify.runners.read import read_failures

        if outcome.node.family == "tests":
            found = read_failures(outcome.node.runner, log)
            failures = [{"id": one.id, "file": one.file, "line": one.line, "message": one.message} for one in found]
        lines = list(tail(log))[-_TAIL:]
    return {
        "node": outcome.node.ref,
        "status": outcome.status,
        "reason": outcome.reason,
        "message": outcome.message,
        "failures": failures[:_TAIL],
        "tail": lines[-_TAIL:],
        "log": str(log) if log else None,
    }
