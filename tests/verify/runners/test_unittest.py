"""python -m unittest, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest

RULE = "-" * 70 + "\n"


def footer(ran: int, result: str) -> str:
    return f"{RULE}Ran {ran} tests in 0.001s\n\n{result}\n"


CASES: list[Any] = [
    pytest.param(
        "Ran 99 tests in 0.1s\n\nOK\n" + footer(6, "FAILED (failures=1, errors=1, skipped=1, expected failures=1)"),
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1, "errors": 1, "skipped": 1, "xfailed": 1}},
        id="an echo",
    ),
    pytest.param(
        footer(3, "OK") + footer(2, "OK (skipped=1)"), 0, "pass", {"counts": {"passed": 4, "skipped": 1}}, id="chained"
    ),
    pytest.param(
        footer(3, "FAILED (failures=1)") + footer(2, "OK"),
        0,
        "fail",
        {"inconsistent_exit": True},
        id="the first of two red",
    ),
    pytest.param(footer(0, "NO TESTS RAN"), 5, "no-tests", {"executed": 0}, id="no tests ran"),
    pytest.param(footer(0, "OK"), 0, "no-tests", {"executed": 0}, id="zero"),
    pytest.param(footer(3, "OK (skipped=3)"), 0, "no-tests", {"reason": "all-skipped"}, id="only skipped"),
    pytest.param(footer(0, "FAILED (errors=1)"), 1, "fail", {"counts": {"errors": 1}}, id="setUpClass"),
    pytest.param(
        footer(1, "FAILED (unexpected successes=1)"), 1, "fail", {"reason": "tests-failed"}, id="unexpected success"
    ),
    pytest.param(f"{RULE}Ran 3 tests in 0.001s\n", 0, "unknown", {"counts": None}, id="without its result"),
    pytest.param(
        "Found 3 test(s).\nSystem check identified no issues (0 silenced).\n...\n" + footer(3, "OK"),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="Django",
    ),
    pytest.param(footer(3, "\x1b[32mOK\x1b[0m"), 0, "pass", {"counts": {"passed": 3}}, id="colours"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("unittest", "", code, verdict, err=text, **want)
    check("unittest", text, code, verdict, **want)
