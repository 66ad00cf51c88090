"""Which runner wrote an output, told from its own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from morph_tasks.verify.runners.model import Found, Output
from morph_tasks.verify.runners.table import RUNNERS
from morph_tasks.verify.runners.text import Log

_HEAD, _TAIL = 1 << 16, 1 << 18
_STEPS = 2
# Its list of failures, of any length, comes after its summary.
_SUMMARY_FIRST = "mocha"


def detect(output: Output) -> str | None:
    """Return the runner with the best evidence, the latest summary deciding between equals; None when there is none."""
    for part in _samples(output):
        found = {name: runner.read(part) for name, runner in RUNNERS.items() if name != "none"}
        best = max(found, key=lambda name: _weight(found[name]))
        if found[best].evidence == _SUMMARY or (found[best].evidence and part is output):
            return best
    return _SUMMARY_FIRST if RUNNERS[_SUMMARY_FIRST].read(output).evidence == _SUMMARY else None


_SUMMARY = 3


def _weight(found: Found) -> tuple[int, bool, int, int]:
    return found.evidence, bool(found.executed), found.stream, found.at


def _samples(output: Output) -> Iterator[Output]:
    """Yield growing ends of the logs, the whole of short ones: summaries stand there, and every runner has to look."""
    for step in range(_STEPS):
        head, tail = _HEAD << 2 * step, _TAIL << 2 * step
        if all(log.size <= head + tail for log in output.logs):
            yield output
            return
        yield replace(output, logs=tuple(_ends(log, head, tail) for log in output.logs))


def _ends(log: Log, head: int, tail: int) -> Log:
    if log.size <= head + tail:
        return log
    last = log.read(log.size - tail, log.size)
    return Log(log.read(0, head) + b"\n" + last[last.find(b"\n") + 1 :])
