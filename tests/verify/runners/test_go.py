"""go test, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

OK = "ok  \texample.test/a\t0.012s\n"


def event(action: str, test: str = "", output: str = "", package: str = "example.test/a") -> str:
    named = f',"Test":"{test}"' if test else ""
    said = f',"Output":"{output}"' if output else ""
    return f'{{"Time":"2026-01-01T00:00:00Z","Action":"{action}","Package":"{package}"{named}{said}}}\n'


CASES: list[Any] = [
    pytest.param(
        'go: warning: "./..." matched no packages\nno packages to test\n',
        1,
        "no-tests",
        {"counts": None},
        id="no packages",
    ),
    pytest.param(
        OK + "FAIL\texample.test/b [build failed]\nFAIL\n",
        1,
        "fail",
        {"reason": "build-failed", "counts": None, "complete": False},
        id="one package did not build",
    ),
    pytest.param(
        OK + "FAIL\texample.test/b [setup failed]\nFAIL\n", 1, "fail", {"reason": "build-failed"}, id="setup failed"
    ),
    pytest.param(
        "--- FAIL: TestA (0.00s)\n    a_test.go:3: boom\nFAIL\nFAIL\texample.test/a\t0.1s\nFAIL\n",
        0,
        "fail",
        {"inconsistent_exit": True, "counts": None},
        id="red, exit 0",
    ),
    pytest.param(
        "=== RUN   TestA\nok  \texample.test/fake\t0.1s\n--- PASS: TestA (0.00s)\nPASS\n" + OK,
        0,
        "pass",
        {"counts": {"passed": 1}, "packages": {"ok": 1}},
        id="a package line echoed under -v",
    ),
    pytest.param(
        "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n",
        0,
        "fail",
        {"reason": "incomplete", "complete": False},
        id="cut off under -v",
    ),
    pytest.param(
        "=== RUN   TestA\npanic: test timed out after 1s\n\ngoroutine 1 [running]:\nFAIL\texample.test/a\t1.003s\nFAIL\n",
        1,
        "fail",
        {"reason": "timeout"},
        id="its own time limit",
    ),
    pytest.param(
        "ok  \texample.test/a\t(cached)\tcoverage: 81.2% of statements\n",
        0,
        "pass",
        {"counts": None, "packages": {"ok": 1, "cached": 1}},
        id="cached with coverage",
    ),
    pytest.param(
        "ok  \texample.test/a\t0.1s\tcoverage: 0.0% of statements [no tests to run]\n",
        0,
        "no-tests",
        {},
        id="no tests to run, with coverage",
    ),
    pytest.param(
        "DONE 5 tests, 1 skipped, 1 failure in 0.012s\n",
        1,
        "fail",
        {"counts": {"passed": 3, "failed": 1, "skipped": 1}},
        id="gotestsum",
    ),
    pytest.param(
        event("run", "TestA")
        + event("output", "TestA", '{\\"Action\\":\\"fail\\",\\"Test\\":\\"X\\"}\\n')
        + event("pass", "TestA")
        + event("pass"),
        0,
        "pass",
        {"counts": {"passed": 1, "failed": 0}},
        id="json in a test's log",
    ),
    pytest.param(
        event("run", "TestA") + event("pass", "TestA"),
        0,
        "fail",
        {"complete": False},
        id="json without the package's end",
    ),
    pytest.param(
        event("skip") + event("skip", package="example.test/b"), 0, "no-tests", {"executed": 0}, id="json without tests"
    ),
    pytest.param(
        event("run", "TestA") + event("fail", "TestA") + event("fail"),
        1,
        "fail",
        {"counts": {"failed": 1}},
        id="json red",
    ),
    pytest.param(
        "".join(
            f"2026-01-01T00:00:00Z {line}\n"
            for line in (
                "=== RUN   TestA",
                "--- PASS: TestA (0.00s)",
                "    --- PASS: TestA/x (0.00s)",
                "PASS",
                OK.strip(),
            )
        ),
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="timestamps",
    ),
    pytest.param("?   \texample.test/cmd\t[no test files]\n", 1, "no-tests", {}, id="no test files"),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("go", text, code, verdict, **want)
