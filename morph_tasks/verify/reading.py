"""From the end of a command and its log to a result: status, reason, counts, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.errors import Refusal
    from morph_tasks.machine.processes import Ended
    from morph_tasks.verify.junit import JUnitReading
    from morph_tasks.verify.runners.model import Reading, TestResult

# Their outputs and reports call a test that is to fail, and does, passed.
_SILENT_FAILURES = ("vitest", "jest", "bun")
_TAIL_LINES = 12
_MOST_FAILURES = 10
_MOST_LEFT = 5
_ENDINGS = {126: "command-not-executable", 127: "command-not-found"}


def read_result(
    root: Path, node: Node, log: Path, ended: Ended, ceiling_ms: int, chained: int, started_ns: int
) -> dict[str, Any]:
    """Return the fields of a record that say how a command ended and what its output means."""
    base: dict[str, Any] = {"exitCode": ended.exit_code, "count": None, "counts": None, "warnings": [], "detail": []}
    base["warnings"] = left_behind(ended)
    if not log.is_file():
        said = "its log was removed while it ran: what it did cannot be told"
        return {**base, "status": "fail", "reason": "log-lost", "message": said}
    if node.family != "tests":
        result = _by_exit(base, log, ended)
    else:
        result = _by_output(root, base, node, log, ended, started_ns)
    if ended.timed_out:
        result |= {"status": "fail", "reason": "timeout", "message": _timeout(result, ceiling_ms, chained)}
    result.pop("finished", None)
    return result


def not_started(refusal: Refusal) -> dict[str, Any]:
    """Return the fields of a record for a command that never ran."""
    base: dict[str, Any] = {"exitCode": None, "count": None, "counts": None, "warnings": [], "detail": []}
    return {**base, "status": "fail", "reason": refusal.code, "message": refusal.what, "attempts": ["fail"]}


def left_behind(ended: Ended) -> list[str]:
    """Return warnings on what a command left behind."""
    ours = [name for name in ended.leftovers if name not in ended.running]
    said = [f"left running and ended by us: {_some(ours)}"] if ours else []
    if ended.running:
        pids = " ".join(name.split(" ", 1)[0] for name in ended.running[:_MOST_LEFT])
        said.append(f"left its group and still runs: {_some(ended.running)}; end it with `kill {pids}`")
    return said


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LEFT} more" if len(names) > _MOST_LEFT else ""
    return ", ".join(names[:_MOST_LEFT]) + more


def _by_exit(base: dict[str, Any], log: Path, ended: Ended) -> dict[str, Any]:
    if ended.exit_code == 0:
        return {**base, "status": "pass", "reason": None, "message": ""}
    code, message = _ending(ended.exit_code)
    return {**base, "status": "fail", "reason": code, "message": message, "detail": tail(log)}


def _by_output(
    root: Path, base: dict[str, Any], node: Node, log: Path, ended: Ended, started_ns: int
) -> dict[str, Any]:
    junit = _junit(root, node, started_ns)
    reading = _reading(node, log, ended, junit)
    result = {
        **base,
        **_carriers(root, node, log, junit),
        "verdict": reading.verdict,
        "count": reading.executed,
        "counts": dict(reading.counts) if reading.counts is not None else None,
        "warnings": [*base["warnings"], *reading.warnings],
        "reason": None,
        "message": reading.message,
        # Each summary is a run of the chain that came to its end.
        "finished": int(reading.extra.get("projects") or 0),
    }
    if ended.exit_code in _ENDINGS and reading.counts is None:
        code, message = _ending(ended.exit_code)
        return {**result, "status": "fail", "reason": code, "message": message, "detail": tail(log)}
    if reading.verdict == "pass":
        status, reason = ("flaky", "flaky-in-runner") if reading.flaky else ("pass", None)
        return {**result, "status": status, "reason": reason}
    if reading.verdict == "unknown":
        if node.runner != "none":
            result["warnings"].append("the number of tests could not be read: it is unknown, not zero")
        return {**result, "status": "pass"}
    reason = "no-tests" if reading.verdict == "no-tests" else reading.reason or "tests-failed"
    return {**result, "status": "fail", "reason": reason, "detail": _failed(node, log)}


def _junit(root: Path, node: Node, started_ns: int) -> JUnitReading | None:
    if not node.junit:
        return None
    from morph_tasks.verify.junit import read_junit
    from morph_tasks.verify.listing import files_on_disk

    paths = [root / path for path in files_on_disk(root, node.junit, byproducts=True)]
    return read_junit(paths, since_ns=started_ns)


def _reading(node: Node, log: Path, ended: Ended, junit: JUnitReading | None) -> Reading:
    from morph_tasks.verify.runners.read import join_junit, read_output

    code = ended.exit_code
    reading = read_output(node.runner, log, exit_code=code, command=node.command, timed_out=ended.timed_out)
    return join_junit(reading, junit, code) if junit else reading


def _carriers(root: Path, node: Node, log: Path, junit: JUnitReading | None) -> dict[str, Any]:
    """Return the tests that carry a scenario, and whether the run named its tests at all."""
    from morph_tasks.verify.launch import report_of
    from morph_tasks.verify.runners.results import read_results

    report = report_of(log)
    said = report if report.exists() else None
    found = read_results(node.runner, log, junit=junit, report=said, root=root, cwd=node.cwd)
    report.unlink(missing_ok=True)
    tests = expected_failures(root, found.tests) if node.runner in _SILENT_FAILURES else found.tests
    return {"tests": [test.as_json() for test in tests], "named": found.named}


def expected_failures(root: Path, tests: Sequence[TestResult]) -> list[TestResult]:
    """Return tests with those as skipped that passed because they fail, as their source says: that proves nothing."""
    from morph_tasks.verify.testcode.reader import read_tests

    marked: set[tuple[str, str]] = set()
    for file in {test.file for test in tests if test.file and test.status == "passed"}:
        with suppress(OSError):
            source = read_tests(file, (root / file).read_bytes())
            found = source.tests if source else ()
            marked |= {(file, one.name) for one in found if one.skipped and "fail" in one.skipped}
    return [replace(test, status="skipped") if (test.file, test.name) in marked else test for test in tests]


def _failed(node: Node, log: Path) -> list[str]:
    from morph_tasks.verify.runners.read import read_failures

    found = read_failures(node.runner, log)
    lines = [f"{item.where()}: {item.first_line()}".strip(": ") for item in found[:_MOST_FAILURES]]
    if len(found) > _MOST_FAILURES:
        lines.append(f"and {len(found) - _MOST_FAILURES} more")
    return lines or tail(log)


def tail(log: Path) -> list[str]:
    """Return the last lines of a log that say something."""
    with open(log, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8192))
        text = file.read().decode("utf-8", "replace")
    lines = [line.rstrip()[:300] for line in text.splitlines() if line.strip()]
    return lines[-_TAIL_LINES:]


def _ending(code: int | None) -> tuple[str, str]:
    if code is None:
        return "not-ended", "the command did not end by itself"
    if code < 0:
        return "signal", f"the command was ended by signal {-code}"
    return _ENDINGS.get(code, "exit-code"), f"the command ended with exit code {code}"


def _timeout(result: dict[str, Any], ceiling_ms: int, chained: int) -> str:
    counts = result.get("counts") or {}
    failed = counts.get("failed", 0) + counts.get("errors", 0)
    at = min(chained, 1 + int(result.get("finished", 0)))
    said = "no test failed" if not failed else f"{failed} failed before"
    return f"timeout after {ceiling_ms} ms in run {at} of {chained} — {said}"
