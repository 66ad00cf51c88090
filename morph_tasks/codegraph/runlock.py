"""The lock of a run, and who has it. The kernel gives it back when the last process that writes the graph is gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from morph_tasks.codegraph.layout import LOCK, STARTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from morph_tasks.repo.git import Repo

_PATIENCE_S = 0.5


class Held:
    """A lock that this process has. `fd` is for the program that writes the graph: an orphan keeps the lock."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def note(self, **about: Any) -> None:
        """Say who has the lock, for those who ask meanwhile; on a full disk it is had without a word."""
        import json

        with suppress(OSError):
            os.ftruncate(self.fd, 0)
            os.pwrite(self.fd, json.dumps(about).encode(), 0)


def holder(git_dir: str) -> dict[str, Any] | None:
    """Return what the holder of a tree's lock says of itself, {} when it says nothing; None when nobody has it."""
    import fcntl

    try:
        fd = os.open(f"{git_dir}/morph-spec/{LOCK}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _said(fd)
    finally:
        os.close(fd)
    return None


def started(git_dir: str) -> dict[str, Any] | None:
    """Return `{pid}` of a run in the background that was started and lives; None when there is none."""
    try:
        with open(f"{git_dir}/morph-spec/{STARTED}", encoding="ascii") as file:
            pid = int(file.read(20))
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return {"pid": pid} if b"morph_tasks.codegraph.background" in file.read() else None
    except (OSError, ValueError):  # nor where the system does not tell what a process is
        return None


@contextmanager
def take(repo: Repo) -> Iterator[Held | None]:
    """Hold the lock of a tree, or None when another run has it; raises Refusal `state-unwritable`."""
    from morph_tasks.codegraph.layout import lock_file
    from morph_tasks.repo.files import open_lock

    # Whoever only asks who has it holds it for an instant.
    fd, taken = open_lock(lock_file(repo), _PATIENCE_S)
    try:
        yield Held(fd) if taken else None
    finally:
        if taken:
            os.ftruncate(fd, 0)
        # No unlocking: the lock is also that of a program that was started with it and did not end.
        os.close(fd)


def _said(fd: int) -> dict[str, Any]:
    import json

    try:
        found = json.loads(os.pread(fd, 4096, 0))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
