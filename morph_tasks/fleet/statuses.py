"""What is not committed in many work trees, asked of all of them at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo

Given = TypeVar("Given")
Made = TypeVar("Made")

_LOOKED_AT = 200  # changed files whose times are read
# A status that refreshed the index would hold its lock while somebody works in that tree.
_STATUS = ("--no-optional-locks", "status", "--porcelain", "-z", "--no-renames")


@dataclass(frozen=True)
class Uncommitted:
    """`count`: paths that differ from HEAD or are untracked; `newest`: when the youngest of them was written, or 0."""

    count: int
    newest: float


def uncommitted(trees: Iterable[Path]) -> dict[Path, Uncommitted | None]:
    """Return what git says of each tree; None for one that it could not look at."""
    return in_parallel(_look, list(dict.fromkeys(trees)))


def in_parallel(do: Callable[[Given], Made], items: list[Given]) -> dict[Given, Made]:
    """Do the same with every item, a few at a time; the first exception is raised once all have ended."""
    found: dict[Given, Made] = {}
    failed: list[BaseException] = []
    left = iter(items)
    turn = threading.Lock()

    def work() -> None:
        while not failed:
            with turn:
                item = next(left, None)
            if item is None:
                return
            try:
                found[item] = do(item)
            except BaseException as error:
                failed.append(error)

    workers = min(len(items), 2 * (os.cpu_count() or 2), 16)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return found


def _look(tree: Path) -> Uncommitted | None:
    try:
        said = _open(tree).git(*_STATUS)
    except Refusal:
        return None
    paths = [field[3:] for field in said.split(b"\0") if field]
    newest = 0.0
    for path in paths[:_LOOKED_AT]:
        with suppress(OSError, ValueError):
            newest = max(newest, os.lstat(os.path.join(os.fsencode(tree), path)).st_mtime)
    return Uncommitted(len(paths), newest)


def _open(tree: Path) -> Repo:
    return open_repo(tree).lightly()
