"""Jest: `Test Suites: …` / `Tests:       1 failed, 2 passed, 3 total`, on stderr, redrawn on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from morph_tasks.verify.runners.jestjson import read_json, tests_of
from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, UNNAMED, Told, documents, joined, told, without_time

ALIASES: tuple[str, ...] = ()
SUMMARY = "the block `Test Suites: …` / `Tests:       1 failed, 2 passed, 3 total`, or `--json`"
ZERO = "`No tests found`, `0 total`, only skipped or todo"
EXITS: dict[int, str] = {}

_TESTS = re.compile(r"^Tests: {1,12}((?:\d+ [a-z]+, )*)(\d+) total$")
_SUITES = re.compile(r"^Test Suites: {1,4}((?:\d+ [a-z]+, )*)(?:(\d+) of )?(\d+) total$")
_PART = re.compile(r"(\d+) ([a-z]+)")
_RAN_ALL = re.compile(r"^Ran all test suites\b.*")
_EMPTY = re.compile(r"^No tests found(?:, exiting with code \d+| related to files changed since .*)$")
_WHOLE = 2
_REFUSED = re.compile(r"Validation Error|Unrecognized CLI Parameter|Unrecognized option|Could not find a config file")

_A_TESTS = re.compile(rb"Tests: [^\n]{0,200}\d total")
_A_EMPTY = re.compile(rb"No tests found")
_A_NOTES = (
    re.compile(rb"Test suite failed to run"),
    re.compile(rb"Jest: [^\n]{0,200}coverage threshold"),
    re.compile(rb"Test run was interrupted"),
    re.compile(rb"Validation Error"),
    re.compile(rb"Unrecognized (?:CLI|option)"),
    re.compile(rb"Jest did not exit one second"),
    re.compile(rb"A worker process has failed to exit"),
    re.compile(rb"LOGGING RETRY ERRORS"),
)
_A_JSON = re.compile(rb'"numTotalTestSuites"')
_HEAD = re.compile(r"^ ?(?:PASS|FAIL) +(?:(\S+) +)?(\S+\.\w+)(?: \(.*\))?$")
_LEFT_OUT = {"○": "skipped ", "✎": "todo "}
_TREE = re.compile(rf"^( +)(?:([{''.join(MARKS)}]) )?(\S.*)$")
_BULLET = re.compile(r"^ {2}● (\S.*)$")
_NO_TEST = ("Console", "Test suite failed to run", "Cannot log after", "process.exit called", "Deprecation Warning")


@dataclass(frozen=True)
class _Block:
    line: Line
    tests: dict[str, int]
    suites: dict[str, int]
    partial: bool
    rank: int


def read(output: Output) -> Found:
    """Return the last block of every run, summed; suites that did not load are a problem."""
    return read_streams(output, _read_log, home=1)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(_A_TESTS)
    blocks = [block for line in lines if (block := _block(log, line))]
    notes = [line.text.strip() for line in log.notes(*_A_NOTES)]
    empty = any(_EMPTY.match(line.text) for line in log.notes(_A_EMPTY))
    report = (
        read_json(log, "numFailedTestSuites") if max((block.rank for block in blocks), default=0) < _WHOLE else None
    )
    if report:
        return report
    if not blocks:
        refused = next((note for note in notes if _REFUSED.search(note)), "")
        return Found(
            evidence=2 if empty else 1 if refused or notes else 0,
            empty=empty,
            problem="usage-error" if refused else None,
            detail=refused.strip("● "),
        )
    paired = pair((), [End(block.line.at, block) for block in _final(log, blocks)], output.calls, bare="all")
    tests: dict[str, int] = {"passed": 0, "failed": 0, "skipped": 0}
    suites: dict[str, int] = {}
    for block in paired.ends:
        add(tests, block.tests)
        add(suites, block.suites)
    problem, detail = _problem(tests, suites, notes, output)
    unloaded = any("Test suite failed to run" in note for note in notes) and suites.get("failed", 0) > 0
    cut = paired.ends[-1].partial and tests["failed"] > 0
    return Found(
        evidence=3,
        at=paired.last,
        counts=tests,
        executed=tests["passed"] + tests["failed"],
        complete=not unloaded and not cut and problem in (None, "coverage-threshold"),
        problem=problem,
        detail=detail,
        flaky=any("LOGGING RETRY ERRORS" in note for note in notes),
        extra={"suites": suites} if suites else {},
        warnings=tuple(note for note in notes if note.startswith(("Jest did not exit", "A worker process has"))),
    )


def _block(log: Log, line: Line) -> _Block | None:
    hit = _TESTS.match(line.text)
    if not hit:
        return None
    above = [_SUITES.match(near.text) for near in log.before(line, 1)]
    suites = above[0] if above else None
    below = [near.text for near in log.after(line, 8)]
    timed = any(text.startswith(("Snapshots:", "Time:")) for text in below[:3])
    done = timed and any(_RAN_ALL.match(text) or text.startswith("Test run was interrupted") for text in below[1:5])
    counted = (
        {part[2]: int(part[1]) for part in _PART.finditer(suites[1])} | {"total": int(suites[3])} if suites else {}
    )
    tests = {part[2]: int(part[1]) for part in _PART.finditer(hit[1])} | {"total": int(hit[2])}
    return _Block(line, tests, counted, bool(suites and suites[2]), bool(suites) + timed + done)


def _final(log: Log, blocks: Sequence[_Block]) -> list[_Block]:
    """Drop imitations (not whole) and what a terminal drew over (`n of m` suites, or an erase before the next)."""
    best = max(block.rank for block in blocks)
    whole = [block for block in blocks if block.rank == best]
    kept: list[_Block] = []
    for block, following in zip(whole, [*whole[1:], None], strict=True):
        redrawn = (
            following is not None and best < 3 and (block.partial or log.erased(block.line.end, following.line.at))
        )
        if not redrawn:
            kept.append(block)
    return kept


def _problem(tests: dict[str, int], suites: dict[str, int], notes: list[str], output: Output) -> tuple[str | None, str]:
    if any(note.startswith("Test run was interrupted") for note in notes):
        return "interrupted", ""
    if suites.get("failed", 0) and not tests["failed"]:
        return "suite-failed", f"{suites['failed']} test suite{'s' if suites['failed'] > 1 else ''} could not be run"
    missed = next((note for note in notes if note.startswith("Jest: ")), "")
    if missed and output.exit_code != 0 and not tests["failed"]:
        return "coverage-threshold", missed
    return None, ""


def failures(text: str) -> list[Failure]:
    """Return what the `● suite › test` headings name, with the first line below and the place in the stack."""
    found: dict[str, Failure] = {}
    current, file = "", None
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^(?:FAIL|PASS) +(?:[^\s/]+ +)?(\S+\.[cm]?[jt]sx?)(?: \(.*\))?$", line):
            file, current = hit[1].removeprefix("./"), ""
        elif (hit := re.match(r"^ {2}● (.+)$", line)) and hit[1] != "Console" and file:
            current = f"{file} › {hit[1]}"
            found.setdefault(current, Failure(current, file))
        elif current:
            known = found[current]
            if not known.message and line.strip():
                found[current] = Failure(current, known.file, known.line, line.strip())
            elif (
                known.line is None
                and file
                and (place := re.search(r"\(?([^\s()]+):(\d+):\d+\)?$", line))
                and (line.lstrip().startswith("at ") and place[1].endswith(file))
            ):
                found[current] = Failure(current, known.file, int(place[2]), known.message)
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `--verbose` and of `--json`; without them, only those that failed have a name."""
    if log.find(_A_JSON) is not None and (found := [one for text in documents(log, _A_JSON) for one in tests_of(text)]):
        yield from found
        return
    reader = _Files()
    for line in log.each():
        yield from reader.read(line)
    if reader.silent():
        yield UNNAMED


class _Files:
    """Reads what stands below the line of each file."""

    def __init__(self) -> None:
        self._file = self._of = ""
        self._above: list[tuple[int, str]] = []
        self._in_tree = self._named = self._nameless = False

    def read(self, line: str) -> Iterator[Told]:
        hit = _HEAD.match(line)
        if hit:
            self._nameless = self.silent()
            self._of, self._file = hit[1] or "", hit[2].removeprefix("./")
            self._above, self._in_tree, self._named = [], True, False
        elif hit := _BULLET.match(line):
            self._in_tree = False
            if self._file and not hit[1].startswith(_NO_TEST):
                yield told(hit[1].replace(" › ", " > "), "failed", self._file, None, self._of)
        elif self._in_tree:
            # The tree stands right below its file and ends at the first blank line; what tests print is elsewhere.
            hit = _TREE.match(line)
            self._in_tree = bool(hit)
            if hit:
                yield from self._grow(len(hit[1]), hit[2], hit[3])

    def silent(self) -> bool:
        """Tell whether there was a file whose tests have no name."""
        return self._nameless or (bool(self._file) and not self._named)

    def _grow(self, depth: int, mark: str | None, said: str) -> Iterator[Told]:
        self._above = [one for one in self._above if one[0] < depth]
        if mark is None:
            self._above.append((depth, said))
            return
        self._named = True
        name = without_time(said, bracketed=True)
        if mark in _LEFT_OUT:
            name = name.removeprefix(_LEFT_OUT[mark])
        yield told(joined([*(one for _, one in self._above), name]), MARKS[mark], self._file, None, self._of)
