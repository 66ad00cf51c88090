"""Output and reports of one run, joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.verify.junit import JUnitCase, JUnitReading
from morph_tasks.verify.runners.model import Reading
from morph_tasks.verify.runners.read import join_junit, read_output

GREEN = "==== 2 passed in 0.10s ====\n"
HEAD = "============================= test session starts ====\n"


def reports(
    passed: int = 2, failed: int = 0, skipped: int = 0, *, errors: tuple[str, ...] = (), flaky: bool = False
) -> JUnitReading:
    cases = tuple(
        JUnitCase(
            f"t::{status}{number}", "t", "", "a.py", 3, status, "boom\nmore" if status == "failed" else "", 0.1, flaky
        )
        for status, many in (("passed", passed), ("failed", failed), ("skipped", skipped))
        for number in range(many)
    )
    counts = {"passed": passed, "failed": failed, "errors": 0, "skipped": skipped, "xfailed": 0, "total": len(cases)}
    return JUnitReading(cases, counts, errors, (), (Path("a.xml"),))


def text(said: str, code: int | None) -> Reading:
    return read_output("pytest", said.encode(), exit_code=code)


@pytest.mark.parametrize(
    ("said", "code", "junit", "wanted"),
    [
        ("..  [100%]\n", 0, reports(), ("pass", None, 2)),
        (HEAD + GREEN, 0, reports(), ("pass", None, 2)),
        (HEAD + GREEN, 0, reports(1, 1), ("fail", "inconsistent-exit", 2)),
        (HEAD + GREEN, 1, reports(1, 1), ("fail", "tests-failed", 2)),
        (HEAD + GREEN, 1, reports(), ("fail", "inconsistent-exit", 2)),
        ("", 1, reports(), ("fail", "inconsistent-exit", 2)),
        (HEAD + "==== 1 failed in 0.10s ====\n", 0, reports(), ("fail", "inconsistent-exit", 2)),
        (HEAD + "INTERNALERROR> x\n", 3, reports(), ("fail", "crashed", 2)),
        (HEAD + GREEN, -9, reports(), ("fail", "signal", 2)),
        (HEAD, 0, reports(), ("fail", "incomplete", 2)),
        (HEAD + GREEN, 0, reports(0, 0, 3), ("no-tests", "all-skipped", 0)),
        (HEAD + GREEN, 0, reports(errors=("s: beforeAll failed",)), ("fail", "suite-failed", 2)),
        ("", 5, reports(0), ("no-tests", "no-tests", 0)),
    ],
)
def test_the_worse_of_output_and_report_wins(
    said: str, code: int, junit: JUnitReading, wanted: tuple[str, str | None, int]
) -> None:
    got = join_junit(text(said, code), junit, code)
    assert (got.verdict, got.reason, got.executed) == wanted
    assert got.message


def test_without_a_fresh_report_the_output_speaks() -> None:
    got = join_junit(text(HEAD + GREEN, 0), JUnitReading(stale=(Path("old.xml"),)), 0)
    assert (got.verdict, got.executed) == ("pass", 2)
    assert got.warnings == ("no report of this run was found; 1 older than the run",)


def test_a_report_that_is_not_whole_is_never_green() -> None:
    broken = JUnitReading(unreadable=("a.xml: cut",), files=(Path("a.xml"),))
    got = join_junit(text(HEAD + GREEN, 0), broken, 0)
    assert (got.verdict, got.reason, got.complete) == ("fail", "report-unreadable", False)
    assert join_junit(text(HEAD + GREEN, -9), broken, -9).reason == "signal"


def test_numbers_that_differ_are_said_and_failed_tests_named() -> None:
    got = join_junit(text(HEAD + GREEN, 0), reports(3, flaky=True), 0)
    assert got.flaky and got.executed == 3
    assert "the reports hold 3 executed tests, the output says 2" in got.warnings
    red = join_junit(text(HEAD + GREEN, 1), reports(1, 1), 1)
    assert red.extra["failed_tests"] == [{"id": "t::failed0", "file": "a.py", "line": 3, "message": "boom"}]
