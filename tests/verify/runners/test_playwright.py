"""Playwright, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest

RUN = "\nRunning {} tests using 2 workers\n\n"
CASES: list[Any] = [
    pytest.param(
        RUN.format(3) + "  9 passed (1.0s)\n  1 failed\n    a.spec.ts:1:1 › x\n  2 passed (1.2s)\n",
        1,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="an echo before the footer",
    ),
    pytest.param(
        RUN.format(3) + "  1 flaky\n    a.spec.ts:1:1 › x\n  2 passed (1.2s)\n",
        0,
        "pass",
        {"flaky": True, "executed": 3, "flaky_hint": True},
        id="flaky",
    ),
    pytest.param(
        RUN.format(3) + "  1 interrupted\n    a.spec.ts:1:1 › x\n  1 did not run\n  1 passed (1.2s)\n",
        130,
        "fail",
        {"reason": "interrupted", "complete": False},
        id="interrupted by a signal",
    ),
    pytest.param(
        RUN.format(3) + "  1 interrupted\n    a.spec.ts:1:1 › x\n  1 did not run\n  1 passed (1.2s)\n",
        1,
        "fail",
        {"reason": "interrupted", "complete": False},
        id="interrupted",
    ),
    pytest.param(
        RUN.format(2) + "  2 passed (1.2s)\n  1 error was not a part of any test, see above for details\n",
        1,
        "fail",
        {"reason": "unhandled-error"},
        id="an error outside of the tests",
    ),
    pytest.param(
        RUN.format(2) + "  2 passed (1.2s)\n" + RUN.format(3) + "  1 failed\n    x\n  2 passed (1.2s)\n",
        1,
        "fail",
        {"counts": {"passed": 4, "failed": 1}},
        id="chained",
    ),
    pytest.param(RUN.format(2) + "  2 skipped\n", 0, "no-tests", {"reason": "all-skipped"}, id="only skipped"),
    pytest.param(
        RUN.format(20) + "  ✓  1 a.spec.ts:1:1 › x (1.2s)\n",
        143,
        "fail",
        {"counts": None, "reason": "signal"},
        id="killed",
    ),
    pytest.param(
        RUN.format(20) + "  ✓  1 a.spec.ts:1:1 › x (1.2s)\n", 0, "fail", {"reason": "incomplete"}, id="cut off"
    ),
    pytest.param("Error: No tests found\n", 0, "no-tests", {}, id="no tests"),
    pytest.param(
        "Listing tests:\n  [chromium] › a.spec.ts:1:1 › x\nTotal: 1 test in 1 file\n",
        0,
        "no-tests",
        {"counts": {"total": 1}},
        id="a listing",
    ),
    pytest.param(
        RUN.format(2) + "\x1b[32m  2 passed\x1b[39m\x1b[2m (848ms)\x1b[22m\n",
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="colours",
    ),
    pytest.param(
        RUN.format(3) + "  1 passed (1.2s)\n  2 did not run\n", 0, "fail", {"complete": False}, id="did not run, exit 0"
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("playwright", text, code, verdict, **want)
