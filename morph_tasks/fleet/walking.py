"""Folders of any depth, private ones, and what killed writers leave in them.

`os.walk` and `Path.mkdir` call themselves for each level, and Python limits that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def walk(top: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all that lies below a folder, folders before what is in them; no link is followed. Raises OSError."""
    pending = [os.fspath(top)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        yield from found
        pending += [entry.path for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone; raises OSError."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        os.mkdir(one, 0o700)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable; raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep_unwritten(folder: Path) -> None:
    """Remove files that a killed run was about to put in place; the caller holds the lock under which they are made."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(".") and name.endswith(".tmp"):
                with suppress(OSError):
                    os.unlink(folder / name)
