"""Karma, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest

CHROME = "Chrome Headless 120.0.0.0 (Linux x86_64): "
FIREFOX = "Firefox 121.0 (Ubuntu 0.0.0): "


def done(text: str, browser: str = CHROME, end: str = "\n") -> str:
    return f"{browser}Executed {text} (0.1 secs / 0.05 secs){end}"


CASES: list[Any] = [
    pytest.param(
        done("1 of 3 SUCCESS", end="\r") + done("2 of 3 (1 FAILED)", end="\r") + done("3 of 3 (1 FAILED)"),
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1}, "complete": True},
        id="redrawn with carriage returns",
    ),
    pytest.param(
        done("1 of 3 SUCCESS") + "\x1b[1A\x1b[2K" + done("3 of 3 SUCCESS") + "TOTAL: 3 SUCCESS\n",
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="redrawn with cursor moves",
    ),
    pytest.param(
        done("3 of 3 SUCCESS") + done("3 of 3 (1 FAILED)", FIREFOX),
        1,
        "fail",
        {"counts": {"passed": 5, "failed": 1}, "browsers": 2},
        id="two browsers",
    ),
    pytest.param(done("2 of 3 SUCCESS"), 0, "fail", {"complete": False}, id="cut off"),
    pytest.param(done("2 of 3 DISCONNECTED"), 1, "fail", {"reason": "crashed"}, id="browser lost"),
    pytest.param(done("0 of 0 ERROR"), 1, "no-tests", {"executed": 0}, id="nothing"),
    pytest.param(
        CHROME + "ERROR\n  Uncaught ReferenceError: x is not defined\n" + done("0 of 0 ERROR"),
        1,
        "fail",
        {"reason": "unhandled-error"},
        id="a file that throws",
    ),
    pytest.param(
        done("1 of 3 (skipped 2) SUCCESS"),
        0,
        "pass",
        {"counts": {"passed": 1, "skipped": 2}, "complete": True},
        id="skipped",
    ),
    pytest.param(
        "LOG: 'Executed 99 of 99 SUCCESS'\n" + done("3 of 3 SUCCESS"),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="an echo",
    ),
    pytest.param(
        done("3 of 3 (1 FAILED)") + done("1 of 5 SUCCESS") + done("5 of 5 SUCCESS"),
        0,
        "fail",
        {"counts": {"passed": 7, "failed": 1}},
        id="chained, the first red",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("karma", text, code, verdict, **want)
