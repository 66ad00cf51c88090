"""bun test, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest


def block(passed: int, failed: int = 0, more: str = "") -> str:
    return f"\n {passed} pass\n{more} {failed} fail\n 3 expect() calls\nRan {passed + failed} tests across 2 files. [12.00ms]\n"


CASES: list[Any] = [
    pytest.param(
        "bun test v1.2.0 (abc)\n" + block(99) + block(3, 1),
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1}},
        id="an echo",
    ),
    pytest.param(
        "bun test v1.2.0 (abc)\n" + block(3) + "bun test v1.2.0 (abc)\n" + block(2),
        0,
        "pass",
        {"counts": {"passed": 5}},
        id="chained",
    ),
    pytest.param(
        "# Unhandled error between tests\n" + block(3, 1, " 1 error\n"),
        1,
        "fail",
        {"reason": "unhandled-error", "complete": False},
        id="error between tests",
    ),
    pytest.param(block(0), 0, "no-tests", {"executed": 0}, id="nothing"),
    pytest.param(
        "bun test v1.2.0 (abc)\n(fail) x\nRan 4 tests across 1 file. [4.00ms]\nBailed out after 1 failure\n",
        1,
        "fail",
        {"counts": None, "complete": False},
        id="bailed out",
    ),
    pytest.param(
        "\n\x1b[0m\x1b[32m 2 pass\x1b[0m\n\x1b[0m\x1b[2m 0 fail\x1b[0m\nRan 2 tests across 1 file. \x1b[0m\x1b[2m[\x1b[1m3.00ms\x1b[0m\x1b[2m]\x1b[0m\n",
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="colours",
    ),
    pytest.param(
        'error: regex "zzz" matched 0 tests. Searched 1 file (skipping 1 test) [3.00ms]\n',
        1,
        "no-tests",
        {},
        id="filter without match",
    ),
    pytest.param(block(3, 1), 0, "fail", {"inconsistent_exit": True}, id="red, exit 0"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("bun", text, code, verdict, **want)
