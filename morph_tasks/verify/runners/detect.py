"""Which runner wrote an output, told from its own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from morph_tasks.verify.runners.model import Found, Output
from morph_tasks.verify.runners.table import RUNNERS
from morph_tasks.verify.runners.text import Log

_HEAD, _TAIL = 1 << 18, 1 << 20


def detect(output: Output) -> str | None:
    """Return the runner with the best evidence, the latest summary deciding between equals; None when there is none."""
    for part in _samples(output):
        found = {name: runner.read(part) for name, runner in RUNNERS.items() if name != "none"}
        best = max(found, key=lambda name: _weight(found[name]))
        if found[best].evidence:
            return best
    return None


def _weight(found: Found) -> tuple[int, bool, int, int]:
    return found.evidence, bool(found.executed), found.stream, found.at


def _samples(output: Output) -> Iterator[Output]:
    """Yield both ends of long logs first: summaries stand there, and every runner has to look."""
    if any(log.size > 2 * (_HEAD + _TAIL) for log in output.logs):
        yield replace(output, logs=tuple(_ends(log) for log in output.logs))
    yield output


def _ends(log: Log) -> Log:
    if log.size <= 2 * (_HEAD + _TAIL):
        return log
    tail = log.read(log.size - _TAIL, log.size)
    return Log(log.read(0, _HEAD) + b"\n" + tail[tail.find(b"\n") + 1 :])
