"""Vitest: ` Test Files  1 failed | 2 passed (3)`, `      Tests  2 failed | 11 passed (13)`, `     Errors  1 error`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from morph_tasks.verify.runners import tap
from morph_tasks.verify.runners.jestjson import read_json, tests_of
from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, UNNAMED, Status, Told, documents, joined, told, without_time

ALIASES: tuple[str, ...] = ()
SUMMARY = (
    "the block ` Test Files …` / `      Tests  2 failed | 11 passed (13)` / `     Errors  1 error`, "
    "or `--reporter=json`"
)
ZERO = "`No test files found`, `no tests`, only skipped"
EXITS: dict[int, str] = {}

_PARTS = r"(?:\d+ [a-z][a-z ]*?(?: \| |(?= \()| ?$))+"
_TESTS = re.compile(rf"^ {{4,}}Tests {{1,3}}(?:(?P<none>no tests)|(?P<parts>{_PARTS}))(?: ?\((?P<total>\d+)\))?$")
_FILES = re.compile(rf"^ {{0,2}}Test Files {{1,3}}(?:(?P<none>no tests)|(?P<parts>{_PARTS}))(?: ?\((?P<total>\d+)\))?$")
_ERRORS = re.compile(r"^ *(Errors|Type Errors) {1,3}(?:(\d+) errors?|no errors)$")
_LABEL = re.compile(
    r"^ {0,12}(Test Files|Tests|Errors|Type Errors|Start at|Duration|Snapshots|Typecheck|Obsolete|Failed) "
)
_BEGIN = re.compile(r"^ ?RUN +v\d+\.\d+\.\d+\S*(?: |$)")
_PART = re.compile(r"(\d+) ([a-z][a-z ]*)")

_A_TESTS = re.compile(rb"Tests [^\n]{0,24}(?:\d[^\n]{0,16} [a-z]|no tests)")
_A_BEGIN = re.compile(rb"RUN [^\n]{0,40}v\d")
_A_EMPTY = re.compile(rb"No test files found")
_A_RARE = (
    re.compile(rb"Unhandled "),
    re.compile(rb"Startup Error"),
    re.compile(rb"CACError: "),
    re.compile(rb"ERROR: Coverage for "),
    re.compile(rb"JavaScript heap out of memory"),
    re.compile(rb"Error: \[vitest-pool\]"),
)
_RETRIED = re.compile(r"^ +[✓✔] .* \(retry x\d+\)$")
_A_RETRIED = re.compile(rb"\(retry x\d")
_A_SUITES = re.compile(rb"Failed Suites \d")
_NAMES = {"expected fail": "xfailed"}
_A_JSON = re.compile(rb'"numTotalTestSuites"')
_A_TAP = re.compile(rb"TAP version 13")
_MARKED = re.compile(rf"^( *)([{''.join(MARKS)}❯]) {{1,2}}(\S.*)$")
_PROJECT = re.compile(r"^(?:\|([^|]+)\| |(\S+) {2}(?=[^\s(]))")
_FILE = re.compile(r"^(\S.*?) +\((\d+)(?: tests?(?: \| .*)?)?\)(?: \d+(?:\.\d+)? ?m?s)?$")
_SUITE = re.compile(r"^(.+) \(\d+\)(?: \d+(?:\.\d+)? ?m?s)?$")
_AGAIN = re.compile(r" \(?(?:retry|repeat) x\d+\)?")
_CAPTURED = re.compile(r"^(?:stdout|stderr) \| ")
_FAIL = re.compile(r"^ ?FAIL +(\S.*? > .+?)(?: \[ .* \])?$")
_SUITE_DEPTH = 3


@dataclass(frozen=True)
class _Block:
    tests: dict[str, int]
    files: dict[str, int]
    errors: int
    type_errors: int


def read(output: Output) -> Found:
    """Return the summed `Tests` blocks; files that did not load and unhandled errors are problems."""
    found = read_streams(output, _read_log)
    return replace(found, complete=False) if found.extra.get("failed_suites") else found


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(_A_TESTS, _A_BEGIN)
    starts = [Start(line.at) for line in lines if _BEGIN.match(line.text)]
    blocks = [(line, block) for line in lines if (block := _block(log, line))]
    # A block without its `Test Files` line is only believed when no whole one is there.
    whole = [(line, block) for line, block in blocks if block.files] or blocks
    following = [line.at for line, _ in whole[1:]]
    drawn_over = [log.erased(line.end, at) for (line, _), at in zip(whole, following, strict=False)]
    lasting = [one for one, gone in zip(whole, [*drawn_over, False], strict=False) if not gone]
    paired = pair(starts, [End(line.at, block) for line, block in lasting], output.calls, bare="all")
    empty = any(line.text.strip().startswith("No test files found") for line in log.notes(_A_EMPTY))
    report = read_json(log, "numTotalTestSuites") if not any(block.files for _, block in blocks) else None
    if report:
        return report
    if not paired.ends:
        return _without_blocks(log, bool(starts), empty)
    tests, files, errors = {"passed": 0, "failed": 0, "skipped": 0}, dict[str, int](), 0
    for block in paired.ends:
        add(tests, block.tests)
        add(files, block.files)
        errors += block.errors
    types = sum(block.type_errors for block in paired.ends)
    problem, detail = _problem(tests, files, errors, log)
    if types and problem in (None, "coverage-threshold"):
        problem, detail = "type-errors", f"{types} type error{'s' if types > 1 else ''}"
    again = any(_RETRIED.match(line.text) for line in log.notes(_A_RETRIED))
    ran = tests["passed"] + tests["failed"] + tests.get("xfailed", 0)
    return Found(
        evidence=3,
        at=paired.last,
        counts=tests | ({"unhandled_errors": errors} if errors else {}),
        executed=ran,
        complete=not paired.open and problem in (None, "coverage-threshold"),
        problem=problem,
        detail=detail,
        flaky=bool(again),
        extra=({"files": files} if files else {}) | ({"flaky_hint": True} if again else {}) | _failed_suites(log),
    )


def _block(log: Log, line: Line) -> _Block | None:
    hit = _TESTS.match(line.text)
    if not hit:
        return None
    tests, files = _counts(hit), dict[str, int]()
    errors = {"Errors": 0, "Type Errors": 0}
    for near in reversed(log.before(line, 2)):
        if found := _FILES.match(near.text):
            files = _counts(found)
            break
    for near in log.after(line, 6):
        if not _LABEL.match(near.text):
            break
        if found := _ERRORS.match(near.text):
            errors[found[1]] += int(found[2] or 0)
    return _Block(tests, files, errors["Errors"], errors["Type Errors"])


def _counts(hit: re.Match[str]) -> dict[str, int]:
    found = [_PART.fullmatch(part.strip()) for part in (hit["parts"] or "").split(" | ")]
    counts = {_NAMES.get(part[2], part[2].replace(" ", "_")): int(part[1]) for part in found if part}
    total = int(hit["total"]) if hit["total"] else sum(counts.values())
    return counts | {"total": total}


def _problem(tests: dict[str, int], files: dict[str, int], errors: int, log: Log) -> tuple[str | None, str]:
    if errors:
        return "unhandled-error", f"{errors} unhandled error{'s' if errors > 1 else ''}"
    if files.get("failed", 0) and not tests["failed"]:
        return "suite-failed", f"{files['failed']} test file{'s' if files['failed'] > 1 else ''} could not be run"
    if not tests["failed"]:
        for line in log.notes(*_A_RARE):
            if line.text.startswith("ERROR: Coverage for "):
                return "coverage-threshold", line.text[7:]
            if re.match(r"^⎯+ ?Unhandled ", line.text):
                return "unhandled-error", line.text.strip("⎯ ")
    return None, ""


def _without_blocks(log: Log, started: bool, empty: bool) -> Found:
    notes = log.notes(*_A_RARE)
    texts = [line.text.strip() for line in notes]
    if any(text.startswith("CACError: ") for text in texts):
        return Found(2, problem="usage-error", detail=next(text for text in texts if text.startswith("CACError: ")))
    broken = next(
        (text for text in texts if re.search(r"Startup Error|Unhandled |heap out of memory|vitest-pool", text)), ""
    )
    return Found(
        evidence=2 if started or empty else 0,
        complete=not started or empty,
        empty=empty,
        problem="unhandled-error" if broken and started else None,
        detail=broken.strip("⎯ "),
        extra=_failed_suites(log),
    )


def _failed_suites(log: Log) -> dict[str, int]:
    """Return how many files could not be loaded, as the heading above their errors says."""
    hits = [re.match(r"^⎯+ ?Failed Suites (\d+) ?⎯+$", line.text) for line in log.notes(_A_SUITES)]
    return {"failed_suites": sum(int(hit[1]) for hit in hits if hit)} if any(hits) else {}


def failures(text: str) -> list[Failure]:
    """Return what the ` FAIL  file > suite > test` headings name, with the first error line and place below each."""
    found: dict[str, Failure] = {}
    current = ""
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^ FAIL {1,2}(?:\|[^|]+\| )?(\S+?\.[cm]?[jt]sx?)(?: \[ .* \]|((?: > .+)*))$", line):
            current = hit[1] + (hit[2] or "")
            found.setdefault(current, Failure(current, hit[1]))
        elif current and not found[current].message and re.match(r"^[A-Z]\w*(?:Error|Exception)?: ", line):
            found[current] = Failure(current, found[current].file, None, line)
        elif current and (place := re.match(r"^ ❯ (?:.* )?(\S+?):(\d+):\d+$", line)):
            known = found[current]
            if known.line is None and known.file and place[1].endswith(known.file):
                found[current] = Failure(current, known.file, int(place[2]), known.message)
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `verbose`, `tree`, `json`, `tap`, and the part that `default` and `dot` name."""
    if log.find(_A_JSON) is not None and (found := [one for text in documents(log, _A_JSON) for one in tests_of(text)]):
        yield from found
    elif log.find(_A_TAP) is not None:
        yield from tap.read(log.each())
    else:
        yield from _drawn(log)


def _drawn(log: Log) -> Iterator[Told]:
    tree, captured, done = _Tree(), 0, False
    for line in log.each():
        if captured:
            # What tests print stands below a heading of its own, up to a blank line that is not its first.
            captured = 0 if not line and captured > 1 else captured + 1
        elif _CAPTURED.match(line):
            captured = 1
        elif _BEGIN.match(line):
            yield from tree.close()
            tree, done = _Tree(), False
        elif line.startswith("⎯"):
            done = True
        elif done:
            if hit := _FAIL.match(line):
                yield _flat(hit[1], "failed")
        elif hit := _MARKED.match(line):
            yield from tree.read(len(hit[1]), hit[2], hit[3])
    yield from tree.close()


class _Tree:
    """Reads the marked lines of one run; a suite is known by the deeper line that follows it."""

    def __init__(self) -> None:
        self._file, self._of = "", ""
        self._above: list[tuple[int, str]] = []
        self._last: tuple[int, str, str] | None = None
        self._announced = self._named = 0
        self._nameless = False

    def read(self, depth: int, mark: str, said: str) -> Iterator[Told]:
        yield from self._settle(depth)
        if depth <= 1:
            of, rest = _cut_project(said)
            if " > " in rest:
                self._named += 1
                yield _flat(said, _status(mark, rest))
            elif hit := _FILE.match(rest):
                self._file, self._of, self._above = hit[1], of, []
                self._announced += int(hit[2])
        elif self._file:
            self._last = (depth, mark, said)

    def close(self) -> Iterator[Told]:
        """Yield what is left. Only slow and failed tests have a name by default, and those without their suites."""
        yield from self._settle(0)
        if self._named < self._announced or self._nameless:
            yield UNNAMED

    def _settle(self, depth: int) -> Iterator[Told]:
        if self._last is None:
            return
        at, mark, said = self._last
        self._last = None
        self._above = [one for one in self._above if one[0] < at]
        suite = _SUITE.match(said)
        if mark == "❯" or (suite and depth > at):
            self._above.append((at, suite[1] if suite else said))
            return
        self._named += 1
        self._nameless |= at > _SUITE_DEPTH + 2 * len(self._above)
        name = without_time(_AGAIN.sub("", said))
        yield told(joined([*(one for _, one in self._above), name]), _status(mark, said), self._file, None, self._of)


def _status(mark: str, said: str) -> Status:
    return "flaky" if MARKS[mark] == "passed" and _AGAIN.search(said) else MARKS[mark]


def _cut_project(said: str) -> tuple[str, str]:
    hit = _PROJECT.match(said)
    return (hit[1] or hit[2], said[hit.end() :]) if hit else ("", said)


def _flat(said: str, status: Status) -> Told:
    of, rest = _cut_project(said)
    file, _, name = rest.partition(" > ")
    return told(without_time(_AGAIN.sub("", name)), status, file, None, of)
