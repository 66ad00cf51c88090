"""Where a feature is that a tree does not have, and the one command that leads on. Asked only when it was missed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.repo.trees import BRANCH_PREFIX, checked_out, feature_branch, live_owners, primary_root

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# As in `store`, which asks this module.
FEATURES, ARCHIVE = ".morph/features", ".morph/archive"


def holds(repo: Repo, commit: str, slug: str) -> str | None:
    """Return where a commit has a feature: `.morph/features`, else `.morph/archive`; None when it has none."""
    paths = {f"{top}/{slug}/feature.json": top for top in (FEATURES, ARCHIVE)}
    listed = repo.git("ls-tree", "-z", "--name-only", "--full-tree", commit, *paths)
    found = {paths.get(os.fsdecode(name)) for name in listed.split(b"\0") if name}
    return next((top for top in (FEATURES, ARCHIVE) if top in found), None)


def branch_holds(repo: Repo, slug: str) -> str | None:
    """Return what `holds` does for the local branch of a feature; None without one, too."""
    tip = repo.tip(feature_branch(slug))
    return holds(repo, tip, slug) if tip else None


def switched_tree(repo: Repo, slug: str) -> Path | None:
    """Return the living tree at the place of a feature's tree that is not on its branch; None when there is none."""
    from morph_tasks.fleet.layout import tree_path
    from morph_tasks.fleet.removal import lenient_config

    if not repo.branch_exists(feature_branch(slug)) or live_owners(repo, feature_branch(slug)):
        return None
    wanted = os.path.realpath(tree_path(repo, lenient_config(repo), slug))
    found = (tree.path for tree in repo.worktrees()[1:] if os.path.realpath(tree.path) == wanted)
    return next((path for path in found if (path / ".git").is_file()), None)


def switch_back(tree: Path, slug: str) -> tuple[str, str]:
    """Return that a feature's tree is on something else, and the command that brings it back."""
    branch = feature_branch(slug)
    what = f"the work tree of feature {slug!r}, {tree}, is not on {branch}"
    return what, f"git -C {shlex.quote(str(tree))} switch {shlex.quote(branch)}"


def missed(repo: Repo, slug: str) -> tuple[str, str] | None:
    """Return where a feature is that this tree does not have, and how to get there; None when it is nowhere."""
    branch = feature_branch(slug)
    owner = next(iter(live_owners(repo, branch)), None)
    here = owner is not None and os.path.realpath(owner) == os.path.realpath(repo.root)
    place = owner or primary_root(repo)
    if os.path.realpath(place) != os.path.realpath(repo.root):
        if (place / FEATURES / slug).is_dir():
            return f"feature {slug!r} is in the work tree {place}, not in this one", f"cd {shlex.quote(str(place))}"
        if (place / ARCHIVE / slug).is_dir():
            return f"feature {slug!r} is archived in the work tree {place}", "morph-spec list --all"
    if not repo.branch_exists(branch):
        return None
    if (switched := switched_tree(repo, slug)) is not None:
        return switch_back(switched, slug)
    there = branch_holds(repo, slug)
    setup = f"morph-spec worktree setup {shlex.quote(slug)}"
    if owner is None and there == FEATURES:
        return f"feature {slug!r} is on branch {branch} and in no work tree", setup
    if owner is None and there == ARCHIVE:
        return f"feature {slug!r} is archived on branch {branch}, which no work tree has checked out", setup
    if there is None:
        return empty_branch(repo, slug)
    where = "this tree" if here else str(owner)
    what = f"{branch} holds feature {slug!r}, and {where}, which has it checked out, does not"
    return what, f"git -C {shlex.quote(str(owner))} restore --staged --worktree -- {shlex.quote(f'{there}/{slug}')}"


def empty_branch(repo: Repo, slug: str) -> tuple[str, str]:
    """Return that a branch of a feature's name holds no such feature, and how the name becomes free."""
    branch = feature_branch(slug)
    name = next(one for one in _names(slug) if not repo.branch_exists(one))
    what = f"there is no feature {slug!r}: the branch {branch} is there, and holds none of that name"
    return what, f"git branch -m {shlex.quote(branch)} {shlex.quote(name)}"


def alike(repo: Repo, slug: str) -> str | None:
    """Return the feature whose name differs from this one in nothing but case; None when there is none."""
    from morph_tasks.features.onbranch import feature_tips

    names = [branch.removeprefix(BRANCH_PREFIX) for _, branch in checked_out(repo) if branch.startswith(BRANCH_PREFIX)]
    names += feature_tips(repo)
    names += os.listdir(repo.root / FEATURES) if (repo.root / FEATURES).is_dir() else []
    return next((name for name in names if name != slug and name.casefold() == slug.casefold()), None)


def _names(slug: str) -> Iterator[str]:
    yield slug
    yield from (f"{slug}-{number}" for number in range(2, 1000))
