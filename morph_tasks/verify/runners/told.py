"""What the readers of names share: a test as an output tells it, JSON documents inside of a log, times behind names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from morph_tasks.verify.runners.model import TestResult
from morph_tasks.verify.runners.text import Log

Status = Literal["passed", "failed", "skipped", "flaky"]

# The marks that trees of tests are drawn with.
MARKS: dict[str, Status] = {
    "✓": "passed", "✔": "passed", "√": "passed", "×": "failed", "✗": "failed", "✕": "failed", "✖": "failed",
    "✘": "failed", "⨯": "failed", "↓": "skipped", "□": "skipped", "○": "skipped", "✎": "skipped", "﹣": "skipped",
    "⚠": "skipped", "↩": "skipped", "∅": "skipped", "☢": "passed", "…": "skipped",
}  # fmt: skip
_TIME = re.compile(r" +\(?\d+(?:[.,]\d+)? ?(?:[mµn]?s|ms|m)\)?$")
_BRACKETED_TIME = re.compile(r" +[(\[]<? ?\d+(?:[.,]\d+)? ?(?:[mµn]?s|ms|m)[)\]]$")
_LARGEST = 1 << 28
_DOCUMENTS = 64


@dataclass(frozen=True)
class Told:
    """One test as an output tells it. `of` keeps equal names of different projects, packages and binaries apart.

    `test` None says that tests ran which the output does not name.
    """

    test: TestResult | None
    of: str = ""


UNNAMED = Told(None)


def told(name: str, status: Status, file: str | None = None, line: int | None = None, of: str = "") -> Told:
    """Return a test; `name` is suites and title joined by ` > `."""
    return Told(TestResult(name, status, file, line), of)


def joined(parts: Iterator[str] | list[str]) -> str:
    """Return the name of a test from its suites and its title."""
    return " > ".join(part for part in parts if part)


def without_time(name: str, bracketed: bool = False) -> str:
    """Return a name without the time behind it; `bracketed`: only a time in brackets is one."""
    return (_BRACKETED_TIME if bracketed else _TIME).sub("", name)


def documents(log: Log, anchor: re.Pattern[bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects that hold an anchor, on one line or drawn out over many; one that is cut off is none."""
    at = log.find(anchor)
    if at is None:
        return
    text = log.read(0, min(log.size, _LARGEST)).decode("utf-8", "replace")
    again = re.compile(anchor.pattern.decode())
    decoder, done = json.JSONDecoder(strict=False), 0
    for _ in range(_DOCUMENTS):
        hit = again.search(text, done)
        if hit is None:
            return
        begin = _beginning(text, hit.start(), done)
        try:
            found, done = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            done = hit.end()
            continue
        done = max(done, hit.end())
        if isinstance(found, dict):
            yield found


def _beginning(text: str, at: int, floor: int) -> int:
    """Return where the object around an offset may begin: on its line, or at the last brace alone on a line."""
    line = text.rfind("\n", floor, at) + 1 or floor
    brace = text.find("{", line, at)
    alone = text.rfind("\n{", floor, at)
    first_char = text[line : line + 1]
    if brace >= 0 and first_char not in (" ", "\t", "}"):
        return brace
    return alone + 1 if alone >= 0 else text.find("{", floor)
