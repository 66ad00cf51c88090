"""Make a branch for work that begins: every refusal first, then one step of git that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError
from morph_tasks.repo.overwrite import refuse_overwrite

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.repo.git import Repo

# An empty folder has nothing to add.
_FIRST_COMMIT = 'git add -A && git commit --allow-empty -m "First commit"'
_UNDER_WAY = {
    "MERGE_HEAD": ("merge", "git merge --abort"),
    "rebase-merge": ("rebase", "git rebase --abort"),
    "rebase-apply": ("rebase", "git rebase --abort"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "git cherry-pick --abort"),
    "REVERT_HEAD": ("revert", "git revert --abort"),
    "BISECT_LOG": ("bisect", "git bisect reset"),
}


@dataclass(frozen=True)
class BranchPlan:
    """A branch to make. `base`: the commit it starts at; `base_name`: how people call it.

    `current`: the branch this tree is on, None when HEAD is detached; `switch`: whether the tree moves.
    """

    name: str
    base: str
    base_name: str
    head: str
    current: str | None
    switch: bool
    uncommitted: int


def plan_branch(repo: Repo, name: str, *, switch: bool) -> BranchPlan:
    """Compute how to make a branch from the default one; changes nothing.

    Raises Refusal `no-commits`, `operation-in-progress`, `detached-head`, `no-default-branch`,
    `branch-exists`, `branch-blocked` or `would-overwrite`.
    """
    head = repo.head()
    if head is None:
        raise no_commits(repo)
    refuse_under_way(repo)
    current = repo.branch()
    if current is None and switch:
        raise Refusal(
            "detached-head",
            f"HEAD is detached at {head[:10]}: moving the checkout could leave commits behind",
            fix="git switch <branch>, or pass --no-checkout",
        )
    base_name, base = default_start(repo)
    refuse_taken(repo, name)
    if switch and base != head:
        refuse_overwrite(
            repo,
            head,
            base,
            what=f"moving the checkout to {base_name}",
            fix="commit them, or pass --no-checkout to leave the checkout where it is",
        )
    changes = repo.git("status", "--porcelain", "-z", "--no-renames")
    return BranchPlan(name, base, base_name, head, current, switch, changes.count(b"\0"))


def make_branch(repo: Repo, plan: BranchPlan) -> list[str]:
    """Make the branch, move the tree to it when the plan says so, return warnings; raises Refusal `branch-failed`."""
    if not plan.switch:
        _do(repo, plan, "branch", "--no-track", plan.name, plan.base)
        return []
    try:
        _do(repo, plan, "switch", "-q", "--no-track", "--no-overwrite-ignore", "-c", plan.name, plan.base)
    except Refusal as error:
        # A post-checkout hook that fails gives git its exit code although the tree has moved.
        if repo.branch() != plan.name:
            raise
        return [f"the checkout moved, but git ended with an error ({error.what})"]
    return []


def undo_branch(repo: Repo, plan: BranchPlan) -> None:
    """Take `make_branch` back; the branch goes only while it is still where it began."""
    if plan.switch and plan.current and repo.branch() == plan.name:
        repo.run("switch", "-q", "--no-overwrite-ignore", plan.current, ok=range(256))
    if repo.branch() != plan.name:
        repo.run("update-ref", "-d", f"refs/heads/{plan.name}", plan.base, ok=range(256))


def _do(repo: Repo, plan: BranchPlan, *args: str) -> None:
    try:
        repo.git(*args)
    except ProcError as error:
        said = error.done.stderr.decode("utf-8", "replace").strip() if error.done else error.what
        raise Refusal("branch-failed", f"git could not make {plan.name}: {said[-500:]}") from error


def under_way(git_dir: Path) -> tuple[str, str] | None:
    """Return what is in progress in the tree of a private git folder, and the command that gives it up; else None."""
    return next((said for mark, said in _UNDER_WAY.items() if (git_dir / mark).exists()), None)


def refuse_under_way(repo: Repo, *, unmerged: bool | None = None) -> None:
    """Raise Refusal `operation-in-progress` during a merge, a rebase and the like, or with unresolved conflicts.

    `unmerged`: whether there are such, where the caller knows.
    """
    found = under_way(repo.git_dir)
    if found:
        what, abort = found
        raise Refusal("operation-in-progress", f"a {what} is in progress in this tree", fix=f"finish it, or {abort}")
    if repo.git("ls-files", "-u", "-z") if unmerged is None else unmerged:
        raise Refusal("operation-in-progress", "this tree has unresolved conflicts", fix="resolve them and git add")


def default_start(repo: Repo) -> tuple[str, str]:
    """Return how people call the default branch, and its commit; raises Refusal `no-default-branch`."""
    name = repo.default_branch()
    for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}") if name else ():
        commit = repo.text("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))
        if commit:
            return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"), commit
    raise no_default_branch()


def no_default_branch() -> Refusal:
    """Return the refusal of what needs to know where merges go."""
    what = "nothing tells which branch is the default one (no origin/HEAD, no main or master)"
    return Refusal("no-default-branch", what, fix="git config init.defaultBranch <branch>")


def no_commits(repo: Repo) -> Refusal:
    """Return the refusal `no-commits`, with a command that also works in an empty folder."""
    what = f"branch {repo.branch() or 'HEAD'} has no commits, so there is nothing to start from: make a first commit"
    return Refusal("no-commits", what, fix=_FIRST_COMMIT)


def refuse_taken(repo: Repo, name: str, *, remotes: bool = True) -> None:
    """Raise Refusal `branch-exists` or `branch-blocked` where a branch of that name cannot be made.

    `remotes`: one that exists only at a remote counts, too.
    """
    patterns = ["refs/heads", *([f"refs/remotes/*/{name}"] if remotes else [])]
    folded = name.casefold()
    for ref in repo.text("for-each-ref", "--format=%(refname)", *patterns).splitlines():
        # Ignoring case: two branches that differ in case are one file on many disks.
        short = ref.removeprefix("refs/heads/")
        if short.casefold() == folded or ref.startswith("refs/remotes/"):
            shown = short.removeprefix("refs/remotes/")
            fix = "choose another name" + (f", or git branch -d {shown}" if shown == short else "")
            raise Refusal("branch-exists", f"branch {shown} exists already", fix=fix, branch=shown)
        if folded.startswith(f"{short.casefold()}/") or short.casefold().startswith(f"{folded}/"):
            raise Refusal(
                "branch-blocked",
                f"branch {short} is in the way: git cannot hold it and {name} at the same time",
                fix=f"git branch -m {short} <other-name>",
                branch=short,
            )
