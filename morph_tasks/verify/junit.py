"""JUnit XML as many tools write it: cases, counts, and what only a suite says; streamed, without entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MESSAGE = 2000
_SECOND = 1_000_000_000
# A file's time may lag behind the clock by a kernel tick, and by two seconds on file systems of whole seconds.
_TICK = 20_000_000
_FOUND_AT = {"failure": "failed", "error": "error", "skipped": "skipped"}
_CARRYING = ("scenario", "scenarios")
_RETRIED = frozenset({"flakyFailure", "flakyError"})
_NOT_RUN = frozenset({"notrun", "skipped", "disabled", "suppressed", "ignored", "pending"})


@dataclass(frozen=True)
class JUnitCase:
    """One test case; `status` is passed, failed, error, skipped or xfailed, `time` in seconds, `line` 1-based."""

    id: str
    name: str
    classname: str
    file: str | None
    line: int | None
    status: str
    message: str
    time: float | None
    flaky: bool = False
    suites: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    # Which suite of the reading it is in: the same name in another one is another test.
    suite: int = 0


@dataclass(frozen=True)
class JUnitReading:
    """What the reports of one run hold.

    `counts` None means not readable (a truncated or foreign file, or no file at all), never zero. `suite_errors` are
    errors that no case holds, and suites whose own numbers do not match their cases. `stale` files are older than
    the run.
    """

    tests: tuple[JUnitCase, ...] = ()
    counts: Mapping[str, int] | None = None
    suite_errors: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    stale: tuple[Path, ...] = ()

    @property
    def executed(self) -> int | None:
        """Return the number of tests that ran."""
        return (
            None
            if self.counts is None
            else sum(self.counts[word] for word in ("passed", "failed", "errors", "xfailed"))
        )

    @property
    def flaky(self) -> bool:
        """Tell whether a test passed only after it failed."""
        return any(test.flaky for test in self.tests)


@dataclass
class _Suite:
    name: str
    said: Mapping[str, str]
    number: int = 0
    own: int = 0
    inside: int = 0
    broken: int = 0
    scenarios: list[str] = field(default_factory=list)


@dataclass
class _Report:
    """The state of one file while it is read."""

    cases: list[JUnitCase] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    suites: list[_Suite] = field(default_factory=list)
    begun: int = 0
    root: str = ""
    case: dict[str, Any] | None = None
    texts: list[str] = field(default_factory=list)
    listening: str = ""


def find_reports(globs: Iterable[str], root: Path | None = None) -> list[Path]:
    """Return the files that patterns name (`**` crosses folders), relative to `root` or the current folder."""
    import glob

    found = {Path(root or ".", path) for one in globs for path in glob.glob(one, root_dir=root, recursive=True)}
    return sorted(path for path in found if path.is_file())


def read_junit(paths: Sequence[Path], *, since_ns: int | None = None) -> JUnitReading:
    """Return all reports as one reading; files last written before `since_ns` (ns since the epoch) are left out.

    One file that does not parse to its end makes the counts unknown: a part of a run is never green.
    """
    fresh, stale = _by_age(paths, since_ns)
    cases: list[JUnitCase] = []
    errors: list[str] = []
    unreadable: list[str] = []
    begun = 0
    for path in fresh:
        report = _Report(begun=begun)
        problem = _parse(path, report)
        begun = report.begun
        if problem:
            unreadable.append(f"{path}: {problem}")
        cases += report.cases
        errors += report.errors
    counts = _count(cases) if fresh and not unreadable else None
    return JUnitReading(tuple(cases), counts, tuple(errors), tuple(unreadable), tuple(fresh), tuple(stale))


def _by_age(paths: Sequence[Path], since_ns: int | None) -> tuple[list[Path], list[Path]]:
    fresh: dict[Path, Path] = {}
    stale: list[Path] = []
    for path in paths:
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            continue
        slack = 2 * _SECOND if changed % _SECOND == 0 else _TICK
        if since_ns is not None and changed + slack < since_ns:
            stale.append(path)
        else:
            fresh.setdefault(path.resolve(), path)
    return list(fresh.values()), stale


def _parse(path: Path, report: _Report) -> str | None:
    """Fill a report from a file; return why it is not readable, None when it is."""
    from xml.sax import ContentHandler, SAXException

    import defusedxml.sax
    from defusedxml import DefusedXmlException

    class Handler(ContentHandler):
        def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802
            _begin(report, name.rsplit(":", 1)[-1], attrs)

        def endElement(self, name: str) -> None:  # noqa: N802
            _end(report, name.rsplit(":", 1)[-1])

        def characters(self, content: str) -> None:
            if report.listening:
                report.texts.append(content)

    try:
        with open(path, "rb") as file:
            defusedxml.sax.parse(file, Handler())
    except DefusedXmlException as error:
        return f"refused, it declares entities ({type(error).__name__})"
    except (SAXException, ValueError, LookupError) as error:
        return f"not a whole XML document ({error})"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None if report.root in ("testsuites", "testsuite") else f"not a JUnit report (`{report.root}`)"


def _begin(report: _Report, tag: str, attrs: Any) -> None:
    if not report.root:
        report.root = tag
    if tag in ("testsuites", "testsuite"):
        report.begun += 1
        report.suites.append(_Suite(attrs.get("name", ""), dict(attrs.items()), report.begun))
    elif tag == "testcase":
        report.case = {
            "attrs": dict(attrs.items()), "status": "passed", "message": "", "flaky": False, "scenarios": [],
        }  # fmt: skip
    elif tag == "property" and attrs.get("name", "").lower() in _CARRYING:
        _carry(report, attrs.get("value", ""))
        report.listening, report.texts = tag, []
    elif tag in _FOUND_AT or tag in _RETRIED:
        report.listening = tag
        report.texts = []
        _mark(report, tag, attrs)


def _carry(report: _Report, text: str) -> None:
    """Keep the scenarios that a test, or a suite for all of its tests, says it proves."""
    found = re.findall(r"[^\s,;|\[\]]+", text)
    if report.case is not None:
        report.case["scenarios"] += found
    elif report.suites:
        report.suites[-1].scenarios += found


def _mark(report: _Report, tag: str, attrs: Any) -> None:
    said = attrs.get("message", "")
    case = report.case
    if case is None:
        if tag in ("error", "failure"):
            report.errors.append(f"{report.suites[-1].name if report.suites else 'suite'}: {said or tag}"[:_MESSAGE])
            if report.suites:
                report.suites[-1].broken += 1
        return
    if tag in _RETRIED:
        case["flaky"] = True
        return
    status = "xfailed" if tag == "skipped" and "xfail" in attrs.get("type", "") else _FOUND_AT[tag]
    # An error after a failure (a broken teardown) does not make the failure an error.
    if case["status"] in ("passed", "skipped"):
        case["status"], case["message"] = status, said


def _end(report: _Report, tag: str) -> None:
    if tag == report.listening:
        text = "".join(report.texts).strip()
        if tag == "property":
            _carry(report, text)
        elif report.case is not None and not report.case["message"] and report.case["status"] != "passed":
            report.case["message"] = text
        report.listening, report.texts = "", []
    elif tag == "testcase" and report.case is not None:
        report.cases.append(_case(report.case, report.suites))
        report.case = None
        if report.suites:
            report.suites[-1].own += 1
    elif tag in ("testsuites", "testsuite") and report.suites:
        _close_suite(report)


def _case(case: dict[str, Any], suites: Sequence[_Suite]) -> JUnitCase:
    attrs: dict[str, str] = case["attrs"]
    name, classname = attrs.get("name", ""), attrs.get("classname", attrs.get("class", ""))
    file = attrs.get("file") or next((suite.said["file"] for suite in reversed(suites) if suite.said.get("file")), None)
    line = attrs.get("line") or attrs.get("lineno") or ""
    status = case["status"]
    if status == "passed" and _NOT_RUN & {attrs.get("status", "").lower(), attrs.get("result", "").lower()}:
        status = "skipped"
    owner = classname or (suites[-1].name if suites else "")
    return JUnitCase(
        id="::".join(part for part in (owner, name) if part),
        name=name,
        classname=classname,
        file=file,
        line=int(line) if line.isdigit() else None,
        status=status,
        message=case["message"][:_MESSAGE],
        time=_seconds(attrs.get("time", "")),
        flaky=case["flaky"],
        suites=tuple(suite.name for suite in suites if suite.name),
        suite=suites[-1].number if suites else 0,
        scenarios=(*(one for suite in suites for one in suite.scenarios), *case["scenarios"]),
    )


def _close_suite(report: _Report) -> None:
    """Compare a suite's numbers with its cases; tools count either its own cases or all below it."""
    suite = report.suites.pop()
    held = suite.own + suite.inside
    said = _number(suite.said.get("tests"))
    broken = (_number(suite.said.get("errors")) or 0) + (_number(suite.said.get("failures")) or 0)
    if said is not None and said not in (suite.own, held):
        report.errors.append(f"{suite.name or 'the report'} says {said} tests and holds {held}")
    elif broken and not held and not suite.broken:
        report.errors.append(f"{suite.name or 'the report'} says {broken} errors and holds no test")
    if report.suites:
        report.suites[-1].inside += held
        report.suites[-1].broken += suite.broken


def _count(cases: Sequence[JUnitCase]) -> dict[str, int]:
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0, "xfailed": 0, "total": len(cases)}
    for case in cases:
        counts["errors" if case.status == "error" else case.status] += 1
    flaky = sum(case.flaky for case in cases)
    return counts | ({"flaky": flaky} if flaky else {})


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _seconds(text: str) -> float | None:
    try:
        return float(text.replace(",", "")) if text else None
    except ValueError:
        return None
