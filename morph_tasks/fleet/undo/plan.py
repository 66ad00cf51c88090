"""All that can stand against an undo, asked before anything changes; a step that an earlier run has done is settled."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.triage import File
from morph_tasks.fleet.undo.obstacles import (
    again,
    refuse_branch,
    refuse_default,
    refuse_ports,
    refuse_pushed,
    refuse_tree,
    some,
)
from morph_tasks.fleet.undo.past import GONE, KEPT, MAIN, Past
from morph_tasks.fleet.undo.record import Record
from morph_tasks.fleet.undo.sources import Source, read_source, same_file
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.trees import same_place

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Plan:
    """What an undo is going to do. `home`: the main tree, from which git is asked.

    `default_tree`: the tree that has the default branch checked out; `default_moved`: somebody took the merge off it
    already; `left_out`: what is not to be had, {path, why}.
    """

    past: Past
    record: Record
    home: Repo
    default_tree: Path | None
    default_moved: bool
    feature: Source
    ignored: Source
    shed: Source
    replicated: tuple[File, ...] = ()
    left_out: tuple[dict[str, str], ...] = ()


def make_plan(repo: Repo, past: Past, record: Record, *, without_ignored: bool) -> Plan:
    """Compute an undo and raise the first refusal that stands against it; changes nothing.

    Codes: `repository-moved`, `already-pushed`, `default-moved`, `merge-in-use`, `branch-exists`, `branch-gone`,
    `path-taken`, `worktree-gone`, `main-tree-elsewhere`, `default-checked-out-twice`, `feature-exists`, `ports-taken`,
    `backup-incomplete`, `ignored-discarded`, `replicated-changed`, and what moving a tree refuses.
    """
    home = _home(repo, past)
    refuse_pushed(home, past)
    default_tree = refuse_default(home, past, record)
    refuse_branch(home, past, record)
    refuse_tree(home, past, record)
    refuse_ports(home, past, record)
    feature, ignored = read_source(past.archive.get("backup")), _ignored_source(past)
    shed = read_source(past.teardown.get("shedBackup"))
    replicated, changed = _replicated(past, record)
    _refuse_feature(past, record, shed)
    left_out = [*feature.problems, *ignored.problems, *shed.problems, *changed, *_discarded(past)]
    if past.kind == GONE and not record.is_done("files") and not without_ignored:
        _refuse_discarded(past)
    if not without_ignored:
        _refuse_incomplete(past, feature, ignored, shed)
        _refuse_changed(past, changed)
    ignored, replicated, inside = _without_submodules(past, ignored, replicated)
    left_out += inside
    moved = not past.by_pull and home.tip(past.default) == past.before and not record.was_begun("default")
    return Plan(past, record, home, default_tree, moved, feature, ignored, shed, replicated, tuple(left_out))


def _home(repo: Repo, past: Past) -> Repo:
    """Return the main tree; the journal names places, and they hold for a repository that is still where it was."""
    try:
        home = open_repo(past.primary)
    except Refusal:
        home = None
    if home is None or not same_place(home.common_dir, repo.common_dir):
        what = f"the finish of {past.feature!r} was run in {past.primary}, and the repository is not there any more"
        raise Refusal("repository-moved", what, fix=f"move it back to {past.primary}", primary=str(past.primary))
    return home


def _refuse_feature(past: Past, record: Record, shed: Source) -> None:
    """Refuse where somebody has begun the feature anew, in the main tree or in the one that is still there."""
    places = []
    if past.kind in (KEPT, MAIN) and not record.was_begun("branch") and not record.was_begun("default"):
        places.append((past.tree or past.primary) / past.folder)
    if past.kind == GONE and not record.was_begun("root"):
        places.append(past.primary / past.folder)
    expected = {past.primary / file.path for file in shed.files}
    for place in places:
        if os.path.lexists(place) and not (set(_files(place)) <= expected):
            what = f"the feature {past.feature!r} was begun anew: {place} is there"
            raise Refusal("feature-exists", what, fix=f"morph-spec delete {past.feature}", path=str(place))
    taken = [str(path) for path in _shed_taken(past, shed)] if not record.is_done("root") else []
    if taken:
        what = f"{taken[0]} is there again with other content"
        raise Refusal("feature-exists", what, fix=f"move {taken[0]} away, then undo again", paths=taken)


def _shed_taken(past: Past, shed: Source) -> Iterator[Path]:
    for file in shed.files:
        place = past.primary / file.path
        if os.path.lexists(place) and not same_file(place, file):
            yield place


def _files(place: Path) -> list[Path]:
    if os.path.islink(place) or not place.is_dir():
        return [place]
    return [Path(parent, name) for parent, _, names in os.walk(place) for name in names]


def _ignored_source(past: Past) -> Source:
    if past.kind != GONE:
        return Source()
    wanted = [entry for entry in past.removal.get("exclusive", ()) if not past.is_archived(entry["path"])]
    if (past.plan.get("options") or {}).get("discardIgnored"):
        wanted = []
    return read_source(past.teardown.get("ignoredBackup"), wanted)


def _replicated(past: Past, record: Record) -> tuple[tuple[File, ...], list[dict[str, str]]]:
    """Return the files of which the main tree still has what the removed tree had, and those of which it has not."""
    if past.kind != GONE or record.is_done("files"):
        return (), []
    assert past.tree
    found, changed = [], []
    for entry in past.removal.get("replicatedInRoot", ()):
        file = File(entry["path"], entry["sha256"], int(entry["mode"]), int(entry.get("size") or 0))
        if same_file(past.primary / file.path, file) or same_file(past.tree / file.path, file):
            found.append(file)
        else:
            changed.append({"path": file.path, "why": "the main tree has other content now"})
    return tuple(found), changed


def _without_submodules(
    past: Past, ignored: Source, replicated: tuple[File, ...]
) -> tuple[Source, tuple[File, ...], list[dict[str, str]]]:
    """Leave out what lies in submodules that are not checked out, and say where it is."""
    told = []
    for files, where in ((ignored.files, ignored.place), (replicated, past.primary)):
        why = f"its submodule is not checked out; it is still in: {where}"
        told += [{"path": file.path, "why": why} for file in files if past.submodule_of(file.path)]
    out = {one["path"] for one in told}
    kept = replace(ignored, files=tuple(file for file in ignored.files if file.path not in out))
    return kept, tuple(file for file in replicated if file.path not in out), told


def _discarded(past: Past) -> list[dict[str, str]]:
    if past.kind != GONE or not (past.plan.get("options") or {}).get("discardIgnored"):
        return []
    why = "the finish was told to discard it"
    return [{"path": entry["path"], "why": why} for entry in past.removal.get("exclusive", ())]


def _refuse_discarded(past: Past) -> None:
    gone = [entry["path"] for entry in _discarded(past)]
    if gone:
        what = f"the finish discarded ignored files, as it was told: {some(gone)}"
        raise Refusal("ignored-discarded", what, fix=again(past, "--without-ignored"), discarded=gone)


def _refuse_incomplete(past: Past, *sources: Source) -> None:
    missing: list[dict[str, Any]] = [problem for source in sources for problem in source.problems]
    if missing:
        named = some([f"{one['path']} ({one['why']})" for one in missing])
        what = f"the backups of this finish do not hold everything any more: {named}"
        raise Refusal("backup-incomplete", what, fix=again(past, "--without-ignored"), missing=missing)


def _refuse_changed(past: Past, changed: Sequence[dict[str, str]]) -> None:
    if changed:
        named = some([one["path"] for one in changed])
        what = f"the work tree had the same ignored files as the main tree, where they were changed since: {named}"
        raise Refusal("replicated-changed", what, fix=again(past, "--without-ignored"), missing=list(changed))
