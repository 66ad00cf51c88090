"""What keeps a feature from being archived, merged or taken down; each with the command that gets the user out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.ignores import DERIVED, IGNORES, is_ours
from morph_tasks.features.store import ARCHIVE, FEATURES, read_feature
from morph_tasks.features.view import approved
from morph_tasks.fleet.finish.place import shown

if TYPE_CHECKING:
    from morph_tasks.fleet.finish.place import Place
    from morph_tasks.fleet.finish.rehearsal import Rehearsal
    from morph_tasks.fleet.finish.wish import Wish
    from morph_tasks.fleet.look import Look
    from morph_tasks.repo.git import Repo

_SPARE = 1 << 20  # bytes that journal and manifests may take


def refuse_feature(place: Place, wish: Wish, tree: Repo) -> None:
    """Refuse where the feature cannot be archived.

    Raises Refusal `review-not-approved`, `archive-exists`, `archive-ignored`, `operation-in-progress`, `index-locked`
    (3), and what reading it refuses.
    """
    from morph_tasks.fleet import obstacles

    source, target = (tree.root / top / place.slug for top in (FEATURES, ARCHIVE))
    half = not source.exists() and (target / "feature.json").exists()
    if not half:
        data = read_feature(tree.root, place.slug)
        if os.path.lexists(target):
            what = f"{ARCHIVE}/{place.slug} exists already in {tree.root}"
            raise Refusal("archive-exists", what, fix=f"mv {shown(target)} <another name>", feature=place.slug)
        if not approved(data, "review") and not wish.force:
            what = f"the review gate of {place.slug!r} is not approved"
            forced = replace(wish, force=True).command(place.slug)
            fix = f"cd {shown(tree.root)} && morph-spec approve {place.slug} review, or {forced}"
            raise Refusal("review-not-approved", what, fix=fix, feature=place.slug, gate="review")
    obstacles.refuse_under_way(tree.git_dir, tree.root)
    if tree.run("check-ignore", "-q", "--", f"{ARCHIVE}/{place.slug}/feature.json", ok=range(256)).code == 0:
        what = f"git ignores {ARCHIVE}/{place.slug}, so the archive could not travel with {place.branch}"
        fix = f"take the line out of the ignore file: git -C {shown(tree.root)} check-ignore -v {ARCHIVE}/{place.slug}"
        raise Refusal("archive-ignored", what, fix=fix, feature=place.slug)


def refuse_tree(place: Place, wish: Wish, tree: Repo, *, goes: bool, own: Collection[str]) -> tuple[Look, bool]:
    """Refuse a tree with work that is not committed, or one that cannot be taken down; return the look at it.

    `goes`: the tree is to be removed; `own`: paths that the finish commits itself. Also tells whether the file that
    ignores derived files has to go into the commit. Raises Refusal `worktree-dirty`, `cwd-inside-worktree`, ...
    """
    from morph_tasks.fleet import obstacles
    from morph_tasks.fleet.look import look

    if goes:
        if place.inside and not wish.dry_run:
            _refuse_inside(place, wish)
        obstacles.refuse_locked(tree.git_dir, tree.root)
    obstacles.refuse_under_way(tree.git_dir, tree.root)
    seen = look(tree.root, tree.git_dir)
    from morph_tasks.fleet.codegraph import derived_graph

    mine = [*_own(tree, own), *derived_graph(tree.root, seen.dirty)]
    left, derived = [], False
    for path in seen.dirty:
        if _is_derived(tree, path):
            derived = True
        elif not any(path == one or path.startswith(f"{one}/") or f"{one}/".startswith(path) for one in mine):
            left.append(path)
    obstacles.refuse_dirty(replace(seen, dirty=tuple(left)), tree.root)
    if goes:
        obstacles.refuse_mounts(tree.root)
        obstacles.refuse_trees_inside(place.primary, tree.root)
        obstacles.refuse_submodules(place.primary, tree.root, tree.git_dir, seen)
    return seen, derived


def refuse_merge(place: Place, wish: Wish, tried: Rehearsal, *, stays: bool) -> None:
    """Refuse a merge that conflicts, or that the tree with the default branch cannot take.

    `stays`: the main tree stays on the feature's branch. Raises Refusal `merge-conflict`, `feature-in-default`,
    `would-overwrite`, `operation-in-progress`, `index-locked` (3).
    """
    if tried.merge is None:
        refuse_conflict(place, wish, tried.conflicts)
    if tried.left:
        _refuse_left(place, wish)
    if place.home is not None:
        from morph_tasks.repo.moving import refuse_move

        fix = f"commit them in {place.home.root}, or move them out of the way"
        refuse_move(tried.beside(place.home), str(place.default_tip), str(tried.merge), fix=fix)
    elif place.tree is not None and not place.linked and not stays:
        from morph_tasks.repo.overwrite import in_the_way

        paths = in_the_way(tried.beside(place.tree), tried.archive, str(tried.merge))
        if paths:
            what = f"moving {place.tree.root} to {place.default} would overwrite local files: {_named(paths)}"
            raise Refusal("would-overwrite", what, fix="move them out of the way", paths=paths)


def refuse_conflict(place: Place, wish: Wish, conflicts: Iterable[str]) -> None:
    """Raise Refusal `merge-conflict` that names the paths."""
    paths = list(conflicts)
    where = shown(place.tree.root) if place.tree else "<a work tree of the branch>"
    raise Refusal(
        "merge-conflict",
        f"{place.branch} and {place.default} conflict in {_named(paths)}",
        fix=f"git -C {where} merge {place.default}, resolve and commit there, then {wish.command(place.slug)}",
        paths=paths,
        feature=place.slug,
    )


def _refuse_left(place: Place, wish: Wish) -> None:
    """Refuse a merge after which the feature would be archived and live on, such as after a squash merge by hand."""
    where = shown(place.tree.root) if place.tree else "<a work tree of the branch>"
    bring = f"git -C {where} merge {place.default}"
    if place.archived:
        folder = f"{FEATURES}/{place.slug}"
        bring += f" && git -C {where} rm -r {folder} && git -C {where} commit -m 'Remove {folder}'"
    raise Refusal(
        "feature-in-default",
        f"{place.default} has a copy of {FEATURES}/{place.slug} that it did not get by merging {place.branch}, so the "
        "merge would archive the feature and keep it as well",
        fix=f"{bring}, then {wish.command(place.slug)}",
        feature=place.slug,
    )


def refuse_backup(place: Place, tree: Repo | None) -> None:
    """Raise Refusal `backup-failed` where copies could not be written: no right to, or no room."""
    store = place.primary.store
    there = next(path for path in (store / "finish-backup", store, store.parent) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        what = f"backups could not be written: {there} is not writable"
        raise Refusal("backup-failed", what, fix=f"chmod u+rwx {shown(there)}", backup=str(there))
    need = _SPARE + (_size(tree.root / FEATURES / place.slug) if tree else 0)
    free = shutil.disk_usage(there).free
    if free < need:
        what = f"backups need {need >> 20} MiB in {there}, and {free >> 20} MiB are free"
        raise Refusal("backup-failed", what, fix=f"make room in {there}", backup=str(there))


def _refuse_inside(place: Place, wish: Wish) -> None:
    tree = place.tree.root if place.tree else ""
    # A bare repository has no main tree.
    where = "<another work tree>" if place.primary.root == tree else shown(place.primary.root)
    raise Refusal(
        "cwd-inside-worktree",
        f"the current folder is in {tree}, which would be gone",
        fix=f"cd {where} && {wish.command(place.slug)}",
        worktree=str(tree),
    )


def _own(tree: Repo, own: Collection[str]) -> list[str]:
    return [*own, IGNORES] if is_ours(tree.root / IGNORES) else [*own]


def _is_derived(tree: Repo, path: str) -> bool:
    """Tell a file that this tool makes again, or the list that keeps such files out of git."""
    if path == IGNORES:
        return is_ours(tree.root / path)
    return any(path == f".morph/{one}" or path.startswith(f".morph/{one.rstrip('/')}/") for one in DERIVED)


def _size(folder: Path) -> int:
    return sum(os.lstat(os.path.join(parent, name)).st_size for parent, _, names in os.walk(folder) for name in names)


def _named(paths: list[str]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
