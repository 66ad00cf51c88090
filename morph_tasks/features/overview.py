"""The features of a repository from wherever their state is: this tree, the tree that owns one, or its branch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.features.store import ARCHIVE, FEATURES, list_features, read_view
from morph_tasks.features.view import FeatureView, unreadable, view_of
from morph_tasks.meanwhile import meanwhile
from morph_tasks.repo.trees import checked_out, feature_of, lost_trees, primary_root

if TYPE_CHECKING:
    from morph_tasks.features.onbranch import OnBranch
    from morph_tasks.repo.git import Repo

MISSING = "⚠ worktree missing"
_ELSEWHERE = "archived-elsewhere"


@dataclass(frozen=True)
class Overview:
    """`rows`: the features by name; `archived`: those of the archives, empty unless asked for.

    `tips`: the commits of the branches of features; None when git was not asked. `ended`: what lies archived in the
    living tree that has its branch; `finished`: what is archived on its branch, and has no such tree.
    """

    rows: tuple[FeatureView, ...]
    archived: tuple[FeatureView, ...]
    tips: dict[str, str] | None
    ended: tuple[FeatureView, ...] = ()
    finished: tuple[OnBranch, ...] = ()


def on_disk(repo: Repo, *, archived: bool) -> Overview:
    """Return what this tree holds on disk; git is not asked."""
    views = list_features(repo.root, archived=archived)
    main = primary_root(repo)
    here = _where(main, repo.root)
    rows = [replace(view, where=here) for view in views]
    marked = [_pointer_checked(view, main) if view.phase != "archived" else view for view in rows]
    return Overview(*_split(marked), None)


def everywhere(repo: Repo, *, archived: bool) -> Overview:
    """Return every feature as it is where it belongs.

    A living tree that has its branch is right; without one, the commit of the branch is, unless this tree has a newer
    record. The questions to git are as few for a thousand features as for one.
    """
    from morph_tasks.features.onbranch import feature_tips, not_merged, read_branches

    repo = repo.lightly()
    trees = checked_out(repo)
    main = primary_root(repo)
    living = _by_feature(trees)

    def on_branches() -> tuple[dict[str, str], dict[str, OnBranch]]:
        tips = feature_tips(repo)
        free = {slug: tip for slug, tip in tips.items() if slug not in living}
        return tips, read_branches(repo, not_merged(repo, free)) if free else {}

    asked = meanwhile(on_branches)
    rows, done = _split(list_features(repo.root, archived=archived, repo=repo, trees=trees))
    tips, held = asked()
    here = _where(main, repo.root)
    found = {view.slug: _placed(view, here, main) for view in rows}
    for slug, branch in held.items():
        merged = _with_branch(found.get(slug), branch, main)
        if merged:
            found[slug] = merged
    lost = {slug for slug in _by_feature(lost_trees(repo)) if slug not in living}
    checked = [view if slug in living else _checked(view, repo, main, lost) for slug, view in sorted(found.items())]
    finished = tuple(one for one in held.values() if one.record is None and one.archive is not None)
    ended = _ended(living, repo, main)
    if archived:
        known = {view.slug for view in (*done, *checked)}
        others = (*ended, *(_of_branch(one, main) for one in finished))
        done = (*(replace(view, where=here) for view in done), *(view for view in others if view.slug not in known))
    return Overview(tuple(checked), done, tips, ended, finished)


def _ended(living: Mapping[str, Sequence[Path]], repo: Repo, main: Path) -> tuple[FeatureView, ...]:
    """Return the features whose own tree has them in its archive, and no longer in work."""
    found = []
    for slug, (tree, *_) in sorted(living.items()):
        path = tree / ARCHIVE / slug
        if path.is_dir() and not (tree / FEATURES / slug).is_dir():
            there = None if os.path.realpath(tree) == os.path.realpath(repo.root) else str(tree)
            found.append(replace(read_view(path, archived=True), tree=there, where=_where(main, tree)))
    return tuple(found)


def _split(views: Sequence[FeatureView]) -> tuple[tuple[FeatureView, ...], tuple[FeatureView, ...]]:
    """Tell features from what lies in the archive: the archive is a folder, not a status."""
    name = Path(ARCHIVE).name
    rows = tuple(view for view in views if view.path.parent.name != name)
    return rows, tuple(view for view in views if view.path.parent.name == name)


def _by_feature(trees: Sequence[tuple[Path, str]]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for tree, branch in trees:
        if slug := feature_of(branch):
            found.setdefault(slug, []).append(tree)
    return found


def _placed(view: FeatureView, here: str, main: Path) -> FeatureView:
    """Say in which tree a feature is."""
    if not view.tree:
        return replace(view, where=here)
    tree, flags = Path(view.tree), view.flags
    if "not-in-owner-tree" in flags and (tree / ARCHIVE / view.slug).is_dir():
        flags = tuple(_ELSEWHERE if flag == "not-in-owner-tree" else flag for flag in flags)
    return replace(view, where=_where(main, tree), flags=flags)


def _where(main: Path, tree: Path) -> str:
    """Return `root`, or the linked tree by its way from the main one."""
    top, path = os.path.realpath(main), os.path.realpath(tree)
    if path == top:
        return "root"
    return f"worktree {os.path.relpath(path, top) if path.startswith(top + os.sep) else path}"


def _with_branch(view: FeatureView | None, held: OnBranch, main: Path) -> FeatureView | None:
    """Return the row of a feature that no living tree has; None when neither disk nor branch has one."""
    if held.record is None:
        if view and held.archive is not None:
            return replace(view, flags=(*view.flags, _ELSEWHERE))
        return view
    if view and view.data == held.record:
        return view
    there = row_of(held, main)
    if view is None or _is_newer(there, view):
        return there
    return view


def row_of(held: OnBranch, main: Path, *, archived: bool = False) -> FeatureView:
    """Return the row of a feature as its branch has it."""
    path = main / (ARCHIVE if archived else FEATURES) / held.slug
    record = held.archive if archived else held.record
    if record == "":
        view = unreadable(path, f"feature.json on {held.branch} is not JSON", archived=archived)
    else:
        view = view_of(path, record, archived=archived, folders=held.folders)
    return replace(view, source="branch", where=f"branch {held.branch}")


def _is_newer(there: FeatureView, here: FeatureView) -> bool:
    """Tell whether the branch's record is the one to show: a copy on disk is only when it was changed later."""
    if here.problem or there.problem:
        return not there.problem
    return (there.updated_at or "") >= (here.updated_at or "")


def _checked(view: FeatureView, repo: Repo, main: Path, lost: set[str]) -> FeatureView:
    """Add the flags about where a feature is that no living tree has."""
    if view.slug in lost:
        return replace(view, where=MISSING, flags=(*view.flags, "worktree-missing"))
    view = _pointer_checked(view, main)
    if view.source == "disk" and _ELSEWHERE not in view.flags and _is_archived(view.slug, repo, main):
        return replace(view, flags=(*view.flags, _ELSEWHERE))
    return view


def _is_archived(slug: str, repo: Repo, main: Path) -> bool:
    """Tell whether the copy in this tree is of a feature that was archived here, or in the main tree, already."""
    if os.path.isdir(repo.root / ARCHIVE / slug):
        return True
    linked = repo.git_dir != repo.common_dir
    return linked and os.path.isdir(main / ARCHIVE / slug) and not os.path.exists(main / FEATURES / slug)


def _pointer_checked(view: FeatureView, main: Path) -> FeatureView:
    """Flag a record that names a work tree whose folder is gone."""
    pointer = view.data.get("worktree")
    path = pointer.get("path") if isinstance(pointer, dict) else None
    if not isinstance(path, str) or not path or "\0" in path or os.path.isdir(os.path.join(main, path)):
        return view
    return replace(view, where=MISSING, flags=(*view.flags, "worktree-missing"))


def _of_branch(one: OnBranch, main: Path) -> FeatureView:
    row = row_of(one, main, archived=True)
    return replace(row, flags=(*row.flags, _ELSEWHERE))
