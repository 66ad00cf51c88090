"""The log of runs: one line each that nobody waits for, and what graphify said when it failed."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from morph_tasks.codegraph.layout import log_file

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_LONGEST = 256 * 1024


def log(repo: Repo, text: str) -> None:
    """Add a line, with time and process; one that cannot be written is left out: a run never fails over its log."""
    path = log_file(repo)
    when = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            if path.stat().st_size > _LONGEST:
                os.replace(path, path.with_name(f"{path.name}.1"))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(path, flags, 0o600)
        try:
            os.write(handle, f"{when} [{os.getpid()}] {text}\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(handle)
