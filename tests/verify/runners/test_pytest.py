"""pytest, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

HEAD = "============================= test session starts ==============================\n"
FENCE = "============================== {} ==============================\n"


def footer(text: str) -> str:
    return FENCE.format(text)


CASES: list[Any] = [
    pytest.param(
        HEAD + footer("3 passed in 0.10s").replace("3 passed", "\x1b[32m\x1b[1m3 passed\x1b[0m"),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="nested colours",
    ),
    pytest.param("3 passed in 0.10 seconds\n", 0, "pass", {"counts": {"passed": 3}}, id="old quiet"),
    pytest.param(
        HEAD + "=== 9 failed in 1.00s ===x\n9 failed in 0.1s\n" + footer("2 passed in 0.10s"),
        0,
        "pass",
        {"counts": {"passed": 2, "failed": 0}},
        id="echo is not a whole line or not fenced",
    ),
    pytest.param("INFO 2 passed in 0.10s\n", 0, "unknown", {"counts": None}, id="inside a line of a log"),
    pytest.param(
        HEAD + footer("1 failed in 0.10s") + HEAD + footer("5 passed in 0.10s"),
        0,
        "fail",
        {"counts": {"passed": 5, "failed": 1}, "reason": "inconsistent-exit", "inconsistent_exit": True},
        id="an earlier red run does not vanish",
    ),
    pytest.param(HEAD + "test_a.py ..\n", 1, "fail", {"complete": False, "counts": None}, id="no footer"),
    pytest.param(HEAD + "test_a.py ..\n", 0, "fail", {"reason": "incomplete"}, id="no footer and exit 0"),
    pytest.param(
        HEAD + footer("2 skipped in 0.10s"), 0, "no-tests", {"reason": "all-skipped", "executed": 0}, id="all skipped"
    ),
    pytest.param(HEAD + footer("3 deselected in 0.10s"), 5, "no-tests", {"executed": 0}, id="all deselected"),
    pytest.param(HEAD + footer("no tests ran in 0.01s"), 0, "no-tests", {}, id="no tests and exit 0"),
    pytest.param("", 5, "no-tests", {"counts": None}, id="only the exit code says no tests"),
    pytest.param(
        HEAD + footer("1 passed, 3 warnings, 2 errors in 61.20s (0:01:01)"),
        1,
        "fail",
        {"counts": {"passed": 1, "errors": 2, "warnings": 3}},
        id="long run, errors",
    ),
    pytest.param(
        HEAD + "INTERNALERROR> Traceback\n" + footer("no tests ran in 0.01s"),
        3,
        "fail",
        {"reason": "crashed"},
        id="internal error",
    ),
    pytest.param(
        HEAD + "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%\n" + footer("4 passed in 0.10s"),
        1,
        "fail",
        {"reason": "coverage-threshold", "counts": {"passed": 4}},
        id="coverage threshold",
    ),
    pytest.param(
        HEAD + footer("4 passed in 0.10s"),
        1,
        "fail",
        {"reason": "inconsistent-exit", "inconsistent_exit": True},
        id="green text, red exit",
    ),
    pytest.param(
        HEAD + footer("2 passed, 1 rerun in 0.10s"),
        0,
        "pass",
        {"flaky": True, "flaky_hint": True},
        id="green after a rerun",
    ),
    pytest.param(
        HEAD + "!!!!!!!!! KeyboardInterrupt !!!!!!!!!\n" + footer("2 passed in 0.10s"),
        2,
        "fail",
        {"reason": "interrupted", "complete": False},
        id="interrupted",
    ),
    pytest.param(
        HEAD + footer("1 failed, 2 passed, 1 subtests passed in 0.10s"),
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1, "subtests_passed": 1}},
        id="subtests",
    ),
    pytest.param(
        HEAD + footer("5/9 tests collected (4 deselected) in 0.10s"), 0, "no-tests", {"executed": 0}, id="collect-only"
    ),
    pytest.param(
        "Test session starts (platform: linux, Python 3.12.1, pytest 8.3.4, pytest-sugar 1.0.0)\n\nResults (0.12s):\n       2 passed\n       1 failed\n         - test_a.py:3 test_bad\n",
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="sugar",
    ),
    pytest.param(
        HEAD + HEAD + footer("1 passed in 0.10s") + footer("7 passed in 0.50s"),
        0,
        "pass",
        {"counts": {"passed": 7}},
        id="a nested session is not counted",
    ),
    pytest.param(
        HEAD + HEAD + footer("1 passed in 0.10s"),
        0,
        "fail",
        {"reason": "incomplete"},
        id="the outer session never ended",
    ),
    pytest.param(
        HEAD + "Fatal Python error: Segmentation fault\n\nCurrent thread\n",
        139,
        "fail",
        {"reason": "signal", "counts": None},
        id="segmentation fault",
    ),
    pytest.param(
        "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --bogus\n",
        4,
        "fail",
        {"reason": "usage-error"},
        id="usage",
    ),
    pytest.param(
        "......                                                                   [100%]\n6 passed in 0.02s\n..F                                                                      [100%]\n=== FAILURES ===\n6 passed in 0.02s\nFAILED test_a.py::test_x\n1 failed, 2 passed in 0.02s\n",
        1,
        "fail",
        {"counts": {"passed": 8, "failed": 1}},
        id="two quiet runs, an echo in the second",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("pytest", text, code, verdict, **want)


def test_a_command_of_one_call_has_one_footer(check: Any) -> None:
    text = HEAD + footer("9 failed in 0.10s") + HEAD + footer("4 passed in 0.10s")
    check("auto", text, 0, "pass", command="FOO=1 poetry run pytest -x tests", counts={"passed": 4, "failed": 0})
    check("auto", text, 0, "fail", command="pytest a; pytest b", counts={"passed": 4, "failed": 9})


@pytest.mark.parametrize(
    ("lines", "executed", "distinct"),
    [
        ("__ ERROR at setup of test_a __\n__ ERROR at teardown of test_b __\n", 4, 4),
        ("__ ERROR at setup of test_a __\n__ ERROR at setup of test_b __\n", 5, 5),
        ("PASSED t.py::test_b\nERROR t.py::test_a - x\nERROR t.py::test_b - y\n", 4, 4),
        ("ERROR t.py\nERROR u.py\n", 3, 3),
    ],
)
def test_a_teardown_error_is_no_further_test(check: Any, lines: str, executed: int, distinct: int) -> None:
    check(
        "pytest",
        HEAD + lines + footer("3 passed, 2 errors in 0.10s"),
        1,
        "fail",
        executed=executed,
        distinct_tests=distinct,
    )
