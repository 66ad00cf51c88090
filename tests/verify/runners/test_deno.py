"""deno test, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

RUN = "running 3 tests from ./a_test.ts\n"
CASES: list[Any] = [
    pytest.param(
        RUN
        + "------- output -------\nok | 99 passed | 0 failed (1ms)\n----- output end -----\n\nok | 3 passed | 0 failed (6ms)\n",
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="an echo",
    ),
    pytest.param(
        RUN + "\nok | 3 passed | 0 failed (6ms)\n" + RUN + "\nFAILED | 1 passed | 2 failed (6ms)\n",
        1,
        "fail",
        {"counts": {"passed": 4, "failed": 2}},
        id="chained",
    ),
    pytest.param(RUN + "one ... ok (1ms)\n", 0, "fail", {"reason": "incomplete"}, id="cut off"),
    pytest.param("error: Type checking failed.\n", 1, "fail", {"reason": "build-failed"}, id="types"),
    pytest.param("error: No test modules found\n", 1, "no-tests", {}, id="no modules"),
    pytest.param(
        RUN + "\nok | 0 passed | 0 failed | 3 ignored (1ms)\n",
        0,
        "no-tests",
        {"reason": "all-skipped"},
        id="only ignored",
    ),
    pytest.param(
        RUN + "\n\x1b[32mok\x1b[0m | 3 passed (12 steps) | 0 failed \x1b[38;5;245m(1m3s)\x1b[0m\n",
        0,
        "pass",
        {"counts": {"passed": 3}, "steps": {"passed": 12}},
        id="colours, steps",
    ),
    pytest.param(
        RUN + "\nFAILED | 1 passed | 1 failed (6ms)\n", 0, "fail", {"inconsistent_exit": True}, id="red, exit 0"
    ),
    pytest.param(
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out (10ms)\n",
        0,
        "pass",
        {"counts": {"passed": 3, "skipped": 1, "filtered_out": 2}},
        id="old wording",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("deno", text, code, verdict, **want)
