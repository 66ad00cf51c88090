"""Jest, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest


def block(suites: str, tests: str, end: str = "Ran all test suites.\n") -> str:
    return f"Test Suites: {suites}\nTests:       {tests}\nSnapshots:   0 total\nTime:        2.1 s\n{end}"


ERASE = "\x1b[2K\x1b[1A\x1b[2K\x1b[1A"
CASES: list[Any] = [
    pytest.param(
        "No tests found related to files changed since last commit.\n",
        0,
        "no-tests",
        {"counts": None},
        id="only changed",
    ),
    pytest.param(
        block("1 passed, 1 total", "2 passed, 2 total") + block("1 failed, 1 total", "1 failed, 1 total"),
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="chained",
    ),
    pytest.param(
        block("1 failed, 1 total", "1 failed, 1 total") + block("1 passed, 1 total", "2 passed, 2 total"),
        0,
        "fail",
        {"inconsistent_exit": True},
        id="the first of two red, exit 0",
    ),
    pytest.param(
        block("3 passed, 3 of 4 total", "90 passed, 90 total", "")
        + ERASE
        + block("4 passed, 4 total", "60 passed, 60 total", "")
        + ERASE
        + block("4 passed, 4 total", "60 passed, 60 total"),
        0,
        "pass",
        {"counts": {"passed": 60}},
        id="redrawn three times",
    ),
    pytest.param(
        block("1 passed, 1 total", "2 passed, 2 total", "")
        + "\nPASS b.test.js\n\n"
        + block("1 passed, 1 total", "3 passed, 3 total", ""),
        0,
        "pass",
        {"counts": {"passed": 5}},
        id="chained and silent",
    ),
    pytest.param(
        "Tests:       9 failed, 9 total\n" + block("1 passed, 1 total", "2 passed, 2 total"),
        0,
        "pass",
        {"counts": {"failed": 0}},
        id="echoed line",
    ),
    pytest.param(
        "log Tests:       9 failed, 9 total in the middle\n" + block("1 passed, 1 total", "2 passed, 2 total"),
        0,
        "pass",
        {"counts": {"failed": 0}},
        id="inside a line",
    ),
    pytest.param(
        block("1 failed, 1 passed, 2 total", "2 passed, 2 total"),
        0,
        "fail",
        {"reason": "suite-failed", "inconsistent_exit": True},
        id="a suite did not load, exit 0",
    ),
    pytest.param(block("0 total", "0 total"), 0, "no-tests", {"executed": 0}, id="nothing"),
    pytest.param(
        block("1 skipped, 0 of 1 total", "4 skipped, 4 total"),
        0,
        "no-tests",
        {"reason": "all-skipped"},
        id="only skipped",
    ),
    pytest.param(
        block("1 passed, 1 total", "2 passed, 2 total")
        + 'Jest: "global" coverage threshold for lines (90%) not met: 50%\n',
        1,
        "fail",
        {"reason": "coverage-threshold", "complete": True},
        id="coverage",
    ),
    pytest.param(
        block("1 passed, 1 of 3 total", "2 passed, 2 total", "Test run was interrupted.\n"),
        1,
        "fail",
        {"reason": "interrupted", "complete": False},
        id="interrupted",
    ),
    pytest.param("PASS a.test.js\n", 1, "fail", {"counts": None, "complete": False}, id="no summary"),
    pytest.param(
        block("1 passed, 1 total", "1 todo, 2 passed, 3 total").replace("2 passed", "\x1b[32m2 passed\x1b[39m"),
        0,
        "pass",
        {"executed": 2, "counts": {"todo": 1}},
        id="colours, todo",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("jest", "", code, verdict, err=text, **want)
    check("jest", text, code, verdict, **want)


def test_what_a_test_writes_to_stdout_is_not_the_summary(check: Any) -> None:
    out, err = block("9 failed, 9 total", "99 failed, 99 total"), block("1 passed, 1 total", "2 passed, 2 total")
    check("jest", out, 0, "pass", err=err, counts={"passed": 2, "failed": 0})
