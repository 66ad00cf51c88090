"""Mocha: `  2 passing (12ms)`, `  1 pending`, `  3 failing`; the exit code is the number of failures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from morph_tasks.verify.runners import node_test, tap
from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, documents, joined, told, without_time

ALIASES: tuple[str, ...] = ()
SUMMARY = "`  2 passing (12ms)` / `  1 pending` / `  3 failing`, the `json` and `tap` reporters"
ZERO = "`0 passing`, `No test files found`, only pending"
EXITS: dict[int, str] = {}

_PASSING = re.compile(r"^ {2,4}(?:[✔✓] )?(\d+) passing \(\d+(?:\.\d+)?(?:ms|s|m|h|d)\)$")
_MORE = re.compile(r"^ {2,4}(?:- |[✖✗] )?(\d+) (pending|failing)$")
# A footer between blank lines.
_ALONE = 2
_BROKEN = re.compile(r"^ ?(?:Exception during run: |✖ ERROR: ?|Error: Cannot find module |Error \[ERR_).*")

_A_PASSING = re.compile(rb" passing[^\n(]{0,20}\(\d")
_A_NOTES = (
    re.compile(rb"Error: No test files found"),
    re.compile(rb"Exception during run: "),
    re.compile(rb"\xe2\x9c\x96 ERROR:"),
)
_STATS = re.compile(rb'"stats":\s{0,8}\{\s{0,8}"suites"')
_A_JSON = re.compile(rb'"currentRetry"')
_A_POINT = re.compile(rb"^(?:not )?ok 1 ", re.M)
_A_END = re.compile(rb"^# tests \d", re.M)
_MARKED = re.compile(r"^((?:  )+)([✔✓√✗✖×]|\d+\)|-) (\S.*)$")
_SUITE = re.compile(r"^((?:  )+)(\S.*)$")
_LISTED = re.compile(r"^(?:.*  |  )([✔✓√]) (.+): \d+ms$")


@dataclass(frozen=True)
class _Block:
    counts: dict[str, int]
    rank: int


def read(output: Output) -> Found:
    """Return the summed footers."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    blocks = [(line, block) for line in log.scan(_A_PASSING) if (block := _block(log, line))]
    notes = [line.text for line in log.notes(*_A_NOTES)]
    empty = any(note.lstrip("✖ ").startswith("Error: No test files found") for note in notes)
    broken = next((note.strip() for note in notes if _BROKEN.match(note)), "")
    best = max((block.rank for _, block in blocks), default=0)
    if best < _ALONE and (report := _json(log)):
        return report
    if not blocks:
        return _tap(log, output) or Found(
            evidence=2 if empty or broken else 0, empty=empty, problem="suite-failed" if broken else None, detail=broken
        )
    ends = [End(line.at, block) for line, block in blocks if block.rank == best]
    paired = pair((), ends, output.calls, bare="all")
    counts = {"passed": 0, "failed": 0, "skipped": 0, "pending": 0}
    for block in paired.ends:
        add(counts, block.counts)
    problem = "suite-failed" if broken and output.exit_code != 0 and not counts["failed"] else None
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=problem is None,
        problem=problem,
        detail=broken if problem else "",
    )


def _block(log: Log, line: Line) -> _Block | None:
    """Return the footer that begins with a line; one between blank lines is more likely mocha's own."""
    hit = _PASSING.match(line.text)
    if not hit:
        return None
    counts = {"passed": int(hit[1])}
    near = [text.text for text in log.after(line, 3)]
    while near and (more := _MORE.match(near[0])):
        counts[{"pending": "pending", "failing": "failed"}[more[2]]] = int(more[1])
        near = near[1:]
    counts["skipped"] = counts.get("pending", 0)
    above = log.before(line, 1)
    return _Block(counts, (not above or not above[-1].text) + (not near or not near[0]))


def _json(log: Log) -> Found | None:
    at = log.find(_STATS)
    if at is None:
        return None
    text = log.read(at, at + 1024).decode("utf-8", "replace")
    many = {hit[1]: int(hit[2]) for hit in re.finditer(r'"(tests|passes|pending|failures)":\s*(\d+)', text)}
    if "passes" not in many:
        return None
    pending = many.get("pending", 0)
    counts = {"passed": many["passes"], "failed": many.get("failures", 0), "skipped": pending, "pending": pending}
    return Found(evidence=3, at=at, counts=counts, executed=counts["passed"] + counts["failed"])


def _tap(log: Log, output: Output) -> Found | None:
    """Return what the `tap` reporter says; any TAP program writes the same."""
    found = node_test.read_log(log, output)
    return found if found.evidence == 3 else None


def failures(text: str) -> list[Failure]:
    """Return the numbered list after the footer: titles joined by ` > `, first error line, place in the stack."""
    lines = [strip_codes(raw) for raw in text.splitlines()]
    last = max(
        (index for index, line in enumerate(lines) if _MORE.match(line) and line.endswith("failing")), default=None
    )
    found: list[Failure] = []
    titles: list[str] = []
    for line in lines[last + 1 :] if last is not None else []:
        if hit := re.match(r"^ {2}\d+\) (.+)$", line):
            titles = [hit[1].rstrip(":")]
            found.append(Failure(titles[0]))
        elif found and titles and not found[-1].message and (hit := re.match(r"^ {5,}(\S.*)$", line)):
            if re.match(r"^(?:\w*Error|Uncaught|AssertionError)\b.*", hit[1]) or titles[-1:] == [""]:
                found[-1] = Failure(found[-1].id, message=hit[1])
            elif not line.strip().startswith("at "):
                titles.append(hit[1].rstrip(":"))
                found[-1] = Failure(" > ".join(titles))
        elif found and (place := re.match(r"^ +at .*?\(?((?:file://)?[^()\s]+?):(\d+):\d+\)?$", line)):
            known = found[-1]
            if known.line is None and "node:" not in place[1] and "node_modules" not in place[1]:
                found[-1] = Failure(known.id, place[1], int(place[2]), known.message)
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `spec`, `list`, `json` and `tap`."""
    if log.find(_A_JSON) is not None and (found := [one for text in documents(log, _A_JSON) for one in _of_json(text)]):
        yield from found
    elif log.find(_A_POINT) is not None and log.find(_A_END) is not None:
        yield from tap.read(log.each(), version=False)
    else:
        yield from _spec(log)


def _spec(log: Log) -> Iterator[Told]:
    above: list[tuple[int, str]] = []
    blank, done = True, False
    for line in log.each():
        if _PASSING.match(line):
            done, above = True, []
        elif done:
            # The list of failures; the dots or the blank lines of a chained run end it.
            done = not _begins_again(line)
        elif hit := _LISTED.match(line):
            yield told(hit[2], "passed")
        elif hit := _MARKED.match(line):
            above = [one for one in above if one[0] < len(hit[1])]
            yield told(joined([*(one for _, one in above), without_time(hit[3], bracketed=True)]), _status(hit[2]))
        # A suite stands at most one step below the last one; what a test printed must not end the suites around it.
        elif (hit := _SUITE.match(line)) and _fits(above, len(hit[1]), blank):
            above = [*(one for one in above if one[0] < len(hit[1])), (len(hit[1]), hit[2])]
        blank = not line


def _fits(above: list[tuple[int, str]], depth: int, blank: bool) -> bool:
    return depth <= 2 * len(above) + 2 and (blank or depth > 2 or not above)


def _begins_again(line: str) -> bool:
    return bool(_MARKED.match(line)) and line.lstrip().startswith(("✔", "✓", "√"))


def _status(mark: str) -> Status:
    return "passed" if mark in "✔✓√" else "skipped" if mark == "-" else "failed"


def _of_json(text: Mapping[str, Any]) -> Iterator[Told]:
    left = {name: {one.get("fullTitle") for one in text.get(name, ())} for name in ("failures", "pending")}
    for one in text.get("tests", ()):
        full, title = str(one.get("fullTitle")), str(one.get("title"))
        status: Status = "failed" if full in left["failures"] else "skipped" if full in left["pending"] else "passed"
        if status == "passed" and one.get("currentRetry"):
            status = "flaky"
        suites = full.removesuffix(title).strip()
        yield told(joined([suites, title]), status, one.get("file"))
