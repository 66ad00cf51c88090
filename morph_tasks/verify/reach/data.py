"""The data that coverage.py leaves, an SQLite file: which lines of a file ran in which context."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

# Lines as one number: bit n is line n.
Bits = int
Lines = dict[str, dict[str, Bits]]  # path as coverage wrote it: context: lines; "" is code that ran outside of a test

_MAGIC = b"SQLite format 3\0"
_LARGEST = 1 << 30
_OF_LINES = """select path, context, numbits from line_bits
    join file on file.id = file_id left join context on context.id = context_id"""
_OF_BRANCHES = """select path, context, fromno, tono from arc
    join file on file.id = file_id left join context on context.id = context_id"""
_PHASE = re.compile(r"\|(?:setup|run|teardown)$")


class UnreadableError(Exception):
    """A data file that cannot be read, and why."""


def is_data(path: Path) -> bool:
    """Tell whether a file is an SQLite database of a size that is worth reading."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC and path.stat().st_size <= _LARGEST
    except OSError:
        return False


def read_data(path: Path) -> Lines:
    """Return the lines that ran; the phases of one pytest test are one context. Raises UnreadableError."""
    found: Lines = {}
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as data:
            for (name,) in data.execute("select path from file"):
                found[str(name)] = {}
            for name, context, bits in _rows(data):
                ran, core = found.setdefault(name, {}), _PHASE.sub("", context)
                ran[core] = ran.get(core, 0) | bits
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise UnreadableError(f"{path.name} is no data of coverage.py 5 or newer ({error})") from None
    return found


def _rows(data: sqlite3.Connection) -> Iterator[tuple[str, str, Bits]]:
    """Yield file, context and lines, from a run with branches and from one without."""
    for path, context, numbits in data.execute(_OF_LINES):
        yield str(path), str(context or ""), int.from_bytes(numbits, "little")
    for path, context, start, end in data.execute(_OF_BRANCHES):
        # Below zero is the entry into a function, or the way out of it.
        yield str(path), str(context or ""), sum({1 << line for line in (start, end) if 0 < line < 1 << 20})


def ranged(first: int, last: int) -> Bits:
    """Return the lines from one to another, both included."""
    return ((1 << (last - first + 1)) - 1) << first if last >= first else 0
