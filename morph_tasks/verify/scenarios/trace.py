"""The matrix of a plan: which tests carry which scenario, what would run them, and what is missing. Runs no test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.reach.model import Answer
from morph_tasks.verify.reach.standing import standing
from morph_tasks.verify.scenarios.carriers import Carrier, carriers
from morph_tasks.verify.scenarios.collect import TIMEOUT_S, Collection, clean, collect
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario, owed
from morph_tasks.verify.scenarios.proof import proof_kind
from morph_tasks.verify.scenarios.scan import scan

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.nodes import Node

NO_COLLECT = "not asked (--no-collect)"
_KINDS = {"test": "a test", "e2e": "a test of the running application", "eval": "an eval"}


@dataclass(frozen=True)
class Row:
    """One scenario. `state` is covered, gap, manual, or unknown (only a run tells); `gap` says what is missing."""

    id: str
    title: str
    proof: str
    line: int
    slices: tuple[str, ...]
    tests: tuple[Carrier, ...]
    state: str
    gap: str | None = None
    note: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "proof": self.proof,
            "line": self.line,
            "slices": list(self.slices),
            "state": self.state,
            "gap": self.gap,
            "note": self.note,
            "tests": [test.as_json() for test in self.tests],
        }


@dataclass(frozen=True)
class Stray:
    """A test with an id that counts for nothing here, and why."""

    id: str
    test: Carrier
    why: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        said = {"id": self.id, **self.test.as_json(), "why": self.why}
        return {**said, "fix": self.fix} if self.fix else said


@dataclass(frozen=True)
class Trace:
    """The whole matrix. `rows` None: the plan cannot be read, so what it owes is not known."""

    feature: str
    rows: tuple[Row, ...] | None
    unknown: tuple[Stray, ...] = ()
    ambiguous: tuple[Stray, ...] = ()
    others: tuple[Stray, ...] = ()
    unrun: tuple[Stray, ...] = ()
    problems: tuple[str, ...] = ()
    nodes: tuple[dict[str, Any], ...] = ()
    commit: str | None = None
    dirty: bool | None = None
    plan_hash: str | None = None
    changes: Answer = field(default_factory=Answer.without_scenarios)

    @property
    def gaps(self) -> tuple[Row, ...]:
        """Return the scenarios that are owed and have no test that could prove them."""
        return tuple(row for row in self.rows or () if row.gap)

    @property
    def settled(self) -> bool:
        """Tell whether the plan is known and every scenario that is owed has a test."""
        return self.rows is not None and not self.gaps

    def as_json(self) -> dict[str, Any]:
        """Return the document of `trace --json`."""
        return {
            "ok": True,
            "feature": self.feature,
            "commit": self.commit,
            "dirty": self.dirty,
            "planHash": self.plan_hash,
            "scenarios": None if self.rows is None else [row.as_json() for row in self.rows],
            "unknown": [one.as_json() for one in self.unknown],
            "ambiguous": [one.as_json() for one in self.ambiguous],
            "others": [one.as_json() for one in self.others],
            "unrun": [one.as_json() for one in self.unrun],
            "nodes": list(self.nodes),
            "problems": list(self.problems),
            "hunks": self.changes.hunks(),
            **self.changes.as_json(),
        }


def trace(repo: Repo, feature: str, *, collecting: bool = True, timeout_s: float = TIMEOUT_S) -> Trace:
    """Return the matrix of a feature of this tree.

    Raises Refusal `feature-not-found` (exit 2), `invalid-config`, `corrupt-file`, or ProcError when git cannot search.
    """
    from morph_tasks.features.store import read_feature
    from morph_tasks.model.load import load_config
    from morph_tasks.verify.nodes import resolve_nodes
    from morph_tasks.verify.scenarios.belonging import belonging

    read_feature(repo.root, feature)
    plan = owed(repo.root, feature)
    nodes = [node for node in resolve_nodes(repo.root, load_config(repo)) if _may_run_tests(node)]
    scanned = scan(repo)
    said = (
        collect(repo, feature, nodes, timeout_s=timeout_s)
        if collecting
        else tuple(Collection(node, why=NO_COLLECT) for node in nodes)
    )
    tests = carriers(repo.root, scanned.tests, said)
    found = assemble(feature, plan, tests, said, belonging(repo, feature, plan), known_features(repo.root))
    problems = (*found.problems, *scanned.problems, *(one.problem for one in said if one.problem))
    return replace(
        found,
        problems=tuple(clean(repo, one) for one in dict.fromkeys(problems)),
        nodes=tuple(_node_json(one) for one in said),
        commit=repo.head(),
        dirty=_dirty(repo),
        plan_hash=_plan_hash(repo.root, feature),
        changes=standing(repo, feature),
    )


def assemble(
    feature: str,
    plan: Owed,
    tests: Iterable[Carrier],
    said: Sequence[Collection],
    belongs: Callable[[str, str | None], str | None],
    features: frozenset[str],
) -> Trace:
    """Sort tests by whose scenarios they carry; `belongs` says why a bare id of a file is not this feature's."""
    known = {one.id for one in plan.scenarios}
    carrying: dict[str, list[Carrier]] = {name: [] for name in known}
    strays: dict[str, list[Stray]] = {"unknown": [], "ambiguous": [], "others": [], "unrun": []}
    for test in tests:
        for name in test.scenarios:
            owner, _, bare = name.rpartition(":")
            why = belongs(name, test.file) if not owner else None
            if owner not in ("", feature):
                kind = "others" if owner in features else "unknown"
                reason = f"it is one of {owner}" if owner in features else f"there is no feature {owner}"
                strays[kind].append(Stray(name, test, reason))
            elif plan.problem is not None:
                continue
            elif why is not None and bare in known:
                strays["ambiguous"].append(Stray(name, test, why, f"write {feature}:{bare} if it is meant"))
            elif why is not None:
                strays["others"].append(Stray(name, test, why.partition(",")[0]))
            elif bare not in known:
                reason = f"the plan of {feature} does not have it" if plan.planned else f"{feature} has no plan yet"
                strays["unknown"].append(Stray(name, test, reason))
            else:
                carrying[bare].append(test)
                if test.unrun:
                    strays["unrun"].append(Stray(name, test, test.unrun))
    problems, rows = _rows(feature, plan, carrying, strays["ambiguous"], said)
    return Trace(feature, rows, **{kind: tuple(found) for kind, found in strays.items()}, problems=problems)  # type: ignore[arg-type]


def _rows(
    feature: str,
    plan: Owed,
    carrying: dict[str, list[Carrier]],
    ambiguous: Sequence[Stray],
    said: Sequence[Collection],
) -> tuple[tuple[str, ...], tuple[Row, ...] | None]:
    if plan.problem is not None:
        why = f"scenarios are not verified: {plan.problem}; run `morph-spec plan-check {feature}`"
        return (why,), None
    doubtful = {one.id.rpartition(":")[2] for one in ambiguous}
    rows = tuple(_row(one, plan, carrying[one.id], one.id in doubtful, said) for one in plan.scenarios)
    return () if plan.planned else (f"{feature} has no plan yet: nothing is owed",), rows


def _row(one: OwedScenario, plan: Owed, tests: Sequence[Carrier], doubtful: bool, said: Sequence[Collection]) -> Row:
    slices = tuple(part.id for part in plan.slices if one.id in part.covers)
    row = Row(one.id, one.title, one.proof, one.line, slices, tuple(tests), "covered")
    if one.proof == "manual":
        return replace(row, state="manual", note="a person has to look")
    evals = [part.node.ref for part in said if part.node.runner == "evals" and part.node.invalid is None]
    if one.proof == "eval" and evals:
        return replace(row, state="unknown", note=f"{', '.join(evals)} names its scenarios only when it runs")
    gap = _gap(one, tests, doubtful)
    return replace(row, state="gap", gap=gap) if gap else row


def _gap(one: OwedScenario, tests: Sequence[Carrier], doubtful: bool) -> str | None:
    """Return why no test could prove a scenario; None when one could."""
    if not tests:
        return "no test carries it" + (", only ambiguous ids" if doubtful else "")
    running = [test for test in tests if not test.unrun]
    if not running:
        return f"no node runs what carries it: {tests[0].unrun}"
    fit = [test for test in running if not test.kinds or one.proof in test.kinds]
    if not fit:
        return f"only {running[0].node} carries it, and the plan asks for {_KINDS.get(one.proof, one.proof)}"
    if all(test.skipped for test in fit):
        return f"what carries it is skipped in the source ({fit[0].skipped})"
    return None


def known_features(root: Path) -> frozenset[str]:
    """Return the names of all features of a tree, active and archived."""
    return frozenset(
        path.name
        for place in ("features", "archive")
        if (root / ".morph" / place).is_dir()
        for path in (root / ".morph" / place).iterdir()
        if path.is_dir()
    )


def _may_run_tests(node: Node) -> bool:
    return node.family == "tests" or (node.family == "e2e" and bool(node.command))


def _node_json(one: Collection) -> dict[str, Any]:
    return {
        "node": one.node.ref,
        "runner": one.node.runner,
        "kind": proof_kind(one.node),
        "collected": one.asked,
        "complete": one.complete if one.asked else None,
        "tests": len(one.tests) if one.tests is not None else None,
        "why": one.why or one.node.skip,
    }


def _dirty(repo: Repo) -> bool | None:
    from morph_tasks.errors import Refusal

    try:
        return bool(repo.git("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"))
    except Refusal:
        return None


def _plan_hash(root: Path, feature: str) -> str | None:
    from morph_tasks.errors import Refusal
    from morph_tasks.plan.hashing import plan_hash
    from morph_tasks.plan.service import read_plan

    try:
        return plan_hash(read_plan(root, feature))
    except Refusal:
        return None
