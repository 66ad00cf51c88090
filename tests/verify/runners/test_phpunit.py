"""PHPUnit and Pest, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

HEAD = "PHPUnit 11.4.1 by Sebastian Bergmann and contributors.\n\n"
TIME = "\nTime: 00:00.004, Memory: 6.00 MB\n\n"
CASES: list[Any] = [
    pytest.param(
        "OK (99 tests, 99 assertions)\n.\n" + TIME + "OK (3 tests, 5 assertions)\n",
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="an echo, the head cut off",
    ),
    pytest.param(
        HEAD + "OK (99 tests, 99 assertions)\n.\n" + TIME + "OK (3 tests, 5 assertions)\n",
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="an echo",
    ),
    pytest.param(HEAD + "..", 0, "fail", {"reason": "incomplete", "counts": None}, id="a test that called exit(0)"),
    pytest.param(
        HEAD + "..\nPHP Fatal error:  Uncaught Error in /a.php:3\n",
        255,
        "fail",
        {"reason": "crashed"},
        id="fatal error",
    ),
    pytest.param(
        HEAD + TIME + "OK, but some tests were skipped!\nTests: 2, Assertions: 0, Skipped: 2.\n",
        0,
        "no-tests",
        {"reason": "all-skipped"},
        id="only skipped",
    ),
    pytest.param(
        HEAD + TIME + "OK, but there were issues!\nTests: 2, Assertions: 1, Risky: 1.\n",
        1,
        "fail",
        {"reason": "issues-refused", "risky": 1},
        id="failOnRisky",
    ),
    pytest.param(
        HEAD + TIME + "ERRORS!\nTests: 5, Assertions: 4, Errors: 1, PHPUnit Deprecations: 2.\n",
        0,
        "fail",
        {"counts": {"errors": 1, "passed": 4}, "inconsistent_exit": True},
        id="red, exit 0",
    ),
    pytest.param(HEAD + "No tests executed!\n", 1, "no-tests", {"executed": 0}, id="failOnEmptyTestSuite"),
    pytest.param(
        HEAD
        + TIME
        + "OK (3 tests, 5 assertions)\n"
        + HEAD
        + TIME
        + "FAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n",
        1,
        "fail",
        {"counts": {"total": 5, "failed": 1, "passed": 4}},
        id="chained",
    ),
    pytest.param(
        HEAD
        + TIME
        + "\x1b[30;43mOK, but there were issues!\x1b[0m\n\x1b[30;43mTests: 6\x1b[0m\x1b[30;43m, Assertions: 9\x1b[0m\x1b[30;43m, Risky: 1\x1b[0m\x1b[30;43m.\x1b[0m\n",
        0,
        "pass",
        {"counts": {"passed": 6}},
        id="colours",
    ),
    pytest.param(
        "\n  Tests:    1 failed, 1 skipped, 5 passed (10 assertions)\n  Duration: 0.12s\n",
        1,
        "fail",
        {"counts": {"passed": 5, "failed": 1, "skipped": 1}},
        id="Pest",
    ),
    pytest.param(HEAD + 'Unknown option "--bogus"\n', 1, "fail", {"reason": "usage-error"}, id="usage"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("phpunit", text, code, verdict, **want)
