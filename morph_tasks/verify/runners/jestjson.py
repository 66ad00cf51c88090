"""The JSON report that jest prints with `--json` and vitest with `--reporter=json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from morph_tasks.verify.runners.model import Found
from morph_tasks.verify.runners.text import Log
from morph_tasks.verify.runners.told import Status, Told, joined, told

# Inside a string of the report the quotes would be escaped: this can only be the report itself.
_KEY = re.compile(rb'\{\s{0,20}"num(?:Total|Failed|Passed)')
_HEAD = 4096


def read_json(log: Log, first: str) -> Found | None:
    """Return the counts at the head of the report, None when there is no report.

    `first` is the key the calling runner writes first: the two tools differ in nothing else.
    """
    at = log.find(_KEY)
    if at is None:
        return None
    text = log.read(at, at + _HEAD).decode("utf-8", "replace")
    many = {hit[1]: int(hit[2]) for hit in re.finditer(r'"num(\w+)":\s*(\d+)', text)}
    if "TotalTests" not in many:
        return None
    counts = {
        "passed": many.get("PassedTests", 0),
        "failed": many.get("FailedTests", 0),
        "skipped": many.get("PendingTests", 0),
        "todo": many.get("TodoTests", 0),
        "total": many["TotalTests"],
    }
    unloaded = many.get("RuntimeErrorTestSuites", 0)
    broken = bool(unloaded) or (many.get("FailedTestSuites", 0) > 0 and not counts["failed"])
    interrupted = re.search(
        r'"wasInterrupted":\s*true', log.read(log.size - _HEAD, log.size).decode("utf-8", "replace")
    )
    return Found(
        evidence=3 if text.lstrip("{ \r\n").startswith(f'"{first}"') else 2,
        at=at,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=not broken and not interrupted,
        problem="suite-failed" if broken else "interrupted" if interrupted else None,
        detail=f"{unloaded} test suites could not be run" if unloaded else "",
    )


def tests_of(text: Mapping[str, Any]) -> Iterator[Told]:
    """Yield the tests of a parsed report."""
    for file in text.get("testResults") or ():
        for one in file.get("assertionResults") or ():
            status: Status = {"passed": "passed", "failed": "failed"}.get(one.get("status"), "skipped")  # type: ignore[assignment]
            # jest counts the tries, vitest names the errors of those that were tried again.
            if (status == "passed" and (one.get("invocations") or 1) > 1) or (status == "passed" and _again(one)):
                status = "flaky"
            name = joined([*map(str, one.get("ancestorTitles") or ()), str(one.get("title", ""))])
            line = (one.get("location") or {}).get("line")
            yield told(name, status, file.get("name"), line if isinstance(line, int) else None)


def _again(one: Mapping[str, Any]) -> bool:
    return bool(one.get("failureMessages") or one.get("retryReasons"))
