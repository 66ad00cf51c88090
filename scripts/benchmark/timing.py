"""Run a command and say what it cost; compare two by interleaved pairs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


class NotAvailable(Exception):
    """The command of a row does not exist here, or did not do what the row measures; the text says which."""


@dataclass(frozen=True)
class Cost:
    """What one or more processes took, children included: seconds of the wall, seconds of CPU, the peak in MiB."""

    wall: float
    cpu: float
    peak: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))


@dataclass(frozen=True)
class Pairs:
    """Medians of the interleaved runs of a subject and its floor; `ratio` is the median of the pairs' ratios."""

    subject: Cost
    floor: Cost
    ratio: float


@dataclass(frozen=True)
class Shell:
    """Where commands run, and with which environment."""

    cwd: Path
    env: Mapping[str, str]

    def cost(self, *argv: str, ok: Sequence[int] = (0,), stdin: bytes = b"") -> Cost:
        """Run to the end; raises NotAvailable for another exit code than those in `ok`."""
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            began = time.perf_counter()
            try:
                process = subprocess.Popen(argv, cwd=self.cwd, env=self.env, stdin=given, stdout=said, stderr=said)
            except FileNotFoundError:
                raise NotAvailable(f"{argv[0]} is not on the PATH") from None
            # Not `communicate`: the usage of exactly this child is wanted, and its output must not be read meanwhile.
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in ok:
                said.seek(0)
                raise NotAvailable(f"`{_shown(argv)}` ended with {process.returncode}: {_last_line(said.read())}")
        unit = 1024 * 1024 if sys.platform == "darwin" else 1024
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)

    def output(self, *argv: str) -> str:
        """Return what a command prints on stdout; raises NotAvailable when it fails."""
        try:
            done = subprocess.run(argv, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL, capture_output=True)
        except FileNotFoundError:
            raise NotAvailable(f"{argv[0]} is not on the PATH") from None
        if done.returncode:
            why = _last_line(done.stderr or done.stdout)
            raise NotAvailable(f"`{_shown(argv)}` ended with {done.returncode}: {why}")
        return done.stdout.decode("utf-8", "replace")


def compare(subject: Callable[[], Cost], floor: Callable[[], Cost], pairs: int) -> Pairs:
    """Run both once to warm up, then in turn; every other pair starts with the floor."""
    subject()
    floor()
    costs: list[tuple[Cost, Cost]] = []
    for turn in range(pairs):
        if turn % 2:
            below = floor()
            costs.append((subject(), below))
        else:
            above = subject()
            costs.append((above, floor()))
    return Pairs(
        _medians([above for above, _ in costs]),
        _medians([below for _, below in costs]),
        median(above.wall / below.wall for above, below in costs),
    )


def alone(subject: Callable[[], Cost], times: int) -> Cost:
    """Return the medians of a command that is held to a number instead of a floor."""
    subject()
    return _medians([subject() for _ in range(times)])


def _medians(costs: Sequence[Cost]) -> Cost:
    return Cost(median(c.wall for c in costs), median(c.cpu for c in costs), median(c.peak for c in costs))


def _shown(argv: Sequence[str]) -> str:
    return " ".join(argv)[:80]


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    refused = [line for line in lines if line.startswith("error")]
    return (refused or lines)[-1][:160] if lines else "it said nothing"
