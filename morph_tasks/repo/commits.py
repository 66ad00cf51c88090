"""A commit of some paths and nothing else, made beside the user's index: no hooks, no signature, no terminal."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.repo.branching import refuse_under_way

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


_TRIES, _PAUSE_S = 20, 0.05


def refuse_commit(repo: Repo) -> None:
    """Raise a Refusal where `commit_paths` could not commit: `no-commits`, `operation-in-progress`, `detached-head`,

    `no-identity`, or `index-locked` (exit 3). Changes nothing.
    """
    if repo.head() is None:
        raise Refusal("no-commits", "this branch has no commits yet", fix='git commit --allow-empty -m "First commit"')
    refuse_under_way(repo)
    if repo.branch() is None:
        raise Refusal("detached-head", "HEAD is detached: a commit here could get lost", fix="git switch <branch>")
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if repo.run("var", who, ok=range(256)).code:
            raise Refusal(
                "no-identity",
                "git does not know who commits",
                fix='git config user.name "…" && git config user.email "…"',
            )
    if (repo.git_dir / "index.lock").exists():
        raise Refusal(
            "index-locked",
            "another git command works on this tree (index.lock exists)",
            fix="let it end; if none runs, remove the index.lock",
            exit_code=3,
        )


def commit_paths(repo: Repo, message: str, *, gone: Sequence[str] = (), added: Sequence[str] = ()) -> str | None:
    """Commit the absence of some folders and the content of others, whatever else is staged.

    Returns the new commit, or None when HEAD already says so. Files that git ignores are left out. The
    user's index keeps what it held, except under these paths. Raises ProcError; then nothing was committed.
    """
    head, old = repo.text("rev-parse", "HEAD", "HEAD^{tree}").splitlines()
    handle, index = tempfile.mkstemp(prefix="morph-index-", dir=repo.git_dir)
    os.close(handle)
    os.unlink(index)  # git makes its own; an empty file is no index
    try:
        _beside(repo, index, "read-tree", head)
        if gone:
            _beside(repo, index, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *gone)
        there = _addable(repo, added)
        if there:
            _beside(repo, index, "add", "-A", "--", *there)
        tree = _beside(repo, index, "write-tree")
    finally:
        for left in (index, f"{index}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(left)
    commit = None
    if tree != old:
        commit = repo.text("commit-tree", tree, "-p", head, "-m", message)
        repo.git("update-ref", "-m", f"commit: {message}", "HEAD", commit, head)
    _follow(repo, [*gone, *added])
    return commit


def _follow(repo: Repo, paths: Sequence[str]) -> None:
    """Let the user's index say of these paths what HEAD says.

    The commit stands by now: an index that another git holds is waited for a moment, and then left as it is.
    """
    for _ in range(_TRIES):
        if repo.run("--literal-pathspecs", "reset", "-q", "--", *paths, ok=range(256)).code == 0:
            return
        time.sleep(_PAUSE_S)


def _addable(repo: Repo, paths: Sequence[str]) -> list[str]:
    """Return the paths at or below which git finds something that it does not ignore."""
    if not paths:
        return []
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths)
    listed = repo.git("--literal-pathspecs", *asked).split(b"\0")
    return [
        path
        for path in paths
        if any(name == os.fsencode(path) or name.startswith(os.fsencode(path) + b"/") for name in listed)
    ]


def _beside(repo: Repo, index: str, *args: str) -> str:
    done = repo.run("--literal-pathspecs", *args, env={"GIT_INDEX_FILE": index})
    return done.text.strip()
