"""Whose environment is meant: the feature that was named, or the one of the branch one stands on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.repo.trees import BRANCH_PREFIX, TASK, TASK_BRANCH, live_owners, owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def feature_here(repo: Repo, named: str | None) -> str:
    """Return the feature or `task/<name>`; raises Refusal `feature-not-named`, `feature-not-found` (both 2)."""
    if named is None:
        branch = _branch(repo)
        if branch.startswith(TASK_BRANCH):
            return TASK + branch.removeprefix(TASK_BRANCH)
        if not branch.startswith(BRANCH_PREFIX):
            what = f"this tree is on {branch or 'no branch'}, which names no feature"
            raise Refusal("feature-not-named", what, fix="morph-spec env <feature>", exit_code=2)
        return branch.removeprefix(BRANCH_PREFIX)
    if named.startswith(TASK):
        if not repo.branch_exists(TASK_BRANCH + named.removeprefix(TASK)):
            what = f"there is no work tree {named!r}"
            raise Refusal("feature-not-found", what, fix="git worktree list", exit_code=2, feature=named)
        return named
    from morph_tasks.features.store import read_feature

    read_feature(tree_for(repo, named).root, named)
    return named


def tree_for(repo: Repo, key: str) -> Repo:
    """Return the tree that a feature or a task has, from wherever one asks."""
    from morph_tasks.repo.git import open_repo

    if key.startswith(TASK):
        found = live_owners(repo, TASK_BRANCH + key.removeprefix(TASK))
        owner = found[0] if found else repo.root
    else:
        owner = owner_tree(repo, key)
    return repo if os.path.realpath(owner) == os.path.realpath(repo.root) else open_repo(owner)


def _branch(repo: Repo) -> str:
    """Return the branch of this tree, the one that is being rebased included."""
    from morph_tasks.repo.trees import checked_out

    here = os.path.realpath(repo.root)
    return next((name for tree, name in checked_out(repo) if os.path.realpath(tree) == here), "") or repo.branch() or ""
