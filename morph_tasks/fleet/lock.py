"""One lock a repository for what changes its work trees, branches and backups: setup, removal, finish, undo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_held: set[str] = set()


@contextmanager
def fleet_lock(repo: Repo) -> Iterator[None]:
    """Hold the lock; a caller inside of it may take it again. Waits as `--wait` says, then raises `busy` (exit 3)."""
    from morph_tasks.features.store import lock_wait
    from morph_tasks.repo.files import locked

    path = repo.store / "fleet.lock"
    if str(path) in _held:
        yield
        return
    with locked(path, wait_s=lock_wait.get(), what="the set of work trees of this repository"):
        _held.add(str(path))
        try:
            yield
        finally:
            _held.discard(str(path))
