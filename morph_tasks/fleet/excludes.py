"""What work trees bring along, kept out of `git status` by the private exclude file that all trees share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.repo.files import write_atomic

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# Derived in every tree; `.morph/.gitignore` names them too, where it is committed.
DERIVED = (".morph/worktree.env", ".morph/state.json", ".morph/evidence", ".morph/logs", "graphify-out")
_SPECIAL = re.compile(r"[\\*?\[\] ]")


def exclude(repo: Repo, paths: Iterable[str], *, globs: Iterable[str] = ()) -> list[str]:
    """Add a line for each path that has none; return what was added. The caller holds the lock of the fleet.

    `globs` are patterns already. Only ever adds. Raises Refusal `write-failed`.
    """
    old, present = _read(repo)
    wanted = [*(anchored(path) for path in paths), *(f"/{one}" for one in globs)]
    missing = [line for line in dict.fromkeys(wanted) if os.fsencode(line) not in present]
    if missing:
        end = b"\r\n" if b"\r\n" in old else b"\n"
        joint = b"" if not old or old.endswith(b"\n") else end
        write_atomic(_file(repo), old + joint + b"".join(os.fsencode(line) + end for line in missing))
    return missing


def excluded(repo: Repo) -> frozenset[str]:
    """Return the plain paths that have a line already, as far as they need no escaping."""
    return frozenset(os.fsdecode(line[1:]) for line in _read(repo)[1] if line.startswith(b"/"))


def anchored(path: str) -> str:
    """Return the pattern that matches exactly this path, be it a file, a folder or a link."""
    # A line cannot hold a line end: there any one sign has to do.
    return "/" + re.sub(r"[\r\n]", "?", _SPECIAL.sub(r"\\\g<0>", path))


def _file(repo: Repo) -> Path:
    return repo.common_dir / "info" / "exclude"


def _read(repo: Repo) -> tuple[bytes, set[bytes]]:
    """Return the file and its lines."""
    try:
        old = _file(repo).read_bytes()
    except FileNotFoundError:
        old = b""
    return old, set(old.replace(b"\r\n", b"\n").split(b"\n"))
