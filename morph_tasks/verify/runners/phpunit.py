"""PHPUnit: `OK (5 tests, 9 assertions)` or a banner and `Tests: 5, Assertions: 9, Failures: 1.`; Pest's `Tests:`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, Status, Told, told, without_time

ALIASES: tuple[str, ...] = ("pest", "paratest")
SUMMARY = (
    "`OK (5 tests, 9 assertions)`, or a banner and `Tests: 5, Assertions: 9, Failures: 1.`; "
    "`  Tests:  1 failed, 5 passed` of Pest"
)
ZERO = "`No tests executed!`, only skipped or incomplete"
EXITS: dict[int, str] = {}

_OK = re.compile(r"^OK \((\d+) tests?, \d+ assertions?\)$")
_TESTS = re.compile(r"^Tests: (\d+), Assertions: \d+(?:, [A-Z][A-Za-z ]+: \d+)*\.$")
_ITEM = re.compile(r", ([A-Z][A-Za-z ]+): (\d+)")
_BANNER = re.compile(r"^(?:OK, but .*|FAILURES!|ERRORS!|WARNINGS!|DEPRECATIONS!|Tests? .*)$")
_PEST = re.compile(r"^ {2}Tests: {2,8}((?:\d+ [a-z]+, )*\d+ [a-z]+)(?: \(\d+ assertions?\))?$")
_BEGIN = re.compile(r"^PHPUnit \d+\.\d+\S* by Sebastian Bergmann")
_REFUSED = re.compile(
    r"^(?:Cannot open|Unknown option|Could not |Test (?:file|directory) |Class .* (?:could not|cannot)|option ).*"
)
_NAMES = {"errors": "errors", "failures": "failed"}

_A_LINES = (
    re.compile(rb"OK \(\d"),
    re.compile(rb"Tests: \d"),
    re.compile(rb"Tests:[^\n]{1,200}\(\d{1,7} assertion"),
    re.compile(rb"No tests executed!"),
    re.compile(rb"by Sebastian Bergmann"),
)
_A_NOTES = (re.compile(rb"Fatal error: "), re.compile(rb"Code coverage below"))
_GROUP = re.compile(r"^(?: {2,}(?:PASS|FAIL|WARN|TODO|RISK)  )?(\S.*)$")
_MARKED = re.compile(rf"^ +([{''.join(MARKS)}-]) (\S.*)$")
_DEBUG = re.compile(r"^Test (Passed|Failed|Errored|Skipped|Marked Incomplete|Considered Risky) \((.+?)\)$")
_WORDS: dict[str, Status] = {"Passed": "passed", "Considered Risky": "passed", "Failed": "failed", "Errored": "failed"}
_TITLE = re.compile(r"\bscenario ?c ?(\d+)\b", re.I)
_DETAIL = re.compile(r"^Summary of (?:non-successful )?tests|^(?:Time: |There (?:was|were) \d)")


@dataclass(frozen=True)
class _Footer:
    counts: dict[str, int]
    rank: int
    issues: bool = False


def read(output: Output) -> Found:
    """Return the summed footers; `passed` is derived, since PHPUnit prints none."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    starts = [Start(line.at) for line in lines if _BEGIN.match(line.text)]
    footers = [(line, footer) for line in lines if (footer := _footer(log, line))]
    best = max((footer.rank for _, footer in footers), default=0)
    ends = [End(line.at, footer) for line, footer in footers if footer.rank == best or not footer.counts]
    paired = pair(starts, ends, output.calls, bare="all")
    notes = [line.text for line in log.notes(*_A_NOTES)]
    fatal = next((note for note in notes if re.match(r"^(?:PHP )?Fatal error: ", note)), "")
    if not paired.ends:
        refused = (
            next((near.text for near in log.after(lines[-1], 4) if _REFUSED.match(near.text)), "") if starts else ""
        )
        problem = "usage-error" if refused else "crashed" if starts and fatal else None
        return Found(2 if starts else 0, complete=not starts, problem=problem, detail=refused or fatal)
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0, "incomplete": 0, "total": 0}
    for footer in paired.ends:
        add(counts, footer.counts)
    red = counts["failed"] + counts["errors"]
    counts["passed"] = max(counts["total"] - red - counts["skipped"] - counts["incomplete"], 0)
    executed = counts["passed"] + red
    problem, detail = None, ""
    if output.exit_code not in (0, None) and not red and executed:
        if any("Code coverage below" in note for note in notes):
            problem = "coverage-threshold"
        elif any(footer.issues for footer in paired.ends):
            problem, detail = "issues-refused", "the configuration treats skips, risky tests or warnings as failures"
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=executed,
        complete=not paired.open,
        problem=problem,
        detail=detail,
        extra={"risky": counts["risky"]} if "risky" in counts else {},
    )


def _footer(log: Log, line: Line) -> _Footer | None:
    above = [near.text for near in log.before(line, 4) if near.text]
    timed = any(text.startswith("Time: ") for text in above)
    if line.text == "No tests executed!":
        return _Footer({}, 0)
    if hit := _OK.match(line.text):
        return _Footer({"total": int(hit[1])}, 2 if timed else 1)
    if hit := _PEST.match(line.text):
        return _pest(hit[1])
    hit = _TESTS.match(line.text)
    if not hit:
        return None
    items = {name.lower().replace(" ", "_"): int(many) for name, many in _ITEM.findall(hit[0])}
    counts = {_NAMES.get(name, name): many for name, many in items.items() if name != "assertions"}
    banner = bool(above) and bool(_BANNER.match(above[-1]))
    return _Footer({"total": int(hit[1]), **counts}, 1 + banner, banner and above[-1].startswith(("OK, but", "WARN")))


def _pest(parts: str) -> _Footer:
    many = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", parts)}
    ran = (
        "passed",
        "failed",
        "risky",
        "warnings",
        "warning",
        "deprecated",
        "notices",
        "skipped",
        "incomplete",
        "todos",
        "todo",
    )
    total = sum(many.get(word, 0) for word in ran)
    skipped = sum(many.get(word, 0) for word in ("skipped", "todos", "todo"))
    return _Footer(
        {"total": total, "failed": many.get("failed", 0), "skipped": skipped, "incomplete": many.get("incomplete", 0)},
        2,
    )


def failures(text: str) -> list[Failure]:
    """Return the `1) Class::method` sections with message and place."""
    found: list[Failure] = []
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^\d+\) (\S+::\S.*)$", line):
            found.append(Failure(hit[1]))
        elif re.match(r"^There (?:was|were) \d+ (?:risky|skipped|incomplete)", line):
            break
        elif found and not found[-1].message and line.strip():
            found[-1] = Failure(found[-1].id, message=line.strip())
        elif found and found[-1].line is None and (place := re.match(r"^(/\S+\.php):(\d+)$", line)):
            found[-1] = Failure(found[-1].id, place[1], int(place[2]), found[-1].message)
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `--testdox`, of `--debug`, and of Pest."""
    group, done = "", False
    for line in log.each():
        if line.startswith(("PHPUnit ", "ParaTest ")):
            group, done = "", False
        elif _DETAIL.match(line):
            done = True
        elif hit := _DEBUG.match(line):
            yield told(hit[2], _WORDS.get(hit[1], "skipped"))
        elif done:
            continue
        elif group and (hit := _MARKED.match(line)):
            status: Status = "skipped" if hit[1] in ("-", "⚠") else MARKS[hit[1]]
            # A method's name is printed as a sentence: `Scenario C3 adds`.
            name = _TITLE.sub(r"scenario_C\1", without_time(re.sub(r" +\d+\.\d+s$| → .*$", "", hit[2]), bracketed=True))
            yield told(f"{group} > {name}", status)
        elif not line.startswith("Test '") and (hit := _GROUP.match(line)):
            group = hit[1]
