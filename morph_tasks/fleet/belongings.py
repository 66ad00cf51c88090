"""What belongs to a work tree beside its files: its stack, its ports, its branch."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.fleet.obstacles import exclusive_commits
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.trees import BRANCH_PREFIX, TASK, TASK_BRANCH, feature_of, primary_root

if TYPE_CHECKING:
    from morph_tasks.fleet.removal import RemovalPlan
    from morph_tasks.stack.down import DownResult

_HEADS = "refs/heads/"


def key_of(repo: Repo, plan: RemovalPlan) -> str | None:
    """Return under which key a tree has its ports: `<feature>`, `task/<name>`; None when it has none."""
    branch = plan.branch or ""
    if branch.startswith(TASK_BRANCH):
        return TASK + branch.removeprefix(TASK_BRANCH)
    if branch.startswith(BRANCH_PREFIX):
        return branch.removeprefix(BRANCH_PREFIX)
    from morph_tasks.stack.ports import known_block
    from morph_tasks.stack.project import stack_key

    if plan.admin is None:
        return None
    # A task's tree whose HEAD was detached, and one of no feature that a proof ran in.
    own = stack_key(Repo(plan.path, plan.admin, repo.common_dir), "")
    return next((key for key in (f"{TASK}{plan.path.name}", own) if known_block(repo, key)), None)


def backup_name(plan: RemovalPlan) -> tuple[str, str]:
    """Return the namespace and the name under which a tree's backup is kept."""
    slug = feature_of(plan.branch)
    if slug:
        return "", slug
    return "task", (plan.branch or "").removeprefix(TASK_BRANCH) or plan.path.name


def take_down_of(repo: Repo, plan: RemovalPlan, key: str | None) -> DownResult | None:
    """Take the stack of a tree down, volumes kept; None when it has none. What could not be done is in the result."""
    if key is None or plan.admin is None:
        return None
    from morph_tasks.stack.down import take_down
    from morph_tasks.stack.project import known_project
    from morph_tasks.stack.wiring import hooks_for

    tree = open_repo(primary_root(repo) if plan.missing else plan.path)
    return take_down(tree, key, hooks=hooks_for(tree, {}, key)) if known_project(tree, key) else None


def give_back(repo: Repo, key: str, down: DownResult | None) -> int | None:
    """Give the ports of a key back, and the name of its stack unless data is kept under it; return the first port.

    Raises Refusal `busy` (3), `write-failed`.
    """
    from morph_tasks.stack.ports import known_block, release
    from morph_tasks.stack.project import known_project, release_project

    block = known_block(repo, key)
    released = bool(block) and release(repo, key)
    if down and down.ok and not down.kept_volumes and known_project(repo, key):
        release_project(repo, key)
    return block.base if block and released else None


def deletable(repo: Repo, branch: str) -> str:
    """Return the commit of a branch whose work is elsewhere, too; raises Refusal `branch-unmerged`."""
    tip = repo.tip(branch)
    if not tip:
        return ""
    count = exclusive_commits(repo, tip, without=[f"{_HEADS}{branch}", *_aliases(repo, branch)])
    if count == 0:
        return tip
    evidence = _merged(repo, branch, tip)
    if evidence is None:
        return tip
    many = "commits that are" if count is None else "1 commit that is" if count == 1 else f"{count} commits that are"
    raise Refusal(
        "branch-unmerged",
        f"{branch} holds {many} not proved to be anywhere else ({evidence})",
        fix=f"remove the tree without --delete-branch; then git branch -D {shlex.quote(branch)} throws the work away",
        branch=branch,
        tip=tip,
        commits=count,
    )


def _merged(repo: Repo, branch: str, tip: str) -> str | None:
    """Return why the work of a branch is not proved to be in the default branch; None when it is."""
    from morph_tasks.fleet.branches import MERGED, Survey
    from morph_tasks.fleet.github import ask_pulls

    survey = Survey(repo, repo.default_branch(), ask_pulls(repo, head=branch))
    state, evidence = survey.proof(tip, branch, survey.targets)
    return None if state in MERGED else evidence


def _aliases(repo: Repo, branch: str) -> list[str]:
    """Return the references that are only other names of a branch: they hold nothing without it."""
    listed = repo.git("for-each-ref", "--format=%(refname)%00%(symref)", "refs/heads").split(b"\n")
    pairs = [line.partition(b"\0") for line in listed if line]
    return [os.fsdecode(name) for name, _, target in pairs if os.fsdecode(target) == f"{_HEADS}{branch}"]


def delete_branch(repo: Repo, branch: str, tip: str, *, has_settings: bool = True) -> str | None:
    """Delete a branch that is at a commit; return why it stays, or None.

    `has_settings`: False where the configuration is known to say nothing of it.
    """
    from morph_tasks.fleet.branches import branches_in_use
    from morph_tasks.proc import tail
    from morph_tasks.repo.ref_lock import ref_moves

    used = branches_in_use(repo)
    if branch in used:
        return used[branch]
    # Not `git branch -D`, which would delete whatever the branch is at by now.
    with ref_moves(repo, branch, config=True) as git:
        done = git.run("update-ref", "--no-deref", "-d", f"{_HEADS}{branch}", tip, ok=range(256))
        if done.code:
            return tail(done)
        if has_settings:
            git.run("config", "--remove-section", f"branch.{branch}", ok=range(256))
    return None
