"""node --test, on outputs that mislead."""

from __future__ import annotations

from typing import Any

import pytest


def block(
    mark: str = "# ", *, passed: int = 3, failed: int = 0, cancelled: int = 0, skipped: int = 0, todo: int = 0
) -> str:
    total = passed + failed + cancelled + skipped + todo
    names = {
        "tests": total,
        "suites": 0,
        "pass": passed,
        "fail": failed,
        "cancelled": cancelled,
        "skipped": skipped,
        "todo": todo,
    }
    return "".join(f"{mark}{name} {many}\n" for name, many in names.items()) + f"{mark}duration_ms 5.1\n"


TAP = "TAP version 13\n"
CASES: list[Any] = [
    pytest.param(
        block(passed=99) + "ok 1 - a\n1..1\n" + block(passed=1),
        0,
        "pass",
        {"counts": {"passed": 1}},
        id="a whole footer echoed, the head cut off",
    ),
    pytest.param(
        TAP + block(passed=99) + "ok 1 - a\n1..1\n" + block(passed=1),
        0,
        "pass",
        {"counts": {"passed": 1}},
        id="a whole footer echoed in TAP",
    ),
    pytest.param(
        TAP + "1..1\n" + block(passed=1) + TAP + "1..1\n" + block(passed=2),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="two runs",
    ),
    pytest.param(
        TAP + "1..1\n" + block(failed=1) + TAP + "1..1\n" + block(passed=2),
        0,
        "fail",
        {"inconsistent_exit": True},
        id="two runs, the first red",
    ),
    pytest.param(TAP + "ok 1 - a\n", 0, "fail", {"reason": "incomplete"}, id="cut off"),
    pytest.param(
        TAP + "    # tests 5\n    # pass 5\n    # fail 0\nok 1 - a\n1..1\n" + block(passed=1),
        0,
        "pass",
        {"counts": {"passed": 1}},
        id="an indented footer",
    ),
    pytest.param(
        "\x1b[34mℹ tests 1\n" + block("\x1b[34mℹ ", passed=1, cancelled=1),
        1,
        "fail",
        {"counts": {"cancelled": 1}},
        id="cancelled, coloured",
    ),
    pytest.param(block("ℹ ", passed=0), 0, "no-tests", {"executed": 0}, id="zero tests"),
    pytest.param(
        block("ℹ ", passed=0, skipped=2, todo=1), 0, "no-tests", {"reason": "all-skipped"}, id="skipped and todo"
    ),
    pytest.param(block(passed=3), 7, "fail", {"reason": "inconsistent-exit"}, id="green text, red exit"),
    pytest.param(
        TAP + "Bail out!  Interrupted\n1..1\n" + block(passed=1), 1, "fail", {"reason": "interrupted"}, id="bail out"
    ),
    pytest.param("ℹ tests 5\nhello\nℹ pass 5\nℹ fail 0\n", 0, "unknown", {"counts": None}, id="a footer with a gap"),
    pytest.param("TAP version 13\n1..2\nok 1 - a\nok 2 - b\n", 0, "unknown", {"counts": None}, id="other TAP, whole"),
    pytest.param(
        "TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n", 1, "fail", {"reason": "tests-failed"}, id="other TAP, red"
    ),
    pytest.param("TAP version 13\n1..3\nok 1 - a\n", 0, "fail", {"reason": "incomplete"}, id="other TAP, cut off"),
    pytest.param(
        "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# pass  1\n\n# ok\n",
        0,
        "pass",
        {"counts": {"passed": 1}},
        id="tape",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("node-test", text, code, verdict, **want)


def test_a_footer_echoed_by_a_test_under_the_spec_reporter(check: Any) -> None:
    text = block("ℹ ", passed=99) + "✔ one (1ms)\n" + block("ℹ ", passed=1)
    check("auto", text, 0, "pass", command="node --test", counts={"passed": 1})
    check("auto", text, 0, "pass", command="node --test a && node --test b", counts={"passed": 100})
