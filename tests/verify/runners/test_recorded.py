"""Outputs recorded from the real runners: read as two streams, as one log, and without being told the runner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.runners.read import read_failures, read_output

_FILE = Path(__file__).parents[2] / "data" / "runner-outputs.jsonl"
_RECORDED = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
_IDS = [record["id"] for record in _RECORDED]
# What the plain output does not tell without the command: a listing looks like a run, TAP is TAP, dots say nothing.
_NEEDS_COMMAND = {"go-listed"}
_NO_TELLING = {"mocha-tap", "node-test-dot", "ctest-quiet", "playwright-load-and-green", *_NEEDS_COMMAND}


def _read(record: dict[str, Any], runner: str, command: bool = True, merged: bool = False) -> dict[str, Any]:
    out, err = record["stdout"].encode(), record["stderr"].encode()
    reading = read_output(
        runner,
        out + err if merged else out,
        None if merged else err,
        exit_code=record["exit_code"],
        command=record["command"] if command else None,
    )
    assert reading.runner == record["runner"]
    return {key: getattr(reading, key) for key in record["expect"]}


@pytest.mark.parametrize("record", _RECORDED, ids=_IDS)
def test_a_recorded_output_has_its_verdict(record: dict[str, Any]) -> None:
    assert _read(record, record["runner"]) == record["expect"]
    assert _read(record, record["runner"], merged=True) == record["expect"]
    if record["id"] not in _NEEDS_COMMAND:
        assert _read(record, record["runner"], command=False) == record["expect"]


@pytest.mark.parametrize(
    "record", [one for one in _RECORDED if one["id"] not in _NO_TELLING], ids=lambda one: one["id"]
)
def test_a_recorded_output_tells_its_runner(record: dict[str, Any]) -> None:
    assert _read(record, "auto", command=False) == record["expect"]
    assert _read(record, "auto") == record["expect"]


# A report over several lines is no report once every line is dressed.
@pytest.mark.parametrize("record", [one for one in _RECORDED if "json" not in one["id"]], ids=lambda one: one["id"])
def test_the_verdict_survives_collectors(record: dict[str, Any]) -> None:
    def dressed(text: str, put: str, end: str = "\n") -> bytes:
        return "".join(f"{put}{line}{end}" for line in text.split("\n")).encode() if text else b""

    want = record["expect"]
    for put, end in (
        ("2026-01-01T00:00:00.1234567Z ", "\n"),
        ("", "\r\n"),
        ("build\tRun tests\t2026-01-01T00:00:00Z ", "\n"),
    ):
        if "\r" in record["stdout"] and end == "\r\n":
            continue
        reading = read_output(
            record["runner"],
            dressed(record["stdout"], put, end),
            dressed(record["stderr"], put, end),
            exit_code=record["exit_code"],
            command=record["command"],
        )
        assert (reading.verdict, reading.counts, reading.executed) == (
            want["verdict"],
            want["counts"],
            want["executed"],
        )


@pytest.mark.parametrize(
    "record", [one for one in _RECORDED if one["expect"]["verdict"] == "pass"], ids=lambda one: one["id"]
)
def test_a_green_output_is_red_when_the_run_did_not_end_well(record: dict[str, Any]) -> None:
    out, err = record["stdout"].encode(), record["stderr"].encode()
    for code in (1, 139, -9, 3221225477):
        reading = read_output(record["runner"], out, err, exit_code=code, command=record["command"])
        assert reading.verdict == "fail" and reading.reason
    stopped = read_output(record["runner"], out, err, exit_code=None, command=record["command"], timed_out=True)
    assert (stopped.verdict, stopped.reason, stopped.complete) == ("fail", "timeout", False)


@pytest.mark.parametrize(
    "record",
    [one for one in _RECORDED if one["expect"]["verdict"] == "fail" and (one["expect"]["counts"] or {}).get("failed")],
    ids=lambda one: one["id"],
)
def test_red_text_is_red_whatever_the_exit_code(record: dict[str, Any]) -> None:
    reading = read_output(record["runner"], record["stdout"].encode(), record["stderr"].encode(), exit_code=0)
    assert reading.verdict == "fail" and reading.inconsistent_exit


_FAILED = {
    "pytest-mixed": ("test_a.py::test_bad", "test_a.py", 3, "assert 1 == 2"),
    "vitest-mixed": (
        "a.test.js > deep > bad",
        "a.test.js",
        3,
        "AssertionError: expected 1 to be 2 // Object.is equality",
    ),
    "jest-mixed": ("a.test.js › deep › bad", "a.test.js", 3, "expect(received).toBe(expected) // Object.is equality"),
    "node-test-tap": ("bad", "/project/node/a.test.js", 3, "1 == 2"),
    "node-test-spec": ("bad", "a.test.js", 3, "AssertionError [ERR_ASSERTION]: 1 == 2"),
    "mocha-mixed": ("s > bad", "a.js", 2, "AssertionError [ERR_ASSERTION]: 1 == 2"),
    "go-all": ("TestA/s1", "a_test.go", 3, "boom"),
    "cargo-fail-fast": ("t::bad", "src/lib.rs", 5, "assertion `left == right` failed"),
    "rspec-mixed": ("x bad", "a_spec.rb", 3, "expected: 2"),
    "phpunit-mixed": ("ATest::testBad", "/project/phpunit/ATest.php", 3, "Failed asserting that false is true."),
    "unittest-mixed": ("test_a.T.test_bad", "/project/ut/test_a.py", 4, "AssertionError: 1 != 2"),
    "playwright-mixed": (
        "a.spec.js:2:80 › bad",
        "a.spec.js",
        2,
        "Error: expect(received).toBe(expected) // Object.is equality",
    ),
    "ctest-mixed": ("bad", None, None, "Failed"),
    "bun-mixed": ("deep > bad", "a.test.js", None, "expect(received).toBe(expected)"),
    "deno-steps": ("steps ... s2", "a_test.ts", 1, "Error: x"),
}


@pytest.mark.parametrize("name", _FAILED)
def test_the_failed_tests_are_named(name: str) -> None:
    record = next(one for one in _RECORDED if one["id"] == name)
    found = read_failures(record["runner"], record["stdout"].encode(), record["stderr"].encode())
    assert _FAILED[name] in [(one.id, one.file, one.line, one.message) for one in found]
