"""No runner: whatever the command prints, only its exit code is known."""

from __future__ import annotations

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.text import Log
from morph_tasks.verify.runners.told import Told

ALIASES: tuple[str, ...] = ()
SUMMARY = "nothing is read"
ZERO = "never known"
EXITS: dict[int, str] = {}


def read(output: Output) -> Found:
    """Return nothing: counts of a suite without a runner are unknown, not zero."""
    return Found(evidence=1)


def failures(text: str) -> list[Failure]:
    """Return nothing."""
    return []


def results(log: Log) -> list[Told]:
    """Return nothing."""
    return []
