"""cargo test, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest


def result(passed: int, failed: int = 0, ignored: int = 0, filtered: int = 0, begin: bool = True) -> str:
    word = "FAILED" if failed else "ok"
    head = f"\nrunning {passed + failed + ignored} tests\n" if begin else ""
    return f"{head}test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; {filtered} filtered out; finished in 0.00s\n"


SUMMARY = "────────────\n     Summary [   0.012s] {}\n"
CASES: list[Any] = [
    pytest.param(
        result(2) + result(1, 1) + "error: test failed, to rerun pass `--lib`\n",
        101,
        "fail",
        {"counts": {"passed": 3, "failed": 1}},
        id="two binaries",
    ),
    pytest.param(
        "\nrunning 3 tests\n---- a stdout ----\nrunning 1 test\n" + result(98, begin=False) + result(2, 1, begin=False),
        101,
        "fail",
        {"counts": {"passed": 2, "failed": 1}},
        id="cargo inside a test",
    ),
    pytest.param(
        "\nrunning 2 tests\n" + result(98, begin=False) + result(2, begin=False),
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="an echoed result",
    ),
    pytest.param(
        result(2) + "\nrunning 5 tests\n",
        0,
        "fail",
        {"complete": False, "counts": {"passed": 2}},
        id="a test that ended the process with 0",
    ),
    pytest.param(
        result(2)
        + "\nrunning 5 tests\nerror: test failed, to rerun pass `--test it`\n\nCaused by:\n  process didn't exit successfully: `target/debug/it` (signal: 11, SIGSEGV: invalid memory reference)\n",
        101,
        "fail",
        {"reason": "crashed", "complete": False},
        id="segmentation fault after a green binary",
    ),
    pytest.param(
        'error: could not compile `shop` (test "it") due to 1 previous error\n',
        101,
        "fail",
        {"reason": "build-failed", "counts": None},
        id="does not compile",
    ),
    pytest.param(
        result(2) + 'error: could not compile `shop` (test "it") due to 1 previous error\n',
        101,
        "fail",
        {"reason": "build-failed"},
        id="a later crate does not compile",
    ),
    pytest.param(
        "error: could not compile `ui` in the log of a test\n" + result(2),
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="a compile error in a test's log",
    ),
    pytest.param(result(0, ignored=4), 0, "no-tests", {"reason": "all-skipped"}, id="only ignored"),
    pytest.param(result(1, 1), 0, "fail", {"inconsistent_exit": True}, id="red, exit 0"),
    pytest.param(
        result(3).replace("ok.", "\x1b[32mok\x1b(B\x1b[m."),
        0,
        "pass",
        {"counts": {"passed": 3}},
        id="colours with a character set",
    ),
    pytest.param(
        SUMMARY.format("3 tests run: 2 passed (1 flaky), 1 failed, 4 skipped"),
        100,
        "fail",
        {"counts": {"passed": 2, "failed": 1, "skipped": 4}, "flaky": True},
        id="nextest",
    ),
    pytest.param(
        SUMMARY.format("1/9 tests run: 0 passed, 1 failed, 0 skipped"),
        100,
        "fail",
        {"complete": False},
        id="nextest stopped early",
    ),
    pytest.param(
        SUMMARY.format("0 tests run: 0 passed, 12 skipped") + "error: no tests to run\n",
        4,
        "no-tests",
        {"executed": 0},
        id="nextest without tests",
    ),
    pytest.param(
        SUMMARY.format("2 tests run: 1 passed, 1 timed out, 0 skipped"),
        0,
        "fail",
        {"counts": {"timed_out": 1}, "inconsistent_exit": True},
        id="nextest timed out",
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("cargo", text, code, verdict, **want)
