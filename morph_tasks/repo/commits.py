"""A commit of some paths and nothing else, made beside the user's index: no hooks, no signature, no terminal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.repo.branching import refuse_under_way
from morph_tasks.repo.index_lock import beside, held_index, refuse_held
from morph_tasks.repo.merging import no_identity
from morph_tasks.repo.ref_lock import ref_moves

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


_WAIT_S = 1.0


def refuse_commit(repo: Repo) -> None:
    """Raise a Refusal where `commit_paths` could not commit: `no-commits`, `operation-in-progress`, `detached-head`,

    `no-identity`, or `index-locked` (exit 3). Changes nothing.
    """
    if repo.head() is None:
        raise Refusal("no-commits", "this branch has no commits yet", fix='git commit --allow-empty -m "First commit"')
    refuse_under_way(repo)
    if repo.branch() is None:
        raise Refusal("detached-head", "HEAD is detached: a commit here could get lost", fix="git switch <branch>")
    refuse_nobody(repo)
    refuse_held(repo.git_dir, repo.root)


def refuse_nobody(repo: Repo) -> None:
    """Raise Refusal `no-identity` where git does not know who commits."""
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if repo.run("var", who, ok=range(256)).code:
            raise no_identity()


def commit_paths(repo: Repo, message: str, *, gone: Sequence[str] = (), added: Sequence[str] = ()) -> str | None:
    """Commit the absence of some folders and the content of others, whatever else is staged.

    Returns the new commit, or None when HEAD already says so. Files that git ignores are left out. The
    user's index keeps what it held, except under these paths. Raises ProcError; then nothing was committed.
    """
    head, old = repo.text("rev-parse", "HEAD", "HEAD^{tree}").splitlines()
    with tempfile.TemporaryDirectory(prefix="morph-index-") as folder:
        index = os.path.join(folder, "index")
        _beside(repo, index, "read-tree", head)
        lying = [path for path in gone if os.path.lexists(repo.root / path)]
        if lying:
            _beside(repo, index, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *lying)
        there = _addable(repo, index, [*(path for path in gone if path not in lying), *added])
        if there:
            _beside(repo, index, "add", "-A", "--", *there)
        tree = _beside(repo, index, "write-tree")
    commit = None
    if tree != old:
        commit = repo.text("commit-tree", tree, "-p", head, "-m", message)
        with ref_moves(repo, repo.branch() or "") as git:
            git.git("update-ref", "-m", f"commit: {message}", "HEAD", commit, head)
    _follow(repo, [*gone, *added])
    return commit


def _follow(repo: Repo, paths: Sequence[str]) -> None:
    """Let the user's index say of these paths what HEAD says.

    The commit stands by now: an index that another git holds is waited for a moment, and then left as it is.
    """
    with suppress(Refusal), held_index(repo, wait_s=_WAIT_S) as index:
        beside(repo, index, "--literal-pathspecs", "reset", "-q", "--", *paths)


def _addable(repo: Repo, index: str, paths: Sequence[str]) -> list[str]:
    """Return the paths at or below which git finds something that it does not ignore."""
    if not paths:
        return []
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths)
    listed = beside(repo, index, "--literal-pathspecs", *asked).stdout.split(b"\0")
    return [
        path
        for path in paths
        if any(name == os.fsencode(path) or name.startswith(os.fsencode(path) + b"/") for name in listed)
    ]


def _beside(repo: Repo, index: str, *args: str) -> str:
    done = repo.run("--literal-pathspecs", *args, env={"GIT_INDEX_FILE": index})
    return done.text.strip()
