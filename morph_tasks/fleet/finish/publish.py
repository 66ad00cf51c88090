"""What is left to publish, in commits, and publishing it. Nothing here ever forces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from morph_tasks.proc import ProcError, run_bounded
from morph_tasks.repo.git import clean_env

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

PUSH_S = 120.0  # seconds; hooks of the user run in it
_LONGEST = 1000  # characters of git's words
NO_ORIGIN = "no-origin-remote"


def ahead_of(repo: Repo, branch: str) -> int | None:
    """Count the commits of a branch that `origin` is not known to have; None without anything to compare with."""
    return repo.count(f"refs/remotes/origin/{branch}..refs/heads/{branch}")


def push(repo: Repo, branch: str) -> str | None:
    """Push a branch to origin and return what went wrong, in git's words; None when it arrived."""
    env = {**clean_env(), "GIT_TERMINAL_PROMPT": "0"}
    if not any(name in env for name in ("GIT_SSH", "GIT_SSH_COMMAND")) and not _has_own_ssh(repo):
        # Without a terminal, a passphrase would be waited for until the time is up.
        env["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"
    argv = ["git", "-C", os.fspath(repo.root), "push", "origin", f"refs/heads/{branch}:refs/heads/{branch}"]
    try:
        done = run_bounded(argv, cwd=repo.root, env=env, timeout=PUSH_S)
    except ProcError as error:
        return error.what
    return None if done.code == 0 else _words((done.stderr or done.stdout).decode("utf-8", "replace"))


def is_behind(problem: str) -> bool:
    """Tell whether a push was rejected since the remote has commits that are not here."""
    return "! [rejected]" in problem


def _words(said: str) -> str:
    """Return git's words on one line, without its hints; of very many, the last whole ones."""
    told = " ".join(" ".join(line for line in said.splitlines() if not line.startswith("hint:")).split())
    if len(told) <= _LONGEST:
        return told or "it said nothing"
    return "… " + told[-_LONGEST:].partition(" ")[2]


def published(repo: Repo, branch: str, remote: str | None) -> dict[str, Any]:
    """Return the key `publish`; `ahead` is None where nothing tells."""
    return {"remote": remote, "branch": branch, "ahead": ahead_of(repo, branch) if remote else None, "pushed": False}


def _has_own_ssh(repo: Repo) -> bool:
    return repo.run("config", "--get", "core.sshCommand", ok=(0, 1)).code == 0
