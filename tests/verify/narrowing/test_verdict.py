"""What a narrowed run proves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.narrowing import table
from morph_tasks.verify.narrowing.model import Selection
from morph_tasks.verify.narrowing.verdict import narrowed_verdict

PASS: dict[str, Any] = {"status": "pass", "reason": None, "message": "", "count": 3, "exitCode": 0}
FAIL: dict[str, Any] = {"status": "fail", "reason": "tests-failed", "message": "1 failed", "count": None, "exitCode": 1}


def judged(result: dict[str, Any], runner: str = "vitest", text: str = "", tmp: Path | None = None, **more: Any) -> Any:
    selection = Selection(more.pop("mode", "narrowed"), "", "x", "x y", zero_guard=more.pop("guard", "count"))
    log = (tmp or Path("/nonexistent")) / "log"
    if tmp:
        log.write_bytes(text.encode())
    return narrowed_verdict(selection, runner, {**result, **more}, log)


def test_tests_that_ran_decide_by_themselves() -> None:
    assert judged(PASS) == PASS
    assert judged(FAIL, count=2)["reason"] == "tests-failed"
    assert judged(FAIL, expectedCount=9, count=2)["message"] == "1 failed"


@pytest.mark.parametrize("mode", ["whole", "full", "out-of-scope"])
def test_other_runs_are_judged_as_always(mode: str) -> None:
    assert judged(PASS, count=0, mode=mode) == {**PASS, "count": 0}


def test_green_needs_a_count() -> None:
    assert judged(PASS, count=None)["reason"] == "narrowed-count-unknown"
    assert judged(PASS, count=None)["status"] == "fail"
    assert judged(PASS, count=None, guard="count-or-exit")["status"] == "pass"
    assert judged(PASS, count=None, guard="count-or-exit", exitCode=3)["reason"] == "narrowed-count-unknown"
    for guard in ("count", "count-or-exit"):
        found = judged(PASS, count=0, guard=guard)
        assert (found["status"], found["reason"]) == ("fail", "narrowed-zero-tests")
    assert judged(PASS, status="flaky", count=None)["status"] == "fail"


@pytest.mark.parametrize(
    ("runner", "text", "code"),
    [
        ("vitest", "\x1b[31mNo test files found\x1b[39m, exiting with code 1\n", 1),
        ("jest", "\x1b[1mNo tests found, exiting with code 1\x1b[22m", 1),
        ("pytest", "no tests ran in 0.01s", 5),
        ("cargo", "running 0 tests\n\ntest result: ok. 0 passed;\n\nrunning 0 tests\n", 101),
        ("go", "?   \texample.test/x\t[no test files]\n", 1),
        ("dotnet", "", 8),
    ],
)
def test_red_without_a_match_says_so(tmp_path: Path, runner: str, text: str, code: int) -> None:
    found = judged(FAIL, runner, text, tmp_path, exitCode=code)
    assert (found["reason"], found["message"]) == (
        "narrowed-zero-tests",
        f"narrowed-zero-tests ({runner}, exit {code})",
    )
    assert judged(FAIL, runner, text, tmp_path, exitCode=code, count=1)["reason"] == "tests-failed"
    assert judged(FAIL, runner, text, tmp_path, exitCode=code, reason="timeout")["reason"] == "timeout"


def test_other_red_keeps_its_reason(tmp_path: Path) -> None:
    text = "running 2 tests\nrunning 0 tests\n"
    assert judged(FAIL, "cargo", text, tmp_path)["reason"] == "tests-failed"
    assert judged(FAIL, "vitest", "SyntaxError", tmp_path, reason="suite-failed")["reason"] == "suite-failed"
    assert judged(FAIL, "mocha", "", tmp_path, reason="no-tests")["message"] == "narrowed-zero-tests (mocha, exit 1)"


def test_every_block_of_a_chain_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    module = table.narrower("dotnet")
    monkeypatch.setattr(module, "blocks", lambda text: [4, 0], raising=False)
    found = judged(PASS, "dotnet", guard="count-or-exit", count=4)
    assert found["reason"] == "narrowed-zero-tests"
    assert "a link of the narrowed run executed 0 tests (2 of 2)" in found["message"]
    monkeypatch.setattr(module, "blocks", lambda text: [], raising=False)
    assert judged(PASS, "dotnet", count=4)["status"] == "pass"
