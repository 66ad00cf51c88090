"""Where a feature stands when it is to end: its branch, its tree, the default branch and the tree that holds it."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.features.whereabouts import holds
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import BRANCH_PREFIX, checked_out, feature_branch, primary_root

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_ORIGIN_HEAD = "refs/remotes/origin/HEAD"


@dataclass(frozen=True)
class Place:
    """What git says before a finish. Tips are None where a reference does not exist.

    `tree`: the tree that has the branch checked out; `linked`: it is not the main one; `home`: the tree that has
    the default branch checked out.
    """

    slug: str
    primary: Repo
    tree: Repo | None
    home: Repo | None
    default: str | None
    tip: str | None
    default_tip: str | None
    origin_tip: str | None

    @property
    def branch(self) -> str:
        return feature_branch(self.slug)

    @cached_property
    def archived(self) -> bool:
        """Tell whether the branch holds the feature in its archive and not as a feature."""
        if self.tree and (self.tree.root / FEATURES / self.slug / "feature.json").exists():
            return False
        return self.tip is not None and holds(self.primary, self.tip, self.slug) == ARCHIVE

    @property
    def linked(self) -> bool:
        return self.tree is not None and self.tree.git_dir != self.tree.common_dir

    @property
    def anchored(self) -> bool:
        """Tell whether the session that runs this has the feature's own tree as its project."""
        from morph_tasks.fleet.obstacles import session_is_in

        return self.tree is not None and self.linked and session_is_in(self.tree.root)

    @property
    def inside(self) -> bool:
        """Tell whether this process stands in a tree that a finish takes away."""
        from morph_tasks.fleet.obstacles import stands_in

        return self.tree is not None and self.linked and stands_in(self.tree.root)


def find_place(repo: Repo, slug: str) -> Place:
    """Look where a feature stands; raises Refusal `branch-checked-out-twice`, and what opening a tree raises."""
    branch = feature_branch(slug)
    default, refs = _default_and_tips(repo, branch)
    trees = checked_out(repo)
    return Place(
        slug,
        _opened(primary_root(repo), repo),
        _only(trees, branch, repo),
        _only(trees, default, repo) if default else None,
        default,
        refs.get(f"refs/heads/{branch}"),
        refs.get(f"refs/heads/{default}"),
        refs.get(f"refs/remotes/origin/{default}"),
    )


def shown(path: Path | str) -> str:
    """Return a path as a shell takes it."""
    return shlex.quote(str(path))


def _default_and_tips(repo: Repo, branch: str) -> tuple[str | None, dict[str, str]]:
    """Return the default branch and the commits of its references and of `branch`, in one question where that does."""
    usual = ("main", "master")
    refs, aliases = _tips(repo, branch, *usual)
    default = aliases.get(_ORIGIN_HEAD, "").removeprefix("refs/remotes/origin/")
    if not default or default.startswith(("refs/", BRANCH_PREFIX)):
        default = next((name for name in usual if f"refs/heads/{name}" in refs), "") or repo.default_branch() or ""
    if default and default not in usual:
        refs, _ = _tips(repo, branch, default)
    return default or None, refs


def _tips(repo: Repo, branch: str, *defaults: str) -> tuple[dict[str, str], dict[str, str]]:
    names = [_ORIGIN_HEAD, f"refs/heads/{branch}"]
    names += [f"{top}/{name}" for name in defaults for top in ("refs/heads", "refs/remotes/origin")]
    listed = repo.text("for-each-ref", "--format=%(objectname) %(refname) %(symref)", *names)
    refs: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for line in listed.splitlines():
        commit, name, alias = [*line.split(" ", 2), ""][:3]
        if name in names:  # a pattern also stands for all that lies below it
            refs[name] = commit
            aliases |= {name: alias} if alias else {}
    return refs, aliases


def _only(trees: list[tuple[Path, str]], branch: str, repo: Repo) -> Repo | None:
    found = [path for path, name in trees if name == branch]
    if len(found) > 1:
        what = f"{branch} is checked out in several work trees: {', '.join(map(str, found))}"
        raise Refusal("branch-checked-out-twice", what, fix=f"git -C {shown(found[-1])} switch --detach")
    return _opened(found[0], repo) if found else None


def _opened(path: Path, repo: Repo) -> Repo:
    return repo if os.path.realpath(path) == os.path.realpath(repo.root) else open_repo(path).lightly()
