"""The commit that is checked out, read from the files of git: asking git costs more than most answers."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_HEX = frozenset("0123456789abcdef")
_DEEPEST = 5  # as git follows symbolic refs
_OWN = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")  # of one work tree


def head_commit(repo: Repo) -> str | None:
    """Return the commit that is checked out; None before the first commit.

    Starts git only where the files do not tell: no commit yet, a reftable, a HEAD that is a link.
    """
    return _by_files(repo) or repo.lightly().head()


def _by_files(repo: Repo) -> str | None:
    return commit_by_files(os.fspath(repo.git_dir), os.fspath(repo.common_dir))


def commit_by_files(git_dir: str, common: str) -> str | None:
    """Return the commit that the files of git name; None where git has to be asked."""
    said = _read(os.path.join(git_dir, "HEAD"))
    for _ in range(_DEEPEST):
        if _is_commit(said):
            return said
        name = said.removeprefix("ref: ") if said.startswith("ref: refs/") else ""
        if not name or "\0" in name or ".." in name or name == "refs/heads/.invalid":  # kept in a reftable
            return None
        place = git_dir if name.startswith(_OWN) else common
        said = _read(os.path.join(place, name)) or _packed(common, name)
    return None


def _packed(common: str, name: str) -> str:
    """Return what `packed-refs` says of a ref; empty when it says nothing."""
    try:
        with open(os.path.join(common, "packed-refs"), "rb") as file:
            data = b"\n" + file.read()
    except OSError:
        return ""
    at = data.find(b" " + os.fsencode(name) + b"\n")
    return os.fsdecode(data[data.rfind(b"\n", 0, at) + 1 : at]) if at > 0 else ""


def _read(path: str) -> str:
    try:
        if os.path.islink(path):
            return ""
        with open(path, "rb") as file:
            return os.fsdecode(file.read(4096)).rstrip("\n ")
    except (OSError, ValueError):
        return ""


def _is_commit(said: str) -> bool:
    return len(said) in (40, 64) and _HEX.issuperset(said)
