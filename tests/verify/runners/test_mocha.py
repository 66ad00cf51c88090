"""Mocha, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

CASES: list[Any] = [
    pytest.param(
        "\n  suite\n  99 passing (1s)\n    ✔ one\n\n\n  1 passing (5ms)\n\n",
        0,
        "pass",
        {"counts": {"passed": 1}},
        id="echo inside a suite",
    ),
    pytest.param(
        "\n  2 passing (1s)\n\n\n\n  1 passing (5ms)\n  1 failing\n\n  1) s\n",
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1}},
        id="chained",
    ),
    pytest.param(
        "\n  2 passing (1s)\n  386 failing\n\n",
        130,
        "fail",
        {"reason": "tests-failed", "counts": {"failed": 386}},
        id="exit code wrapped into a signal's",
    ),
    pytest.param("\n  2 passing (1s)\n\n", 130, "fail", {"reason": "signal"}, id="a real interrupt"),
    pytest.param("\n  2 passing (1s)\n  1 failing\n\n", 0, "fail", {"inconsistent_exit": True}, id="red, exit 0"),
    pytest.param("\n  0 passing (1ms)\n\n", 0, "no-tests", {"executed": 0}, id="zero"),
    pytest.param("\n  0 passing (1ms)\n  4 pending\n\n", 0, "no-tests", {"reason": "all-skipped"}, id="only pending"),
    pytest.param('Error: No test files found: "test"\n', 1, "no-tests", {"counts": None}, id="no files"),
    pytest.param(
        "\n Exception during run: SyntaxError: Unexpected token\n",
        1,
        "fail",
        {"reason": "suite-failed"},
        id="a file that does not load",
    ),
    pytest.param(
        "\x1b[0m\n\x1b[92m \x1b[0m\x1b[32m 12 passing\x1b[0m\x1b[90m (2m)\x1b[0m\n\x1b[36m \x1b[0m\x1b[36m 1 pending\x1b[0m\n\n",
        0,
        "pass",
        {"counts": {"passed": 12, "pending": 1, "skipped": 1}},
        id="colours",
    ),
    pytest.param("passing (5 of 6)\nnow 5 passing (1s) lines\n", 0, "unknown", {"counts": None}, id="inside a line"),
    pytest.param(
        '{\n  "stats": {\n    "suites": 1,\n    "tests": 3,\n    "passes": 2,\n    "pending": 0,\n    "failures": 1\n  }\n}\n',
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="json",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("mocha", text, code, verdict, **want)
