"""Is a plan older than what was merged into its surroundings? Its files, what depends on them, what they depend on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.reach import Near, Step
from morph_tasks.codegraph.reading import Graph, graph_of
from morph_tasks.errors import Refusal
from morph_tasks.plan.base import Base, base_in, default_tips

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.codegraph.landed import Arrival
    from morph_tasks.plan.files import PlannedFiles
    from morph_tasks.repo.git import Repo

CURRENT, STALE, UNKNOWN = "current", "stale-by-merge", "not-verified"
PLANNED = "planned"
_HOW = (PLANNED, "dependent", "dependency")


@dataclass(frozen=True)
class Touched:
    """A file that a commit changed. `how`: the plan names it, or it depends on `planned`, or that depends on it."""

    file: str
    how: str
    planned: str
    slices: tuple[str, ...]
    path: tuple[Step, ...] = ()

    def as_json(self) -> dict[str, Any]:
        keys = {"file": self.file, "how": self.how, "planned": self.planned, "slices": list(self.slices)}
        return {**keys, "path": [step.as_json() for step in self.path]}


@dataclass(frozen=True)
class Landed:
    """A commit of the default branch that touches the plan; `held`: this tree has it."""

    commit: str
    subject: str
    feature: str | None
    merge: bool
    held: bool
    touched: tuple[Touched, ...]

    def as_json(self) -> dict[str, Any]:
        keys = {"commit": self.commit, "subject": self.subject, "feature": self.feature}
        return {**keys, "merge": self.merge, "held": self.held, "touched": [one.as_json() for one in self.touched]}


@dataclass(frozen=True)
class Outdated:
    """The answer: `current`, `stale-by-merge`, or `not-verified` with the reason."""

    state: str
    reason: str = ""
    bases: tuple[Base, ...] = ()
    landed: tuple[Landed, ...] = ()
    graph: Graph | None = None

    @property
    def stale(self) -> bool | None:
        return {CURRENT: False, STALE: True}.get(self.state)

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "reason": self.reason or None,
            "bases": [one.as_json() for one in self.bases],
            "landed": [one.as_json() for one in self.landed],
            "graph": self.graph.as_json() if self.graph else None,
        }


def of_feature(repo: Repo, feature: str) -> Outdated:
    """Return the answer for the plan of a feature as it is in this tree; never raises for what is on disk."""
    from morph_tasks.plan.files import planned_files
    from morph_tasks.plan.service import read_checks, read_plan

    try:
        checks = read_checks(repo.root, feature)
        files = planned_files(read_plan(repo.root, feature), checks)
    except Refusal as refusal:
        return Outdated(UNKNOWN, refusal.what)
    return outdated(repo, feature, files, recorded_bases(repo.root, feature, checks))


def recorded_bases(root: Path, feature: str, checks: Any) -> tuple[Base, ...]:
    """Return what the plan was written down against, and what its approval was given against."""
    from morph_tasks.plan.service import approval_of

    plan = checks.get("plan") if isinstance(checks, dict) else None
    plan = plan if isinstance(plan, dict) else {}
    gate = approval_of(root, feature)
    found = [base_in(plan.get("base"))]
    if gate.get("planHash") is not None and gate.get("planHash") == plan.get("hash"):
        found.append(base_in(gate.get("planBase")))
    return tuple(dict.fromkeys(one for one in found if one))


def outdated(repo: Repo, feature: str, files: PlannedFiles, bases: Sequence[Base]) -> Outdated:
    """Tell whether anything landed since the bases that touches the plan; raises ProcError."""
    from morph_tasks.codegraph.landed import anything_new, how_many

    repo = repo.lightly()
    if not bases:
        return Outdated(UNKNOWN, "it is not known against which commit the plan was written")
    try:
        branch, named = default_tips(repo)
        tips, known = sorted(set(named.values())), sorted({commit for base in bases for commit in base.commits})
        if not anything_new(repo, known, tips):
            return Outdated(CURRENT, bases=tuple(bases))
    except Refusal as refusal:
        return Outdated(UNKNOWN, refusal.what, tuple(bases))
    own = repo.branch() == branch
    around, graph = _around(repo, files)
    landed = _landed(repo, feature, own, (known, tips), (files, around))
    if landed:
        return Outdated(STALE, "", tuple(bases), landed, graph)
    younger = _younger(repo, graph, known, tips) if graph.known and not own else []
    if younger:
        what = (
            f"the graph is older than what came into {branch} ({', '.join(younger[:3])}{' …' if younger[3:] else ''})"
        )
        what += ", so whether that depends on the plan is not known: morph-spec graph refresh in the main tree"
        return Outdated(UNKNOWN, what, tuple(bases), (), graph)
    came = 0 if graph.known else how_many(repo, known, tips, merges=own)
    if not came:
        return Outdated(CURRENT, "", tuple(bases), (), graph)
    commits = f"{came} commit{'' if came == 1 else 's'} came into {branch} and touched"
    what = f"{commits} no file of the plan; whether anything around them is not known: {graph.reason}"
    return Outdated(UNKNOWN, what, tuple(bases), (), graph)


def _younger(repo: Repo, graph: Graph, bases: Sequence[str], tips: Sequence[str]) -> list[str]:
    """Return the source files that came after the commit of the graph, or after the bases where that is not known."""
    from morph_tasks.codegraph.spans import language_of

    starts = [graph.built_at] if graph.built_at and graph.built_at.isalnum() else []
    found: set[str] = set()
    for tip in tips:
        new = [_added(repo, start, tip) for start in starts]
        new = new if new and None not in new else [_added(repo, start, tip) for start in bases]
        found |= frozenset.intersection(*(one or frozenset() for one in new))
    return sorted(path for path in found if language_of(path))


def _added(repo: Repo, start: str, tip: str) -> frozenset[str] | None:
    """Return the files that a commit has and an earlier one has not; None when that is not here."""
    options = ("--name-only", "-z", "--no-renames", "--diff-filter=A", "--no-ext-diff")
    done = repo.run("diff", *options, start, tip, "--", ok=range(256))
    return None if done.code else frozenset(os.fsdecode(path) for path in done.stdout.split(b"\0") if path)


def _around(repo: Repo, files: PlannedFiles) -> tuple[dict[str, Near], Graph]:
    """Return the neighbours of the plan's files in the graph, those that depend on them first."""
    from morph_tasks.codegraph.reach import near

    with graph_of(repo) as (index, graph):
        if index is None:
            return {}, graph
        found, unknown = near(index, files.files)
    around: dict[str, Near] = {}
    for one in sorted(found, key=lambda one: (_HOW.index(one.how), one.planned)):
        around.setdefault(one.file, one)
    return around, graph.without(unknown)


def _landed(
    repo: Repo,
    feature: str,
    own: bool,
    span: tuple[Sequence[str], Sequence[str]],
    where: tuple[PlannedFiles, Mapping[str, Near]],
) -> tuple[Landed, ...]:
    """Return the commits that touch the plan.

    `own`: the tree is on the default branch, so that a commit there may be the feature's own.
    """
    from morph_tasks.codegraph.landed import arrivals, not_held

    planned = where[0].files
    found = arrivals(repo, *span, [*planned, *where[1]])
    found = [one for one in found if one.feature != feature and (not own or one.merge or one.feature)]
    touching = [(one, hits) for one in found if (hits := _touched(one, planned, where[1]))]
    missing = not_held(repo, *span) if touching else frozenset()
    return tuple(
        Landed(one.commit, one.subject, one.feature, one.merge, one.commit not in missing, hits)
        for one, hits in touching
    )


def _touched(one: Arrival, planned: Mapping[str, tuple[str, ...]], around: Mapping[str, Near]) -> tuple[Touched, ...]:
    found = []
    for path in one.files:
        mine = next((name for name in _with_folders(path) if name in planned), None)
        if mine is not None:
            found.append(Touched(path, PLANNED, mine, planned[mine]))
        elif path in around:
            by = around[path]
            found.append(Touched(path, by.how, by.planned, planned.get(by.planned, ()), by.path))
    return tuple(sorted(found, key=lambda hit: (_HOW.index(hit.how), hit.file)))


def _with_folders(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
