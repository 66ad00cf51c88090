"""What a weakened proof is, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

KINDS = {
    "test-deleted": "a test is gone",
    "case-deleted": "a test has fewer rows of parameters",
    "test-commented-out": "a test stands in a comment",
    "test-skipped": "a test that ran is left out",
    "only-added": "the other tests do not run any more",
    "assertion-removed": "a test that is still there asserts less",
    "assertion-loosened": "an assertion lets more through",
    "retries-raised": "a test may fail more often",
    "timeout-raised": "a test may take longer",
    "threshold-lowered": "coverage or lint ask for less",
    "suite-narrowed": "a runner or a node looks at fewer tests",
    "ci-weakened": "CI or a script runs less, or hides what is red",
}


@dataclass(frozen=True)
class Finding:
    """One weakening. `line` lies in the file as it is now, or, when `gone`, in the base; 0 when it cannot be told.

    `test` is the name of the test that it is about. `more` counts further tests that the same line is about. One that
    is not `sure` could be harmless, and nothing in the source can tell: it is a warning.
    """

    kind: str
    file: str
    line: int
    before: str
    after: str
    test: str = ""
    gone: bool = False
    more: tuple[str, ...] = ()
    sure: bool = True

    @property
    def tests(self) -> tuple[str, ...]:
        """Return the names of all tests that it is about."""
        return (*([self.test] if self.test else []), *self.more)


@dataclass(frozen=True)
class Change:
    """A file that differs from the base; None for a side on which it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


Direction = Literal["higher", "lower", "fewer", "more", "true", "false"]


@dataclass(frozen=True)
class Fact:
    """A setting of which one direction is the stricter one.

    `higher` and `lower` hold for numbers, `fewer` and `more` for sets of words, `true` and `false` for switches: the
    word says what is stricter. `default` is what holds when the setting is absent; None: nothing does.
    """

    kind: str
    name: str
    value: float | bool | tuple[str, ...]
    line: int
    stricter: Direction
    default: float | bool | None = None
    lines: tuple[int, ...] = ()


def grouped(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with those that one line causes for several tests as one."""
    found: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        key = (one.kind, one.file, one.line, one.before, one.after, one.gone, one.sure)
        first = found.get(key)
        if first is None:
            found[key] = one
        elif one.test and one.test not in first.tests:
            found[key] = Finding(
                first.kind, first.file, first.line, first.before, first.after, first.test, first.gone,
                (*first.more, one.test), first.sure,
            )  # fmt: skip
    return sorted(found.values(), key=lambda one: (one.file, one.gone, one.line, one.kind))
