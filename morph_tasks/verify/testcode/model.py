"""Tests as their source shows them, whatever the language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assertion:
    """One assertion: its line from 1, its text on one line, and how strict it is (higher is stricter)."""

    line: int
    text: str
    strength: int


@dataclass(frozen=True)
class SourceTest:
    """One test in a source file.

    `name` is what a runner shows: suites and title joined by ` > ` (`Class > method` for Python). `scenarios` holds
    the ids as written (`C3`, `cart:C3`) of marks and of the name. `skipped` says how it is left out, `timeout` is in
    seconds.
    """

    name: str
    line: int
    end_line: int
    scenarios: tuple[str, ...] = ()
    skipped: str | None = None
    assertions: tuple[Assertion, ...] = ()
    timeout: float | None = None
    retries: int | None = None


@dataclass(frozen=True)
class TestSource:
    """The tests of one file. `readable` is False when the source does not parse."""

    path: str
    language: str
    tests: tuple[SourceTest, ...]
    readable: bool = True
