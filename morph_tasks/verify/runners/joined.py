"""A reading and the JUnit reports of the same run, joined: the worse of the two wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.runners.model import Reading, Verdict

if TYPE_CHECKING:
    from morph_tasks.verify.junit import JUnitReading

_MOST = 50


def join(reading: Reading, junit: JUnitReading, exit_code: int | None) -> Reading:
    """Return the joined reading; without a fresh, whole report the output alone speaks."""
    if not junit.files:
        said = f"; {len(junit.stale)} older than the run" if junit.stale else ""
        return replace(reading, warnings=(*reading.warnings, f"no report of this run was found{said}"))
    if junit.counts is None:
        return _unreadable(reading, junit)
    red = junit.counts["failed"] + junit.counts["errors"]
    verdict, reason = _verdict(reading, junit, red, exit_code)
    warnings = [*reading.warnings]
    if reading.executed is not None and reading.executed != junit.executed:
        warnings.append(f"the reports hold {junit.executed} executed tests, the output says {reading.executed}")
    kept = {word: many for word, many in (reading.counts or {}).items() if word not in junit.counts}
    return replace(
        reading,
        verdict=verdict,
        reason=reason,
        counts={**junit.counts, **kept},
        executed=junit.executed,
        complete=reading.complete and not junit.suite_errors and reason not in ("no-summary", "incomplete"),
        message=_message(reading, junit, verdict, reason),
        warnings=tuple(warnings),
        flaky=reading.flaky or junit.flaky,
        inconsistent_exit=reading.inconsistent_exit or (reason == "inconsistent-exit"),
        extra={**reading.extra, **_extra(junit)},
    )


def _verdict(reading: Reading, junit: JUnitReading, red: int, exit_code: int | None) -> tuple[Verdict, str | None]:
    if reading.verdict == "fail" and reading.reason not in ("no-summary", "tests-failed", "inconsistent-exit"):
        return "fail", reading.reason
    if junit.suite_errors and not red:
        return "fail", "suite-failed"
    if red or reading.reason == "tests-failed":
        return "fail", "inconsistent-exit" if exit_code == 0 else "tests-failed"
    if not junit.executed:
        return "no-tests", "all-skipped" if junit.counts and junit.counts["skipped"] else "no-tests"
    if reading.verdict == "fail" or exit_code not in (0, None):
        return "fail", "inconsistent-exit"
    return "pass", None


def _unreadable(reading: Reading, junit: JUnitReading) -> Reading:
    said = junit.unreadable[0] if junit.unreadable else "no report could be read"
    warnings = (*reading.warnings, *(f"report not readable: {text}" for text in junit.unreadable))
    if reading.verdict == "fail":
        return replace(reading, warnings=warnings, extra={**reading.extra, **_extra(junit)})
    return replace(
        reading,
        verdict="fail",
        reason="report-unreadable",
        complete=False,
        message=f"a report of this run is not whole: {said}",
        warnings=warnings,
        extra={**reading.extra, **_extra(junit)},
    )


def _extra(junit: JUnitReading) -> Mapping[str, Any]:
    red = [test for test in junit.tests if test.status in ("failed", "error")]
    listed = [{"id": t.id, "file": t.file, "line": t.line, "message": t.message.split("\n", 1)[0]} for t in red[:_MOST]]
    return {
        "reports": {"read": len(junit.files), "stale": len(junit.stale), "unreadable": len(junit.unreadable)},
        "failed_tests": listed,
        "suite_errors": list(junit.suite_errors[:_MOST]),
    }


def _message(reading: Reading, junit: JUnitReading, verdict: Verdict, reason: str | None) -> str:
    counts = junit.counts or {}
    counted = ", ".join(f"{many} {word}" for word, many in counts.items() if many or word == "passed")
    if verdict == "pass":
        return counted
    if reason == reading.reason and reading.message:
        return f"{reading.message} (reports: {counted})"
    detail = junit.suite_errors[0] if reason == "suite-failed" and junit.suite_errors else ""
    return "; ".join(part for part in ((reason or verdict).replace("-", " "), detail, counted) if part)
