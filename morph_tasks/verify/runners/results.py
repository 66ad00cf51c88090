"""Which tests that carry a scenario ran, and how they ended: by the plugin's report, by JUnit, by the output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from morph_tasks.verify.runners.model import TestResult
from morph_tasks.verify.runners.text import Log
from morph_tasks.verify.scenarios.tags import ANCHORS, tag, tags

if TYPE_CHECKING:
    from morph_tasks.verify.junit import JUnitCase, JUnitReading

_LONG = 1 << 20
_TAGGED = tuple(re.compile(re.escape(anchor)) for anchor in ANCHORS)
_JUNIT: dict[str, Literal["passed", "failed", "skipped"]] = {
    "passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped", "xfailed": "skipped",
}  # fmt: skip


@dataclass(frozen=True)
class Results:
    """The tests with a scenario. `named` False: nothing named any test of the run, so nobody knows."""

    tests: tuple[TestResult, ...]
    named: bool


def read_results(
    runner: str,
    log: Path,
    *,
    junit: JUnitReading | None = None,
    report: Path | None = None,
    root: Path | None = None,
    cwd: str = ".",
) -> Results:
    """Return the tests of a finished run that carry a scenario, each once.

    Files are relative to `root` where they lie below it; a run in `cwd` may name them from there.
    """
    for found in (_of_report(report), _of_junit(junit)):
        if found is not None:
            return Results(_merged(found, root, cwd), named=True)
    return _of_output(runner, log, root, cwd)


def _of_report(path: Path | None) -> list[TestResult] | None:
    """Read the lines of the pytest plugin; None without a report. A test without a teardown is not in it."""
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    tests = [said for line in lines if (said := _parsed(line)) and "nodeid" in said]
    if not tests and not any((_parsed(line) or {}).get("ended") is not None for line in lines):
        return None
    return [_of_pytest(said) for said in tests]


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except ValueError:  # cut off in the middle
        return None
    return said if isinstance(said, dict) else None


def _of_pytest(said: dict[str, Any]) -> TestResult:
    name = str(said["nodeid"]).partition("::")[2] or str(said["nodeid"])
    marked = [tag(one) for one in said.get("scenarios") or ()]
    outcome = str(said.get("outcome"))
    status = "flaky" if said.get("flaky") and outcome == "passed" else outcome
    return TestResult(
        name=name.replace("::", " > "),
        status=cast("Literal['passed', 'failed', 'skipped', 'flaky']", status),
        file=next(
            (path for path in (said.get("path"), said.get("file")) if path and os.path.exists(path)), said.get("file")
        ),
        line=said.get("line"),
        scenarios=tuple(dict.fromkeys([*marked, *tags(name)])),
    )


def _of_junit(junit: JUnitReading | None) -> list[TestResult] | None:
    if junit is None or junit.counts is None:
        return None
    return [_of_case(case) for case in junit.tests]


def _of_case(case: JUnitCase) -> TestResult:
    said = [tag(one) for one in case.scenarios]
    name = " > ".join(part for part in (*case.suites, case.name) if part)
    return TestResult(
        name=case.name or case.id,
        status="flaky" if case.flaky and case.status == "passed" else _JUNIT[case.status],
        file=case.file,
        line=case.line,
        scenarios=tuple(dict.fromkeys([*said, *tags(name), *tags(case.classname)])),
    )


def _of_output(runner: str, log: Path, root: Path | None, cwd: str) -> Results:
    from morph_tasks.verify.runners.names import NAMES

    read = NAMES.get(runner)
    if read is None:
        return Results((), named=False)
    text = Log(log)
    try:
        if not any(text.find(anchor) is not None for anchor in _TAGGED):
            # Nothing carries a scenario. Whether anything was named is worth no look at a long log.
            named = text.size > _LONG or next(read(text.each()), None) is not None
            return Results((), named=named)
        found = list(read(text.each()))
    finally:
        text.close()
    tests = _merged((replace(one, scenarios=tags(one.name)) for one in found), root, cwd)
    return Results(tests, named=bool(found))


def _merged(found: Iterable[TestResult], root: Path | None, cwd: str) -> tuple[TestResult, ...]:
    """Return the tests with a scenario; one that is told twice, failed and passed, is flaky."""
    tests: dict[tuple[str, str | None], TestResult] = {}
    for one in found:
        if not one.scenarios:
            continue
        one = replace(one, file=_placed(one.file, root, cwd))
        before = tests.get((one.name, one.file))
        if before is not None:
            told = {before.status, one.status}
            if told == {"failed", "passed"} and one.status == "passed":
                one = replace(one, status="flaky")
            elif "failed" in told:
                one = replace(one, status="failed")
            one = replace(one, scenarios=tuple(dict.fromkeys([*before.scenarios, *one.scenarios])))
        tests[one.name, one.file] = one
    return tuple(tests.values())


def _placed(file: str | None, root: Path | None, cwd: str) -> str | None:
    """Return a file relative to the root, when it lies below it and is there; else as it was said."""
    if root is None or not file:
        return file
    top = os.path.realpath(root)
    for place in (os.path.join(top, cwd, file), os.path.join(top, file)):
        inside = os.path.relpath(os.path.realpath(place), top)
        if not inside.startswith("..") and os.path.isfile(place):
            return inside
    return file
