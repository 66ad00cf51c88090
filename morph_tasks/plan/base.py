"""What of the default branch a plan was written against: its last commits that the tree held when the plan was read.

What is merged later, the plan cannot know of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.repo.git import Repo

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Base:
    """The default branch and the commits of it; more than one where it is another here than at origin."""

    branch: str
    commits: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"branch": self.branch, "commits": list(self.commits)}


def base_in(data: Any) -> Base | None:
    """Return a base as it was written down; None when there is none in its form."""
    if not isinstance(data, dict) or not isinstance(data.get("branch"), str):
        return None
    commits = data.get("commits")
    if not isinstance(commits, list) or not commits or not all(map(_is_commit, commits)):
        return None
    return Base(data["branch"], tuple(commits))


def default_tips(repo: Repo) -> tuple[str, dict[str, str]]:
    """Return the default branch, and the commits that it is at: here, and at origin as last fetched.

    Raises Refusal `no-default-branch`.
    """
    name = repo.default_branch()
    refs = (f"refs/heads/{name}", f"refs/remotes/origin/{name}") if name else ()
    said = repo.text("for-each-ref", "--format=%(objectname) %(refname)", *refs) if refs else ""
    tips = {ref: commit for commit, _, ref in (line.partition(" ") for line in said.splitlines()) if ref in refs}
    if not name or not tips:
        what = "nothing tells which branch is the default one, or it has no commit"
        raise Refusal("no-default-branch", what, fix="git config init.defaultBranch <branch>")
    return name, tips


def base_now(repo: Repo) -> Base | None:
    """Return what this tree holds of the default branch; None where git cannot tell."""
    try:
        name, tips = default_tips(repo)
    except Refusal:
        return None
    found: dict[str, None] = {}
    for tip in dict.fromkeys(tips.values()):
        said = repo.run("merge-base", "--all", "HEAD", tip, ok=range(256))
        found |= dict.fromkeys(said.text.split() if said.code == 0 else ())
    commits = list(found)
    if len(commits) > 1:
        said = repo.run("merge-base", "--independent", *commits, ok=range(256))
        commits = said.text.split() if said.code == 0 else []
    return Base(name, tuple(sorted(commits))) if commits else None


def base_of_tree(root: Path) -> Base | None:
    """Return what the tree at a place holds of the default branch; None where git cannot tell."""
    from morph_tasks.repo.git import open_repo

    try:
        return base_now(open_repo(root).lightly())
    except Refusal:
        return None


def _is_commit(value: Any) -> bool:
    return isinstance(value, str) and len(value) in (40, 64) and set(value) <= _HEX
