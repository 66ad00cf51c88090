"""RSpec, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest

DONE = "\nFinished in 0.02 seconds (files took 0.1 seconds to load)\n"
CASES: list[Any] = [
    pytest.param(
        "99 examples, 0 failures\n.F\n" + DONE + "2 examples, 1 failure\n",
        1,
        "fail",
        {"counts": {"passed": 1, "failed": 1}},
        id="an echo",
    ),
    pytest.param(
        DONE + "1 example, 0 failures, 1 error occurred outside of examples\n",
        1,
        "fail",
        {"reason": "unhandled-error", "counts": {"errors": 1}},
        id="error outside of examples",
    ),
    pytest.param(
        "An error occurred while loading ./a_spec.rb.\n"
        + DONE
        + "0 examples, 0 failures, 2 errors occurred outside of examples\n",
        1,
        "fail",
        {"reason": "suite-failed", "complete": False},
        id="files that do not load",
    ),
    pytest.param(
        DONE + "3 examples, 0 failures, 3 pending\n",
        0,
        "no-tests",
        {"reason": "all-skipped", "executed": 0},
        id="only pending",
    ),
    pytest.param(
        "All examples were filtered out\n" + DONE + "0 examples, 0 failures\n",
        0,
        "no-tests",
        {},
        id="filter without match",
    ),
    pytest.param(
        DONE + "\x1b[32m1 example, 0 failures\x1b[0m\n" + DONE + "\x1b[31m2 examples, 1 failure\x1b[0m\n",
        0,
        "fail",
        {"counts": {"total": 3, "failed": 1}},
        id="chained, colours",
    ),
    pytest.param(
        DONE + "5 examples, 0 failures\nLine Coverage (50.0%) is below the expected minimum coverage (90.0%).\n",
        2,
        "fail",
        {"reason": "coverage-threshold"},
        id="coverage",
    ),
    pytest.param("..", 1, "fail", {"counts": None}, id="cut off"),
    pytest.param("the log says 5 examples, 0 failures in all\n", 0, "unknown", {"counts": None}, id="inside a line"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("rspec", text, code, verdict, **want)
