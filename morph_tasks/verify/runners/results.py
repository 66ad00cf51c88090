"""Which tests that carry a scenario ran, and how they ended: by the plugin's report, by JUnit, by the output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.runners.model import TestResult
from morph_tasks.verify.runners.text import Log
from morph_tasks.verify.runners.told import Status, Told
from morph_tasks.verify.scenarios.tags import ANCHORS, tag, tags

if TYPE_CHECKING:
    from morph_tasks.verify.junit import JUnitCase, JUnitReading

_TAGGED = re.compile(b"|".join([*map(re.escape, ANCHORS), rb"cenario [cC]\d"]))
# The few literals that every tag holds.
_HINTS = (b"[C", b":C", b"enario")
_STATUS: dict[str, Status] = {
    "passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped", "xfailed": "skipped",
}  # fmt: skip
# Of a log without a tag only its two ends are asked whether it names tests.
_END = 1 << 17
_BEST = ("failed", "flaky", "passed", "skipped")


@dataclass(frozen=True)
class Results:
    """The tests with a scenario. `named` False: the run named not all of its tests, so nobody knows of the others."""

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
    """Return the tests of a finished run that carry a scenario, each once; `runner` is a name of the table.

    The first source that there is speaks alone: the report of the pytest plugin, JUnit, the output. Files are relative
    to `root` where they lie below it; a run in `cwd` may name them from there.
    """
    for found in (_of_report(report), _of_junit(junit, root, cwd)):
        if found is not None:
            return Results(_merged(found, root, cwd), named=True)
    return _of_output(runner, log, root, cwd)


def _of_report(path: Path | None) -> list[Told] | None:
    """Read the lines of the pytest plugin; None without a report. A test that did not end is not in it."""
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    said = [one for line in lines if (one := _parsed(line))]
    return [_of_pytest(one) for one in said if "nodeid" in one] if said else None


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except ValueError:  # cut off in the middle
        return None
    return said if isinstance(said, dict) else None


def _of_pytest(said: dict[str, Any]) -> Told:
    node = str(said["nodeid"])
    name = node.partition("::")[2] or node
    head, bracket, rest = name.partition("[")
    outcome = _STATUS.get(str(said.get("outcome")), "skipped")
    place = said.get("path")
    marked = said.get("scenarios")
    test = TestResult(
        name=head.replace("::", " > ") + bracket + rest,
        status="flaky" if said.get("flaky") and outcome == "passed" else outcome,
        file=place if place and os.path.exists(place) else said.get("file"),
        line=said.get("line"),
        scenarios=tuple(map(tag, map(str, marked if isinstance(marked, list) else ()))),
    )
    return Told(test, node)


def _of_junit(junit: JUnitReading | None, root: Path | None, cwd: str) -> list[Told] | None:
    if junit is None or junit.counts is None:
        return None
    from morph_tasks.verify.runners.owners import file_of_owner

    return [_of_case(case, *file_of_owner(case, root, cwd)) for case in junit.tests]


def _of_case(case: JUnitCase, file: str | None, group: str) -> Told:
    """Return a case under the name of its class or suite, without what only repeats the file."""
    whole = " > ".join([*case.suites, case.classname, case.name])
    title = case.name.replace(" › ", " > ")
    name = f"{group} > {title}" if group and group not in title else title
    status: Status = "flaky" if case.flaky and case.status == "passed" else _STATUS[case.status]
    said = (*map(tag, case.scenarios), *tags(whole))
    return Told(TestResult(name or case.id, status, case.file or file, case.line, said), f"{case.suite} {case.id}")


def _of_output(runner: str, log: Path, root: Path | None, cwd: str) -> Results:
    from morph_tasks.verify.runners.table import RUNNERS

    if runner not in RUNNERS:
        return Results((), named=False)
    text = Log(log)
    try:
        if not text.holds(*_HINTS) or text.find(_TAGGED) is None:
            ends = text.read(0, _END) + b"\n" + text.read(max(text.size - _END, _END), text.size)
            return Results((), named=_named(list(RUNNERS[runner].results(Log(ends)))))
        found = list(RUNNERS[runner].results(text))
        named = _named(found)
        if not named:
            known = {
                one for test in found if test.test and test.test.status == "failed" for one in tags(test.test.name)
            }
            found += [one for one in _failed(runner, text) if one.test and not known.issuperset(tags(one.test.name))]
    finally:
        text.close()
    return Results(_merged(found, root, cwd), named)


def _named(found: list[Told]) -> bool:
    """Tell whether a run named its tests. Every runner names those that failed; that alone says nothing."""
    whole = all(one.test is not None for one in found)
    return whole and any(one.test and one.test.status in ("passed", "flaky") for one in found)


def _failed(runner: str, log: Log) -> Iterator[Told]:
    """Yield the failed tests that stand in no list of tests, only among the details of failures."""
    from morph_tasks.verify.runners.table import RUNNERS

    tail = log.read(log.size - (_END << 4), log.size).decode("utf-8", "replace")
    for one in RUNNERS[runner].failures("\n".join(line[:1000] for line in tail.split("\n"))):
        yield Told(TestResult(one.id, "failed", one.file, one.line))


def _merged(found: Iterable[Told], root: Path | None, cwd: str) -> tuple[TestResult, ...]:
    """Return the tests with a scenario; one that is told twice, failed and then passed, is flaky."""
    tests: dict[tuple[str, str, str | None], TestResult] = {}
    for one in found:
        if one.test is None:
            continue
        key = (one.of, one.test.name, one.test.file)
        before = tests.get(key)
        carried = tuple(dict.fromkeys([*one.test.scenarios, *tags(one.test.name)]))
        if before is None:
            if carried:
                tests[key] = replace(one.test, scenarios=carried)
            continue
        tests[key] = replace(
            before,
            status=_both(before.status, one.test.status),
            line=before.line or one.test.line,
            scenarios=tuple(dict.fromkeys([*before.scenarios, *carried])),
        )
    return tuple(_placed(test, key[0], root, cwd) for key, test in tests.items())


def _placed(test: TestResult, of: str, root: Path | None, cwd: str) -> TestResult:
    from morph_tasks.verify.runners.owners import of_go, placed

    if test.file is None and root is not None and (found := of_go(of, test.name, root, cwd)):
        return replace(test, file=placed(found[0], root, cwd), line=found[1])
    return replace(test, file=placed(test.file, root, cwd))


def _both(before: Status, now: Status) -> Status:
    """Return what two lines about one test say together."""
    if (before, now) in (("failed", "passed"), ("failed", "flaky")):
        return "flaky"
    return min(before, now, key=_BEST.index)
