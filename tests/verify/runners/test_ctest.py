"""CTest, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

HEAD = "Test project /build\n"
CASES: list[Any] = [
    pytest.param(
        HEAD
        + "1: 100% tests passed, 0 tests failed out of 99\n50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - bad (Failed)\nErrors while running CTest\n",
        8,
        "fail",
        {"counts": {"passed": 1, "failed": 1, "total": 2}},
        id="an echo under -V",
    ),
    pytest.param(
        HEAD
        + "100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.01 sec\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n\t  3 - c (Disabled)\n",
        0,
        "pass",
        {"counts": {"passed": 1, "skipped": 1, "disabled": 1}, "executed": 1},
        id="skipped and disabled",
    ),
    pytest.param(
        HEAD + "100% tests passed, 0 tests failed out of 2\n" + HEAD + "0% tests passed, 1 tests failed out of 1\n",
        8,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="chained",
    ),
    pytest.param(HEAD + "No tests were found!!!\n", 8, "no-tests", {}, id="nothing found, with --no-tests=error"),
    pytest.param(
        HEAD + "    Start 1: a\n1/3 Test #1: a ....   Passed    0.00 sec\n    Start 2: b\n",
        -9,
        "fail",
        {"counts": None, "complete": False},
        id="killed",
    ),
    pytest.param(
        HEAD
        + "    Start 1: a\n    Test #1: a ......***Failed    0.00 sec\n    Start 1: a\n1/1 Test #1: a ......   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n",
        0,
        "pass",
        {"flaky": True},
        id="passed when repeated",
    ),
    pytest.param(
        HEAD + "50% tests passed, 1 tests failed out of 2\n", 0, "fail", {"inconsistent_exit": True}, id="red, exit 0"
    ),
    pytest.param("", 8, "fail", {"reason": "tests-failed", "counts": None}, id="quiet and red"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("ctest", text, code, verdict, **want)
