"""What all repositories of one user share on this machine: names of compose projects, and who has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal

WAIT_S = 20.0


def folder() -> Path:
    """Return `$XDG_STATE_HOME/morph-spec`, or its default; there or not."""
    # A relative value is to be ignored, says the specification.
    said = os.environ.get("XDG_STATE_HOME", "")
    base = Path(said) if os.path.isabs(said) else Path(os.path.expanduser("~")) / ".local" / "state"
    return base / "morph-spec"


def projects_file() -> Path:
    return folder() / "compose-projects.json"


@contextmanager
def held() -> Iterator[None]:
    """Hold the lock on what is shared; raises Refusal `busy` (3) or `state-unwritable`."""
    from morph_tasks.repo.files import locked

    with locked(folder() / "compose-projects.lock", wait_s=WAIT_S, what="the registry of compose projects"):
        yield


def read(path: Path, key: str) -> dict[str, Any]:
    """Return one table of a registry; a registry that does not parse is set aside by `settle`, and empty here."""
    from morph_tasks.repo.files import read_json

    try:
        found = read_json(path)
    except (FileNotFoundError, Refusal):
        return {}
    table = found.get(key) if isinstance(found, dict) else None
    return table if isinstance(table, dict) else {}


def settle(path: Path) -> None:
    """Move a registry that does not parse out of the way, for a person to look at; the caller holds its lock."""
    from morph_tasks.repo.files import read_json

    try:
        if isinstance(read_json(path), dict):
            return
    except FileNotFoundError:
        return
    except Refusal as refusal:
        if refusal.code != "corrupt-file":
            raise
    os.replace(path, path.with_name(f"{path.name}.corrupt"))
