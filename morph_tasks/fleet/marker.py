"""What a work tree in the making is known by, until it is whole: a run that was killed is taken up by the next one."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.walking import make_private
from morph_tasks.repo.files import read_json, try_lock, write_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def read(repo: Repo, key: str) -> dict[str, Any] | None:
    """Return the marker of a key; None when no work tree of it is half-made."""
    try:
        found = read_json(_file(repo, key))
    except (FileNotFoundError, Refusal):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("path"), str) else None


def put(repo: Repo, key: str, **facts: Any) -> None:
    """Write the marker; raises Refusal `write-failed`."""
    file = _file(repo, key)
    make_private(file.parent)
    sweep(file)
    write_json(file, {"version": 1, "key": key, **facts}, mode=0o600)


def drop(repo: Repo, key: str) -> None:
    """Forget the marker: the tree is whole, or gone."""
    for file in (_lock(repo, key), _file(repo, key)):
        file.unlink(missing_ok=True)


def sweep(*files: Path) -> None:
    """Remove what a kill left of files that were being written; the caller holds the lock under which they are.

    Where that is not allowed it stays: what the caller does next says what is wrong with the folder.
    """
    for file in files:
        mine = re.compile(rf"\.{re.escape(file.name[:40])}\.\w+\.tmp")
        with suppress(OSError):
            for name in os.listdir(file.parent):
                if mine.fullmatch(name):
                    (file.parent / name).unlink(missing_ok=True)


@contextmanager
def heard(repo: Repo, key: str) -> Iterator[None]:
    """Hold a lock that git inherits: while it checks out without us, nobody takes its work for abandoned."""
    fd = os.open(_lock(repo, key), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.set_inheritable(fd, True)
        yield
        # A hook may have started something that lives on, with the file open.
        fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def wait_for_git(repo: Repo, key: str, *, wait_s: float) -> None:
    """Wait until the git of a killed run has ended; raises Refusal `busy` (3)."""
    with suppress(FileNotFoundError):
        fd = os.open(_lock(repo, key), os.O_RDWR | os.O_CLOEXEC)
        try:
            if not try_lock(fd, wait_s):
                what = "git is still checking this work tree out for a run that was killed"
                raise Refusal("busy", what, fix="wait for it to end and try again", exit_code=3)
        finally:
            os.close(fd)


def _file(repo: Repo, key: str) -> Path:
    return repo.store / "setup" / (key.replace("%", "%25").replace("/", "%2F") + ".json")


def _lock(repo: Repo, key: str) -> Path:
    return _file(repo, key).with_suffix(".lock")
