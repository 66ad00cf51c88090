"""Gradle, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

OK, BAD = "\nBUILD SUCCESSFUL in 3s\n", "\nBUILD FAILED in 3s\n"
CASES: list[Any] = [
    pytest.param("> Task :test\n" + OK, 0, "unknown", {"counts": None}, id="a plain green run has no counts"),
    pytest.param(
        "> Task :test FAILED\n\nSumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at SumTest.java:12\n\n5 tests completed, 1 failed, 1 skipped\n\n* What went wrong:\nExecution failed for task ':test'.\n"
        + BAD,
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1, "skipped": 1}},
        id="red",
    ),
    pytest.param(
        "> Task :test FAILED\n5 tests completed, 1 failed\n" + OK,
        0,
        "fail",
        {"inconsistent_exit": True},
        id="ignoreFailures",
    ),
    pytest.param("> Task :test NO-SOURCE\n" + OK, 0, "no-tests", {}, id="no source"),
    pytest.param(
        "> Task :compileTestJava UP-TO-DATE\n> Task :test UP-TO-DATE\n" + OK,
        0,
        "unknown",
        {"counts": None},
        id="up to date",
    ),
    pytest.param(
        "* What went wrong:\nExecution failed for task ':compileTestJava'.\n" + BAD,
        1,
        "fail",
        {"reason": "build-failed"},
        id="does not compile",
    ),
    pytest.param(
        "* What went wrong:\nExecution failed for task ':test'.\n> No tests found for given includes: [x](--tests filter)\n"
        + BAD,
        1,
        "no-tests",
        {},
        id="filter without match",
    ),
    pytest.param(
        "> Task :test\n\nSumTest > adds() PASSED\n\nSumTest > later() SKIPPED\n" + OK,
        0,
        "pass",
        {"counts": {"passed": 1, "skipped": 1}},
        id="events",
    ),
    pytest.param(
        "Results: SUCCESS (5 tests, 4 passed, 0 failed, 1 skipped)\n" + OK,
        0,
        "pass",
        {"counts": {"passed": 4, "skipped": 1}},
        id="a common summary of build scripts",
    ),
    pytest.param("> Task :test\n", 143, "fail", {"complete": False}, id="killed"),
    pytest.param(
        "> Task :test FAILED\nProcess 'Gradle Test Executor 1' finished with non-zero exit value 134\n" + BAD,
        1,
        "fail",
        {"reason": "crashed"},
        id="test process died",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("gradle", text, code, verdict, **want)
