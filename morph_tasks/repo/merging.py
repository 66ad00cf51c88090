"""Merge two commits beside every work tree: no checkout, no hook, no recorded resolution."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError, tail

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_NOBODY = ("tell me who you are", "identity unknown", "empty ident name", "unable to auto-detect email")
# The move of a feature into the archive looks like a renamed folder: git would move other features along.
_PLAIN = ("-c", "merge.directoryRenames=false")


@dataclass(frozen=True)
class Merge:
    """What two commits come to. `conflicts`: the paths that a person has to decide about; then `tree` holds marks."""

    tree: str
    conflicts: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.conflicts


def merge_trees(repo: Repo, ours: str, theirs: str, *, env: Mapping[str, str] | None = None) -> Merge:
    """Merge two commits into a tree; changes no reference.

    `env` is added to git's environment, such as another place for new objects. Raises Refusal `git-too-old`,
    `shallow-clone`, `unrelated-histories`, `merge-failed`.
    """
    done = repo.run(*_PLAIN, "merge-tree", "--write-tree", "-z", "--name-only", ours, theirs, ok=range(256), env=env)
    if done.code not in (0, 1) or not done.stdout:
        raise _failed(repo, done.stderr.decode("utf-8", "replace").strip())
    tree, _, rest = done.stdout.partition(b"\0")
    if done.code == 0:
        return Merge(tree.decode())
    # Paths come before the first empty field; messages follow.
    names = rest.partition(b"\0\0")[0].split(b"\0")
    return Merge(tree.decode(), tuple(dict.fromkeys(os.fsdecode(name) for name in names if name)) or ("?",))


def commit_tree(repo: Repo, tree: str, parents: Sequence[str], message: str) -> str:
    """Make a commit of a tree, unsigned and without hooks; raises Refusal `commit-failed`, `no-identity`."""
    options = [word for parent in parents for word in ("-p", parent)]
    try:
        return repo.text("commit-tree", "--no-gpg-sign", *options, "-m", message, tree)
    except ProcError as error:
        said = tail(error.done) if error.done else error.what
        if any(words in said for words in _NOBODY):
            raise no_identity() from error
        raise Refusal("commit-failed", f"git could not make a commit: {said}") from error


def no_identity() -> Refusal:
    """Return the refusal to commit as nobody."""
    what, fix = "git does not know who commits", 'git config user.name "…" && git config user.email "…"'
    return Refusal("no-identity", what, fix=fix)


def _failed(repo: Repo, said: str) -> Refusal:
    if "usage: git merge-tree" in said or "unknown option" in said:
        what = "this git cannot merge beside a work tree"
        return Refusal("git-too-old", what, fix="install git 2.38 or newer")
    if "unrelated histories" in said and repo.is_shallow():
        what = "this clone is shallow, so the point at which the two lines parted is not known"
        return Refusal("shallow-clone", what, fix="git fetch --unshallow")
    if "unrelated histories" in said:
        return Refusal("unrelated-histories", "the two lines have no commit in common", fix="merge them by hand")
    return Refusal("merge-failed", f"git could not merge: {said[-500:]}")
