"""A commit of some paths and nothing else, made beside the user's index: no hooks, no signature, no terminal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.proc import run
from morph_tasks.repo.branching import refuse_under_way
from morph_tasks.repo.git import clean_env

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


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
    head = repo.text("rev-parse", "HEAD")
    handle, index = tempfile.mkstemp(prefix="morph-index-", dir=repo.git_dir)
    os.close(handle)
    os.unlink(index)  # git makes its own; an empty file is no index
    try:
        _beside(repo, index, "read-tree", head)
        if gone:
            _beside(repo, index, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *gone)
        there = [path for path in added if _addable(repo, path)]
        if there:
            _beside(repo, index, "add", "-A", "--", *there)
        tree = _beside(repo, index, "write-tree")
    finally:
        for left in (index, f"{index}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(left)
    commit = None
    if tree != repo.text("rev-parse", f"{head}^{{tree}}"):
        commit = repo.text("commit-tree", tree, "-p", head, "-m", message)
        repo.git("update-ref", "-m", f"commit: {message}", "HEAD", commit, head)
    repo.git("reset", "-q", "--", *gone, *added)
    return commit


def _addable(repo: Repo, path: str) -> bool:
    listed = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path)
    return bool(listed)


def _beside(repo: Repo, index: str, *args: str) -> str:
    done = run(("git", "-C", str(repo.root), *args), env={**clean_env(), "GIT_INDEX_FILE": str(Path(index))})
    return done.text.strip()
