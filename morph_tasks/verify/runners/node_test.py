"""node --test: the block `tests 7 … duration_ms 5`, each line after `# ` (TAP) or `ℹ ` (spec)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners import tap
from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, Told, joined, told, without_time

ALIASES: tuple[str, ...] = ("node:test", "node", "tap")
SUMMARY = "the block `# tests 7` / `# pass 3` / `# fail 2` … (`ℹ tests 7` of the spec reporter)"
ZERO = "`# tests 0`, only skipped"
EXITS: dict[int, str] = {}

_FIRST = re.compile(r"^(?P<mark># |ℹ |i |<!-- |\t<!-- )tests (?P<many>\d+)(?: -->)?$")
_NEXT = re.compile(
    r"^(?:# |ℹ |i |\t?<!-- ) ?(suites|pass|fail|cancelled|skipped|todo|duration_ms) +(\d+(?:\.\d+)?)(?: -->)?$"
)
_ORDER = ("suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms")
_PLAN = re.compile(r"^1\.\.(\d+)(?: #.*)?$")
_POINT = re.compile(r"^(not )?ok \d+\b(?:.*(# (?:TODO|SKIP))\b)?", re.I)
_NAMES = {"pass": "passed", "fail": "failed"}

_A_FIRST = re.compile(rb"tests \d")
_A_PLAN = re.compile(rb"1\.\.\d")
_A_POINT = re.compile(rb"ok \d")
_A_BEGIN = re.compile(rb"TAP version 1")
_A_BAIL = re.compile(rb"Bail out!")
_A_MISSING = re.compile(rb"Could not find '")
_A_TAP = re.compile(rb"^TAP version \d", re.M)
_OPENED = re.compile(r"^((?:  )*)▶ (\S.*?)(?: \(\d+(?:\.\d+)?m?s\))?$")
_MARKED = re.compile(rf"^((?:  )*)([{''.join(MARKS)}]) (\S.*)$")
_LEFT_OUT = re.compile(r" # (?:SKIP|TODO)\b.*$", re.I)


@dataclass(frozen=True)
class _Block:
    counts: dict[str, int]
    suites: int
    rank: int


def read(output: Output) -> Found:
    """Return the summed blocks; only whole blocks at the left margin count."""
    return read_streams(output, read_log)


def read_log(log: Log, output: Output) -> Found:
    """Return what one stream says."""
    lines = log.scan(_A_FIRST, _A_BEGIN)
    starts = [Start(line.at) for line in lines if re.match(r"^TAP version 1[34]$", line.text)]
    blocks = [(line, block) for line in lines if (block := _block(log, line))]
    best = max((block.rank for _, block in blocks), default=0)
    ends = [End(line.at, block) for line, block in blocks if block.rank == best]
    paired = pair(starts, ends, output.calls, bare="all")
    bailed = any(line.text.startswith("Bail out!") for line in log.notes(_A_BAIL))
    if not paired.ends:
        return _without_block(log, started=bool(starts), bailed=bailed)
    counts, suites = {"passed": 0, "failed": 0, "skipped": 0}, 0
    for block in paired.ends:
        add(counts, block.counts)
        suites += block.suites
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=not paired.open and not bailed,
        problem="interrupted" if bailed else None,
        extra={"suites": suites},
    )


def _without_block(log: Log, *, started: bool, bailed: bool) -> Found:
    """Return what TAP without node's footer tells: whether the plan was kept, and whether something failed."""
    missing = [line.text for line in log.notes(_A_MISSING) if line.text.startswith("Could not find '")]
    planned, seen, red = None, 0, 0
    for line in log.walk(_A_POINT, _A_PLAN) if started else ():
        if plan := _PLAN.match(line.text):
            planned = int(plan[1])
        elif point := _POINT.match(line.text):
            seen += 1
            red += bool(point[1]) and not point[2]
    kept = planned is not None and seen >= planned
    problem = "interrupted" if bailed else "usage-error" if missing else "tests-failed" if red else None
    return Found(
        evidence=2 if started else 1 if missing else 0,
        complete=kept or not started,
        problem=problem,
        detail=missing[0] if missing else f"{red} test points failed" if red else "",
    )


def _block(log: Log, line: Line) -> _Block | None:
    """Return the block that begins with a line: `pass` and `fail` must follow, in node's order, without a gap."""
    first = _FIRST.match(line.text)
    if not first:
        return None
    counts, suites, place, seen = {"total": int(first["many"])}, 0, -1, set[str]()
    for near in log.after(line, len(_ORDER)):
        hit = _NEXT.match(near.text)
        if not hit or _ORDER.index(hit[1]) <= place:
            break
        place = _ORDER.index(hit[1])
        seen.add(hit[1])
        if hit[1] == "suites":
            suites = int(float(hit[2]))
        elif hit[1] != "duration_ms":
            counts[_NAMES.get(hit[1], hit[1])] = int(float(hit[2]))
    # tape prints no `fail` line when nothing failed.
    if "pass" not in seen:
        return None
    before = [near.text for near in log.before(line, 3) if near.text]
    planned = bool(before) and bool(_PLAN.match(before[-1]))
    return _Block(counts, suites, 2 * ("duration_ms" in seen) + planned)


def failures(text: str) -> list[Failure]:
    """Return the tests that end `not ok` (TAP) or stand under `✖ failing tests:` (spec)."""
    lines = [strip_codes(raw) for raw in text.splitlines()]
    listed = next((index for index, line in enumerate(lines) if line == "✖ failing tests:"), None)
    return _spec(lines[listed + 1 :]) if listed is not None else _tap(lines)


def _spec(lines: list[str]) -> list[Failure]:
    found: list[Failure] = []
    place: re.Match[str] | None = None
    for line in lines:
        if hit := re.match(r"^test at (.+?):(\d+):\d+$", line):
            place = hit
        elif (hit := re.match(r"^✖ (.+?)(?: \(\d+(?:\.\d+)?m?s\))?$", line)) and place:
            found.append(Failure(hit[1], place[1], int(place[2])))
            place = None
        elif found and not found[-1].message and line.strip():
            found[-1] = Failure(found[-1].id, found[-1].file, found[-1].line, line.strip())
    return found


def _tap(lines: list[str]) -> list[Failure]:
    found: list[Failure] = []
    suite = False
    for line in lines:
        if hit := re.match(r"^ *not ok \d+ - (.+?)( # (?:TODO|SKIP).*)?$", line):
            suite = bool(hit[2])
            if not suite:
                found.append(Failure(hit[1]))
        elif re.match(r"^ *ok \d+", line):
            suite = True
        elif found and not suite:
            last = found[-1]
            if hit := re.match(r"^ +location: '(.+?):(\d+):\d+'$", line):
                found[-1] = Failure(last.id, hit[1], int(hit[2]), last.message)
            elif hit := re.match(r"^ +error: (?:'(.*)'|\|-|(.+))$", line):
                found[-1] = Failure(last.id, last.file, last.line, hit[1] or hit[2] or "")
            elif re.match(r"^ +type: 'suite'$|^ +failureType: 'subtestsFailed'$", line):
                found.pop()
                suite = True
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `tap` and `spec`; a suite or a test with subtests closes with a line that is no test's."""
    if log.find(_A_TAP) is not None:
        yield from tap.read(log.each())
        return
    above: list[tuple[int, str]] = []
    failed_inside: set[int] = set()
    done = False
    for line in log.each():
        if line.startswith(("✖ failing tests:", "ℹ tests ")):
            done, above = True, []
        elif hit := _OPENED.match(line):
            depth, done = len(hit[1]), False
            above = [*(one for one in above if one[0] < depth), (depth, hit[2])]
            failed_inside.discard(depth)
        elif (hit := _MARKED.match(line)) and not done:
            depth, name = len(hit[1]), without_time(_LEFT_OUT.sub("", hit[3]), bracketed=True)
            closes = any(one == (depth, name) for one in above)
            status = "skipped" if _LEFT_OUT.search(hit[3]) else MARKS[hit[2]]
            above = [one for one in above if one[0] < depth]
            # One that failed by itself, though its subtests passed, is a result of its own.
            if not closes or (status == "failed" and depth not in failed_inside):
                yield told(joined([*(one for _, one in above), name]), status)
            if status == "failed":
                failed_inside |= {one[0] for one in above}
