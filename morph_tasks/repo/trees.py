"""Which work tree owns a feature: the living one that has `morph/<feature>` checked out, else the primary root.

The question is asked by every command that writes state, so it is answered from git's own small files;
git is asked only where they leave doubt.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

BRANCH_PREFIX = "morph/"
# A tree for a task without a feature: its branch, and the key under which its ports and its application are known.
TASK_BRANCH, TASK = "morph-task/", "task/"
_REF = "ref: "


class _Unsure(Exception):
    """The files do not tell; git must be asked."""


def feature_branch(feature: str) -> str:
    """Return the branch of a feature."""
    return BRANCH_PREFIX + feature


def feature_of(branch: str | None) -> str | None:
    """Return the feature that a branch belongs to; None for every other branch."""
    slug = (branch or "").removeprefix(BRANCH_PREFIX)
    return slug if slug and slug != branch and "/" not in slug else None


def primary_root(repo: Repo) -> Path:
    """Return the main work tree; this tree when the repository has no main one."""
    if repo.git_dir == repo.common_dir:
        return repo.root
    main = repo.primary_root
    # Git names the git folder itself when the main tree keeps it elsewhere (submodules).
    return main if (main / ".git").exists() else _configured_root(repo) or repo.root


def tree_kind(repo: Repo) -> str:
    """Return `root` for the main work tree, `worktree` for a linked one."""
    return "root" if repo.git_dir == repo.common_dir else "worktree"


def owner_tree(repo: Repo, feature: str) -> Path:
    """Return the tree that owns a feature. A tree in the middle of a rebase of the branch still owns it."""
    owners = live_owners(repo, feature_branch(feature))
    here = Path(os.path.realpath(repo.root))
    if here in owners:
        return repo.root
    return owners[0] if owners else primary_root(repo)


def require_owner_tree(repo: Repo, feature: str, *, command: str = "") -> Path:
    """Return this tree when it owns the feature; else raise Refusal that names the owner and the command to run there.

    `command` is what was typed, without the program (`approve shop plan`). Codes: `owner-tree-elsewhere`
    when another tree owns it, `unregistered-worktree` when none does and this is a linked one.
    """
    owner = owner_tree(repo, feature)
    if same_place(owner, repo.root):
        return repo.root
    again = f"cd {shlex.quote(str(owner))}" + (f" && morph-spec {command}" if command else "")
    if live_owners(repo, feature_branch(feature)):
        code, what = "owner-tree-elsewhere", f"feature {feature!r} belongs to the work tree {owner}, not to this one"
    else:
        code = "unregistered-worktree"
        from morph_tasks.features.whereabouts import switch_back, switched_tree

        if (switched := switched_tree(repo, feature)) is not None:
            what, again = switch_back(switched, feature)
            raise Refusal(code, what, fix=again, feature=feature, owner=str(switched))
        what = f"no work tree owns feature {feature!r}, so its state is in {owner}, not in this work tree"
    raise Refusal(code, what, fix=again, feature=feature, owner=str(owner))


def persist_problem(repo: Repo, feature: str) -> str | None:
    """Return why a proof measured here is not the feature's proof; None in the tree that owns it.

    `unregistered-worktree`: another linked tree; `owner-tree-elsewhere`: the root, while a linked tree owns it.
    """
    if same_place(owner_tree(repo, feature), repo.root):
        return None
    return "owner-tree-elsewhere" if tree_kind(repo) == "root" else "unregistered-worktree"


def live_owners(repo: Repo, branch: str) -> list[Path]:
    """Return the existing trees that have the branch checked out, the main one first."""
    return [path for path, name in checked_out(repo) if name == branch]


def checked_out(repo: Repo) -> list[tuple[Path, str]]:
    """Return (tree, branch) of every existing tree that is on a branch, or rebasing one; the main tree first."""
    try:
        found = _from_files(repo)
    except (_Unsure, OSError):
        found = _from_git(repo)
    return [(path, branch) for path, branch in found if (path / ".git").exists()]


def lost_trees(repo: Repo) -> list[tuple[Path, str]]:
    """Return (where it was, branch) of every registered tree that is on a branch and whose folder is gone."""
    try:
        return [gone for folder in _registered(repo) for gone in _lost(repo, folder)]
    except (_Unsure, OSError):
        return [(tree.path, tree.branch) for tree in repo.worktrees() if tree.branch and tree.prunable]


def _lost(repo: Repo, folder: Path) -> list[tuple[Path, str]]:
    branch = _branch_in(folder)
    if not branch or _stands_for(repo, folder) or _place_in(folder):
        return []
    pointer = os.fsdecode((folder / "gitdir").read_bytes()).rstrip("\r\n")
    return [(Path(os.path.normpath(folder / pointer)).parent, branch)]


def _registered(repo: Repo) -> list[Path]:
    """Return git's private folders of the linked trees."""
    admin = repo.common_dir / "worktrees"
    return sorted(entry for entry in admin.iterdir() if entry.is_dir()) if admin.is_dir() else []


def _from_files(repo: Repo) -> list[tuple[Path, str]]:
    found = []
    branch, main = _branch_in(repo.common_dir), primary_root(repo)
    # A bare repository is on a branch, too, and has no tree that shows it.
    if branch and (main != repo.root or repo.git_dir == repo.common_dir):
        found.append((main, branch))
    for folder in _registered(repo):
        branch = _branch_in(folder)
        place = (repo.root if _stands_for(repo, folder) else _place_in(folder)) if branch else None
        if branch and place:
            found.append((place, branch))
    return found


def _stands_for(repo: Repo, folder: Path) -> bool:
    """Tell whether a private folder is that of this tree; after a move by hand its pointer names the old place."""
    return repo.git_dir.name == folder.name and same_place(repo.git_dir, folder)


def _branch_in(folder: Path) -> str | None:
    """Return the branch of a tree by its private git folder; raises _Unsure, OSError."""
    head = folder / "HEAD"
    if head.is_symlink():
        raise _Unsure
    text = os.fsdecode(head.read_bytes()).strip()
    if text.startswith(_REF):
        name = text.removeprefix(_REF).strip()
        if name == "refs/heads/.invalid":  # kept in a reftable
            raise _Unsure
        return name.removeprefix("refs/heads/")
    for state in ("rebase-merge", "rebase-apply"):
        moving = folder / state / "head-name"
        if moving.is_file():
            return os.fsdecode(moving.read_bytes()).strip().removeprefix("refs/heads/")
    return None


def _place_in(folder: Path) -> Path | None:
    """Return the tree that a folder of `worktrees/` stands for; None when it is gone."""
    try:
        pointer = os.fsdecode((folder / "gitdir").read_bytes()).rstrip("\r\n")
    except FileNotFoundError:
        return None
    dot = Path(os.path.realpath(folder / pointer))
    if not dot.is_file():
        return None
    # A tree that was copied or re-added elsewhere points to another folder of `worktrees/`.
    back = os.fsdecode(dot.read_bytes()).partition("gitdir:")[2].strip()
    mine = bool(back) and same_place(dot.parent / back, folder)
    return dot.parent if mine else None


def _from_git(repo: Repo) -> list[tuple[Path, str]]:
    return [
        (Path(os.path.realpath(tree.path)), tree.branch)
        for tree in repo.worktrees()
        if tree.branch and not tree.prunable and not tree.bare
    ]


def _configured_root(repo: Repo) -> Path | None:
    said = repo.text("config", "--file", str(repo.common_dir / "config"), "--get", "core.worktree", ok=(0, 1))
    path = Path(os.path.realpath(repo.common_dir / said)) if said else None
    return path if path and (path / ".git").exists() else None


def same_place(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to the same place."""
    return os.path.realpath(one) == os.path.realpath(other)


def is_inside(path: Path, place: Path) -> bool:
    """Tell whether a path is a place or lies in it, links resolved."""
    real, top = os.path.realpath(path), os.path.realpath(place)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
