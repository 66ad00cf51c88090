"""The no-op under doit: one task that says what the last verify said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from morph_tasks.verify import witness


def settled_task(argv: Sequence[str]) -> dict[str, Any] | None:
    """Return the task of `doit verify:<feature>` when its witness holds; None for any other call."""
    if len(argv) != 1 or not argv[0].startswith("verify:") or "%" in argv[0]:
        return None
    kept = witness.settled(argv[0].removeprefix("verify:"))
    if kept is None:
        return None
    return {"basename": argv[0], "actions": [(_say, [kept])], "uptodate": [False], "verbosity": 2}


def _say(kept: dict[str, Any]) -> bool:
    print(kept["text"])  # noqa: T201
    witness.note(kept)
    return True
