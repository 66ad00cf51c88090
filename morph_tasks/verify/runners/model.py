"""What is found in an output, what is concluded from it, and what every runner module offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from morph_tasks.verify.runners.text import Log

if TYPE_CHECKING:
    from morph_tasks.verify.runners.told import Told

Verdict = Literal["pass", "fail", "no-tests", "unknown"]


@dataclass(frozen=True)
class Output:
    """The streams of one run, and the number of direct calls of the runner in the command (None: not known)."""

    logs: tuple[Log, ...]
    calls: int | None = None
    exit_code: int | None = None
    command: str = ""


@dataclass(frozen=True)
class Found:
    """What one runner's reader saw.

    `evidence`: 0 nothing, 1 a hint, 2 the start of a run, 3 a summary; `at` is where (bytes) in which `stream`.
    `counts` None means not readable; `executed` None means that the tests that ran cannot be told.
    `problem` is a code for what no count shows (a suite that did not load, an unhandled error).
    """

    evidence: int = 0
    at: int = 0
    stream: int = 0
    counts: Mapping[str, int] | None = None
    executed: int | None = None
    complete: bool = True
    empty: bool = False
    green: bool = False
    problem: str | None = None
    detail: str = ""
    flaky: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The verdict on one run of a test runner.

    `counts` None is not measurable, never zero; `executed` is the number of tests that really ran.
    `reason` is a stable code, None for a plain pass.
    """

    runner: str
    verdict: Verdict
    counts: Mapping[str, int] | None
    executed: int | None
    complete: bool
    reason: str | None
    message: str
    warnings: tuple[str, ...] = ()
    flaky: bool = False
    inconsistent_exit: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the document that `suite read --json` prints."""
        return {
            "runner": self.runner,
            "verdict": self.verdict,
            "counts": dict(self.counts) if self.counts is not None else None,
            "executed": self.executed,
            "complete": self.complete,
            "incomplete": not self.complete,
            "reason": self.reason,
            "message": self.message,
            "inconsistent_exit": self.inconsistent_exit,
            "flaky": self.flaky,
            "warnings": list(self.warnings),
            **self.extra,
        }


@dataclass(frozen=True)
class Failure:
    """One failed test as the plain output tells it; `line` is 1-based."""

    id: str
    file: str | None = None
    line: int | None = None
    message: str = ""

    def where(self) -> str:
        """Return `file:line id` as far as it is known."""
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file or ""
        return self.id if not place or self.id.startswith(place) else f"{place} {self.id}"

    def first_line(self) -> str:
        """Return the first line of the message that says something."""
        return next((line.strip() for line in self.message.splitlines() if line.strip()), "")


@dataclass(frozen=True)
class TestResult:
    """One test that a run names; `scenarios` as `verify.scenarios.tags.tags` returns them, `line` is 1-based.

    A test that passed only after a failure is `flaky`.
    """

    name: str
    status: Literal["passed", "failed", "skipped", "flaky"]
    file: str | None = None
    line: int | None = None
    scenarios: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the test as evidence keeps it."""
        return {
            "name": self.name,
            "status": self.status,
            "file": self.file,
            "line": self.line,
            "scenarios": list(self.scenarios),
        }


class Runner(Protocol):
    """What a runner module holds. `SUMMARY` and `ZERO` are the words of the documentation."""

    ALIASES: tuple[str, ...]
    SUMMARY: str
    ZERO: str
    EXITS: Mapping[int, str]

    def read(self, output: Output) -> Found:
        """Return what the output says."""
        ...

    def failures(self, text: str) -> Sequence[Failure]:
        """Return the failed tests that a plain output names."""
        ...

    def results(self, log: Log) -> Iterable[Told]:
        """Return the tests that an output names, in order; one that is tried again comes again."""
        ...
