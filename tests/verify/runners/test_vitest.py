"""Vitest, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

RUN = "\n RUN  v3.2.4 /shop\n\n"


def block(files: str, tests: str, errors: str = "") -> str:
    more = f"     Errors  {errors}\n" if errors else ""
    return f"\n Test Files  {files}\n      Tests  {tests}\n{more}   Start at  10:00:00\n   Duration  1.20s (transform 80ms)\n"


ERASE = "\x1b[2K\x1b[1A\x1b[2K\x1b[1A"
CASES: list[Any] = [
    pytest.param(
        RUN + block("1 passed (1)", "1 passed (1)").replace("   Start", "Type Errors  2 errors\n   Start"),
        1,
        "fail",
        {"reason": "type-errors"},
        id="type errors",
    ),
    pytest.param(
        block("1 passed (3)", "2 passed (2)") + ERASE + block("3 passed (3)", "6 passed (6)"),
        0,
        "pass",
        {"counts": {"passed": 6}},
        id="redrawn, its head scrolled away",
    ),
    pytest.param(
        RUN + " ✓ a.test.ts > wobbles 9ms (retry x1)\n" + block("1 passed (1)", "1 passed (1)"),
        0,
        "pass",
        {"flaky": True},
        id="passed on a retry",
    ),
    pytest.param(
        "TAP version 13\n1..1\nok 1 - a.test.ts # time=2.79ms {\n    1..1\n    ok 1 - two\n}\n",
        0,
        "unknown",
        {"counts": None},
        id="the tap reporter",
    ),
    pytest.param(
        RUN + block("1 passed (1)", "5 passed (5)", "1 error"),
        1,
        "fail",
        {"reason": "unhandled-error", "complete": False},
        id="unhandled error",
    ),
    pytest.param(
        RUN + block("1 passed (1)", "5 passed (5)", "2 errors"),
        0,
        "fail",
        {"reason": "unhandled-error", "inconsistent_exit": True},
        id="unhandled errors, exit 0",
    ),
    pytest.param(
        RUN + "      Tests  9 failed (9)\n" + block("1 passed (1)", "5 passed (5)"),
        0,
        "pass",
        {"counts": {"passed": 5, "failed": 0}},
        id="echoed line",
    ),
    pytest.param(
        RUN + block("9 passed (9)", "99 passed (99)") + block("1 passed (1)", "5 passed (5)"),
        0,
        "pass",
        {"counts": {"passed": 5}},
        id="echoed block in one run",
    ),
    pytest.param(
        RUN + block("1 failed (1)", "1 failed (1)") + RUN + block("1 passed (1)", "5 passed (5)"),
        0,
        "fail",
        {"counts": {"passed": 5, "failed": 1}},
        id="two runs, the first red",
    ),
    pytest.param(
        RUN + block("1 failed | 1 passed (2)", "5 passed (5)"),
        1,
        "fail",
        {"reason": "suite-failed", "complete": False},
        id="a file that did not load",
    ),
    pytest.param(
        RUN + block("2 passed (2)", "3 passed | 2 expected fail (5)"),
        0,
        "pass",
        {"executed": 5, "counts": {"xfailed": 2}},
        id="expected fail",
    ),
    pytest.param(RUN + block("1 skipped (1)", "3 todo (3)"), 0, "no-tests", {"executed": 0}, id="only todo"),
    pytest.param(RUN + " ✓ a.test.ts (3 tests) 3ms\n", 0, "fail", {"reason": "incomplete"}, id="cut off"),
    pytest.param(
        RUN + "\nNo test files found, exiting with code 0\n", 0, "no-tests", {"counts": None}, id="passWithNoTests"
    ),
    pytest.param(
        RUN
        + block("2 passed (2)", "3 passed (3)")
        + "ERROR: Coverage for lines (50%) does not meet global threshold (90%)\n",
        1,
        "fail",
        {"reason": "coverage-threshold"},
        id="coverage",
    ),
    pytest.param(
        RUN
        + block("2 passed (2)", "3 passed (3)")
        .replace("      Tests  3", "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m3")
        .replace("3 passed", "3 passed\x1b[39m\x1b[22m"),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="colours inside the line",
    ),
    pytest.param(
        RUN
        + block("2 passed (2)", "3 passed (3)")
        .replace("      Tests  3", "[2m      Tests [22m [1m[32m3")
        .replace("3 passed", "3 passed[39m[22m"),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="colours without their escape",
    ),
    pytest.param(
        "".join(f"web:test: {line}\n" for line in (RUN + block("2 passed (2)", "3 passed (3)")).split("\n")),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="task prefix",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("vitest", text, code, verdict, **want)
