"""References moved so that a kill in the middle does not block them for ever.

Git's lock files hold no name: after a kill nothing tells a dead one from one in use. So what git is about to lock is
written down first, and a lock of the kernel, which the started git inherits, tells when it has ended.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.repo.files import try_lock

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_SETTLED_S = 1.0  # so long a lock that is ours has to lie there unchanged
_WAIT_S = 3.0
_INTENT, _GUARD = "refs.intent", "refs.guard"


@contextmanager
def ref_moves(repo: Repo, *branches: str, config: bool = False) -> Iterator[Repo]:
    """Yield the repository to run git with, which is about to move these branches, or HEAD, or to write `config`.

    Locks that a killed run left of the same kind are removed first. While another process of ours is at it, git is
    left to itself.
    """
    folder = repo.store
    with _guard(folder / _GUARD, patient=(folder / _INTENT).exists()) as alone:
        if not alone:
            yield repo.lightly()
            return
        _clear(folder / _INTENT)
        with suppress(OSError):  # without it, a kill right now has to be cleared up by hand
            (folder / _INTENT).write_text(json.dumps([str(path) for path in _locks(repo, branches, config)]))
        try:
            yield repo.lightly()
        finally:
            (folder / _INTENT).unlink(missing_ok=True)


def _locks(repo: Repo, branches: tuple[str, ...], config: bool) -> list[Path]:
    """Return the files that git may make on the way."""
    common = repo.common_dir
    found = [common / "refs/heads" / f"{branch}.lock" for branch in branches]
    found += [repo.git_dir / "HEAD.lock", common / "HEAD.lock", common / "packed-refs.lock"]
    found += [common / "reftable/tables.list.lock", repo.git_dir / "reftable/tables.list.lock"]
    return list(dict.fromkeys([*found, *([common / "config.lock"] if config else [])]))


def _clear(intent: Path) -> None:
    """Remove the locks that a killed run announced, once they have not changed for a while."""
    try:
        since = intent.stat().st_mtime_ns
        paths = [Path(path) for path in json.loads(intent.read_text())]
    except (OSError, ValueError, TypeError):
        return
    before = {path: about for path in paths if (about := _about(path)) and about[1] >= since - 10_000_000}
    if before:
        time.sleep(_SETTLED_S)
    for path, about in before.items():
        if _about(path) == about:
            with suppress(OSError):
                path.unlink()


def _about(path: Path) -> tuple[int, int, int] | None:
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size


@contextmanager
def _guard(path: Path, *, patient: bool) -> Iterator[bool]:
    """Hold a lock that the programs started meanwhile hold, too; yields whether it is ours alone."""
    import fcntl

    fd = -1
    alone = False
    try:
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            alone = try_lock(fd, _WAIT_S if patient else 0)
            os.set_inheritable(fd, alone)
        yield alone
    finally:
        if fd >= 0:
            if alone:
                fcntl.flock(fd, fcntl.LOCK_UN)
            os.close(fd)
