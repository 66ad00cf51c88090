"""One verify of one feature in one tree: what it looks at, and where it keeps what it finds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.model.load import Config, load_config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.verify.evidence import Record, Store, read_view
from morph_tasks.verify.facts import Facts, Observer
from morph_tasks.verify.judge import Outcome, judge, settles, skipped
from morph_tasks.verify.narrowing.model import Selection
from morph_tasks.verify.nodes import Node, resolve_nodes
from morph_tasks.verify.progress import Progress, Silent
from morph_tasks.verify.request import Request

if TYPE_CHECKING:
    from morph_tasks.machine.heavy.one import OneSlot
    from morph_tasks.machine.pools import Pools
    from morph_tasks.verify.narrowing.slices import SliceFiles


@dataclass
class Run:
    """The parts of a verify that every node shares."""

    repo: Repo
    feature: str
    request: Request
    run_id: str
    quiet: bool = False
    progress: Progress = field(default_factory=Silent)
    config: Config = field(default=None)  # type: ignore[assignment]
    nodes: tuple[Node, ...] = ()
    slice_files: SliceFiles | None = None

    def __post_init__(self) -> None:
        self.repo = self.repo.lightly()
        if self.config is None:
            self.config = load_config(self.repo)
            self.nodes = resolve_nodes(self.repo.root, self.config)
        if self.request.linux:
            from morph_tasks.verify.linux.nodes import contained

            self.nodes = contained(self.nodes, self.request.linux_image)
        if self.request.slice:
            self._narrow(self.request.slice)

    def _narrow(self, slice_id: str) -> None:
        """Leave of the nodes what a slice needs; raises Refusal `slice-not-found`, `plan-missing` (exit 2), …"""
        from morph_tasks.verify.narrowing.choose import select
        from morph_tasks.verify.narrowing.slices import slice_files

        self.slice_files = slice_files(self.repo, self.feature, slice_id)
        chosen = self.request.chooses if self.request.filter else None
        found = select(self.repo.root, self.nodes, self.slice_files, full=self.request.full, chosen=chosen)
        self.nodes = tuple(_narrowed(node, found.get(node.ref), slice_id) for node in self.nodes)

    def reload(self) -> None:
        """Read the configuration again after a baseline was written into it."""
        self.config = None  # type: ignore[assignment]
        self.__post_init__()

    def for_feature(self, feature: str, request: Request) -> Run:
        """Return a run of another feature of the same tree, without looking at the tree again."""
        return Run(self.repo, feature, request, new_run_id(), config=self.config, nodes=self.nodes)

    @cached_property
    def observer(self) -> Observer:
        return Observer(self.repo, self.config, [node for node in self.nodes if node.runs], self.feature)

    @cached_property
    def store(self) -> Store:
        return Store(self.repo.store)

    @cached_property
    def pools(self) -> Pools:
        from morph_tasks.machine.pools import Pools

        widths = self.config.project.get("pools") or {}
        return Pools(self.repo.tree_state / "pools", self.request.jobs, widths)

    @cached_property
    def slot(self) -> OneSlot:
        """Return the slot for heavy jobs of this run, taken when it is first called."""
        from morph_tasks.verify.heavy import slot_for

        return slot_for(self.config, self.feature, self.run_id)

    @property
    def measured(self) -> list[Node]:
        """Return the nodes that this run looks at."""
        return [node for node in self.nodes if self.request.left_out(node) is None]

    def node(self, ref: str) -> Node:
        """Return a node by its name; raises Refusal `node-not-found` (exit 2)."""
        for node in self.nodes:
            if node.ref == ref:
                return node
        raise Refusal(
            "node-not-found", f"there is no node {ref}", fix=f"morph-spec explain {self.feature}", exit_code=2
        )

    def view(self, node: Node) -> Record | None:
        return read_view(self.repo.root, self.feature, node)

    def facts(self, node: Node) -> Facts:
        """Return the facts of a node as the tree is now."""
        return self.observer.facts(node, {ref: self._output(ref) for ref in node.needs})

    def proof(self, node: Node, key: str) -> Record | None:
        """Return the newest record of a key when it still is a proof; None when it is not."""
        record = self.store.newest(node.ref, key)
        if record is None or not settles(node, record):
            return None
        if node.outputs and record.get("output") != self.observer.output_digest(node, "pass", record["manifest"]):
            return None
        return record

    def outcomes(self) -> list[Outcome]:
        """Return what every node came to, from the views of this tree and from the request."""
        return [self._outcome(node) for node in self.nodes]

    def last_outcomes(self) -> list[Outcome]:
        """Return what the last measurement of every node came to, whether or not it is of this code."""
        views = [(node, self.view(node)) for node in self.nodes]
        return [judge(node, view, reused=True) for node, view in views if view is not None]

    def _outcome(self, node: Node) -> Outcome:
        left_out = self.request.left_out(node)
        if left_out:
            return skipped(node, left_out)
        view = self.view(node)
        if view is None:
            return Outcome(node, "fail", "no-evidence", "nothing was measured", node.warnings)
        outcome = judge(node, view, reused=view.get("runId") != self.run_id)
        if node.runs and outcome.status != "fail" and self.facts(node).key != view.get("key"):
            said = "its inputs changed after it was measured: verify again"
            return Outcome(node, "fail", "inputs-changed", said, outcome.warnings, view)
        return outcome

    def _output(self, ref: str) -> str:
        """Return what a build hands on: by its view when the run has come that far, else by what is proved of it."""
        node = self.node(ref)
        record = self.view(node)
        key = self.facts(node).key if node.runs else None
        if key and (record is None or record.get("key") != key):
            record = self.proof(node, key) or record
        return str((record or {}).get("output") or "")


def check_filter(run: Run) -> None:
    """Refuse a `--filter` that matches no node or is given in vain, before anything is measured (exit 2)."""
    tests = [node for node in run.nodes if node.family == "tests"]
    if run.request.filter and run.request.skip_tests:
        what = "--filter chooses test nodes and --skip-tests leaves them all out"
        raise Refusal("options-exclude", what, fix="give one of the two", exit_code=2)
    if run.request.filter and not any(run.request.chooses(node) for node in tests):
        raise Refusal(
            "filter-matches-nothing",
            f"--filter {','.join(run.request.filter)} matches no test node",
            fix=f"the test nodes are: {', '.join(node.id for node in tests)}",
            exit_code=2,
        )


def check_options(asked: Request) -> None:
    """Refuse options that say nothing together (exit 2)."""
    if asked.fresh_e2e and asked.skip_e2e:
        what = "--fresh-e2e brings the application up anew and --skip-e2e leaves it out"
        raise Refusal("options-exclude", what, fix="give one of the two", exit_code=2)
    if asked.linux and asked.skip_tests:
        what = "--linux runs the suites in containers and --skip-tests leaves them all out"
        raise Refusal("options-exclude", what, fix="give one of the two", exit_code=2)
    if asked.linux_image and not asked.linux:
        what = "--linux-image names the image of --linux, which was not given"
        raise Refusal("options-exclude", what, fix=f"--linux --linux-image {asked.linux_image}", exit_code=2)


def check_refresh(run: Run, asked: Request) -> None:
    """Refuse a `--refresh-cache` that would refresh nothing (exit 2)."""
    if not asked.refresh_cache:
        return
    for option, given in {"--skip-tests": asked.skip_tests, "a slice": bool(asked.slice)}.items():
        if given:
            what = f"--refresh-cache asks the evals nodes again and {option} leaves them out"
            raise Refusal("options-exclude", what, fix="give one of the two", exit_code=2)
    chosen = [node for node in run.nodes if node.runner == "evals" and (not asked.filter or asked.chooses(node))]
    if not chosen:
        what = "--refresh-cache refreshes nothing: this run has no node of runner evals"
        raise Refusal("refresh-matches-nothing", what, fix="leave --refresh-cache out", exit_code=2)


def _narrowed(node: Node, selection: Selection | None, slice_id: str) -> Node:
    """Return a node as a slice measures it. A part of a suite has no baseline, and a view of its own."""
    if selection is None or selection.mode != "narrowed":
        return replace(node, selection=selection)
    return replace(node, command=selection.command, expected_count=None, scope=f"slice:{slice_id}", selection=selection)


_runs: dict[tuple[str, str, str, int], Run] = {}


def current_run(root: str, feature: str, values: dict[str, object], run_id: str) -> Run:
    """Return the run of an action: one in each process."""
    name = (root, feature, run_id, os.getpid())
    if name not in _runs:
        _runs[name] = Run(open_repo(Path(root)), feature, Request.of(values), run_id)
    return _runs[name]


def adopt(run: Run) -> None:
    """Let the actions of this process share a run that exists."""
    _runs[str(run.repo.root), run.feature, run.run_id, os.getpid()] = run


def new_run_id() -> str:
    """Return a name for a run that no other run has."""
    return f"{os.getpid():x}-{os.urandom(8).hex()}"


def refs(nodes: Sequence[Node]) -> list[str]:
    """Return the names of nodes."""
    return [node.ref for node in nodes]
