"""Maven Surefire and Failsafe: `Tests run: 5, Failures: 0, Errors: 0, Skipped: 1` of every module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("maven", "mvn", "failsafe")
SUMMARY = "`[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1` below `Results:` of every module"
ZERO = "`No tests to run.`, `Tests are skipped.`, `Tests run: 0`, only skipped"
EXITS: dict[int, str] = {}

_TOTAL = re.compile(
    r"^(?P<level>\[(?:INFO|ERROR|WARNING)\] +)?Tests run: +(\d+), Failures: +(\d+), Errors: +(\d+), Skipped: +(\d+)"
    r"(?:, Flakes: +(\d+))?"
    r"(?P<time>, Time elapsed: .*)?$"
)
_BANNER = re.compile(r"^(?:\[INFO\] +)? ?T E S T S$")
_EMPTY = re.compile(
    r"^(?:\[\w+\] +)?(?:No tests to run\.?|Tests are skipped\.?|.*No tests (?:were executed|matching pattern)\b.*)$"
)

_A_LINES = (re.compile(rb"Tests run: "), re.compile(rb"T E S T S"))
_A_NOTES = (
    re.compile(rb"No tests "),
    re.compile(rb"Tests are skipped"),
    re.compile(rb"BUILD (?:SUCCESS|FAILURE|ERROR)"),
    re.compile(rb"COMPILATION ERROR"),
    re.compile(rb"The forked VM terminated"),
    re.compile(rb"There was a timeout or other error in the fork"),
    re.compile(rb"Coverage checks have not been met"),
)
_A_NAMED = re.compile(rb"<<< (?:FAILURE|ERROR)!|\[(?:OK|XX|\?\?|X|S)\]|[+'`]--|\xe2\x94[\x94\x9c]\xe2\x94\x80")
_FAILED = re.compile(
    r"^(?:\[\w+\] )?(?:(?P<class>[\w.$]+)\.(?P<method>[\w$]+(?:[({\[].*?)?)|(?P<name>.+?)\((?P<of>[\w.$]+)\))"
    r" +(?:--? )?(?:Time elapsed: .*?)?<<< (?:FAILURE|ERROR)!.*$"
)
_TREE = re.compile(r"^(?:\[\w+\] )?(?P<indent>[|│ ]*)(?:[+'`]--|├─+|└─+)(?: ?)(?P<name>\S.*)$")
_MARK = re.compile(r"^(?:\[(OK|XX|\?\?)\] (.+?)(?: - [\d.,]+ ?m?s| \([\d.,]+ ?m?s\))?|(.+?) \[(OK|X|S)\](?: .*)?)$")
_WORDS: dict[str, Status] = {"OK": "passed", "XX": "failed", "X": "failed"}


@dataclass(frozen=True)
class _Total:
    counts: dict[str, int]
    rank: int


def read(output: Output) -> Found:
    """Return the totals of all modules summed; lines of single classes only count when there is no total."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    notes = [line.text.strip() for line in log.notes(*_A_NOTES)]
    found = [(line, total) for line in lines if (total := _total(log, line))]
    best = max((total.rank for _, total in found), default=0)
    own = [(line, total) for line, total in found if total.rank == best]
    banners = [Start(line.at) for line in lines if _BANNER.match(line.text)]
    paired = pair(banners, [End(line.at, total) for line, total in own], bare="all") if best > 0 else None
    totals = list(paired.ends) if paired else [total for _, total in own]
    empty = any(_EMPTY.match(note) for note in notes)
    problem, detail = _problem(notes, totals, output)
    if not totals:
        known = bool(banners) or empty or any("BUILD " in note for note in notes)
        complete = not banners or empty
        return Found(2 if known else 0, empty=empty and not problem, complete=complete, problem=problem, detail=detail)
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0, "total": 0}
    for total in totals:
        add(counts, total.counts)
    counts["passed"] = max(counts["total"] - counts["failed"] - counts["errors"] - counts["skipped"], 0)
    flaky = counts.get("flaky", 0) > 0
    is_open = paired.open if paired else True
    return Found(
        evidence=3,
        at=own[-1][0].at,
        counts=counts,
        executed=counts["passed"] + counts["failed"] + counts["errors"],
        complete=not is_open and problem in (None, "coverage-threshold"),
        problem=problem,
        detail=detail,
        flaky=flaky,
        extra={"modules": len(totals)} | ({"flaky_hint": True} if flaky else {}),
    )


def _total(log: Log, line: Line) -> _Total | None:
    """Return a line's counts; rank 0 is the line of one class, 3 the total that Maven itself wrote below `Results`."""
    hit = _TOTAL.match(line.text)
    if not hit:
        return None
    names = ("total", "failed", "errors", "skipped", "flaky")
    counts = {name: int(hit[place]) for place, name in enumerate(names, start=2) if hit[place]}
    if hit["time"]:
        return _Total(counts, 0)
    above = [near.text for near in log.before(line, 200)]
    headed = any(re.match(r"^(?:\[\w+\] +)?Results ?:$", text) for text in above)
    return _Total(counts, 1 + headed + bool(hit["level"]))


def _problem(notes: list[str], totals: list[_Total], output: Output) -> tuple[str | None, str]:
    text = "\n".join(notes)
    red = sum(total.counts.get("failed", 0) + total.counts.get("errors", 0) for total in totals)
    failed = "BUILD FAILURE" in text or "BUILD ERROR" in text
    if "forked VM terminated" in text or "error in the fork" in text:
        return "crashed", next(note for note in notes if "fork" in note)[:200]
    if "COMPILATION ERROR" in text and (failed or output.exit_code != 0) and not red:
        return "build-failed", "compilation error"
    if failed and not red and not any(_EMPTY.match(note) for note in notes):
        missed = "Coverage checks have not been met" in text
        return ("coverage-threshold", "") if missed else ("build-failed", "Maven ended with BUILD FAILURE")
    return None, ""


def failures(text: str) -> list[Failure]:
    """Return the list below `Failures:` and `Errors:` (`Class.method:12 message`)."""
    found: dict[str, Failure] = {}
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^(?:\[ERROR\] +)(?:\S+\()?([\w$]+\.[\w$]+)(?:\[.*?\])?:(\d+)(?:->\S+)? ?(.*)$", line):
            found.setdefault(hit[1], Failure(hit[1], None, int(hit[2]), hit[3].strip("» ")))
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests that failed, and those of the trees that JUnit's console and its reporter for Maven draw."""
    above: list[tuple[int, str]] = []
    last: tuple[int, str, str] | None = None
    for line in log.walk(_A_NAMED):
        if hit := _FAILED.match(line.text):
            owner, name = (hit["class"], hit["method"]) if hit["class"] else (hit["of"], hit["name"])
            yield told(f"{owner} > {name}", "failed")
        elif hit := _TREE.match(line.text):
            depth = len(hit["indent"])
            # The console marks the containers too: a test is what nothing stands below.
            if last and depth > last[0]:
                above.append(last[:2])
            elif last:
                yield from _leaf(above, last)
            above = [one for one in above if one[0] < depth]
            mark = _MARK.match(hit["name"])
            name = (mark[2] or mark[3]) if mark else re.sub(r" - [\d.,]+ ?m?s$", "", hit["name"])
            last = (depth, name, (mark[1] or mark[4]) if mark else "")
    if last:
        yield from _leaf(above, last)


def _leaf(above: list[tuple[int, str]], last: tuple[int, str, str]) -> Iterator[Told]:
    if last[2]:
        yield told(" > ".join([*(one for _, one in above), last[1]]), _WORDS.get(last[2], "skipped"))
