"""deno test: `ok | 2 passed (5 steps) | 0 failed | 1 ignored | 3 filtered out (14ms)`; steps are not tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners import tap
from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, joined, told

ALIASES: tuple[str, ...] = ("deno-test",)
SUMMARY = "`ok | 2 passed (5 steps) | 0 failed | 1 ignored | 3 filtered out (14ms)`"
ZERO = "`0 passed` with `0 failed`, `No test modules found`"
EXITS: dict[int, str] = {}

_FOOTER = re.compile(r"^(?:ok|FAILED)((?: \| \d+ [a-z ]+?(?: \(\d+ steps?\))?)+)(?: \(\d[^()]*\))?$")
_PART = re.compile(r"(\d+) ([a-z]+(?: [a-z]+)?)(?: \((\d+) steps?\))?")
_OLD = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed(?: \(\d+ steps?\))?; (\d+) failed(?: \(\d+ steps?\))?; (\d+) ignored"
    r"(?: \(\d+ steps?\))?; \d+ measured; (\d+) filtered out \(\d+(?:ms|s)\)$"
)
_RUNNING = re.compile(r"^running \d+ tests? from \S")

_A_LINES = (
    re.compile(rb" \| \d{1,7} [pf]a"),
    re.compile(rb"filtered out \(\d"),
    re.compile(rb"running \d{1,7} tests? from "),
)
_A_NOTES = (
    re.compile(rb"Type checking failed"),
    re.compile(rb"No test modules found"),
    re.compile(rb"error[^\n]{0,12}: Module not found"),
    re.compile(rb"\(uncaught error\)"),
)
_A_TAP = re.compile(rb"^TAP version \d", re.M)
_FROM = re.compile(r"^running \d+ tests? from (\S+)$")
_TEST = re.compile(r"^((?:  )*)(\S.*?) \.\.\.(?: (ok|FAILED|ignored)(?: \(.*\))*)?$")
_ENDED = re.compile(r"^((?:  )*)(\S.*) \.\.\. (ok|FAILED|ignored|cancelled)((?: \([^()]*\))*)$")
_WORDS: dict[str, Status] = {"ok": "passed", "ignored": "skipped"}


@dataclass(frozen=True)
class _Footer:
    tests: dict[str, int]
    steps: dict[str, int]
    rank: int


def read(output: Output) -> Found:
    """Return the summed footers."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    footers = [(line, footer) for line in lines if (footer := _footer(log, line))]
    best = max((footer.rank for _, footer in footers), default=0)
    own = [(line, footer) for line, footer in footers if footer.rank == best]
    paired = pair((), [End(line.at, footer) for line, footer in own], output.calls, bare="all")
    running = [line.at for line in lines if _RUNNING.match(line.text)]
    notes = [line.text.strip() for line in log.notes(*_A_NOTES)]
    if not paired.ends:
        empty = any("No test modules found" in note for note in notes)
        broken = next((note for note in notes if "Type checking" in note or "Module not found" in note), "")
        return Found(
            evidence=2 if running or empty else 1 if broken else 0,
            complete=not running,
            empty=empty,
            problem="build-failed" if broken else None,
            detail=broken.removeprefix("error: "),
        )
    tests = {"passed": 0, "failed": 0, "skipped": 0}
    steps: dict[str, int] = {}
    for footer in paired.ends:
        add(tests, footer.tests)
        add(steps, footer.steps)
    tests["skipped"] = tests.get("ignored", 0)
    # A module that threw is one `failed` that is no test.
    uncaught = sum(note.startswith("./") and note.endswith("(uncaught error)") for note in notes) // 2
    return Found(
        evidence=3,
        at=paired.last,
        counts=tests,
        executed=tests["passed"] + max(tests["failed"] - uncaught, 0) + tests.get("measured", 0),
        complete=not uncaught and (not running or running[-1] < paired.last),
        extra={"steps": steps} if steps else {},
    )


def _footer(log: Log, line: Line) -> _Footer | None:
    if old := _OLD.match(line.text):
        words = ("passed", "failed", "ignored", "filtered_out")
        return _Footer(dict(zip(words, map(int, old.groups()), strict=True)), {}, 1)
    hit = _FOOTER.match(line.text)
    if not hit:
        return None
    tests: dict[str, int] = {}
    steps: dict[str, int] = {}
    for part in hit[1].split(" | ")[1:]:
        if item := _PART.fullmatch(part):
            word = item[2].replace(" ", "_")
            tests[word] = int(item[1])
            steps |= {word: int(item[3])} if item[3] else {}
    if "passed" not in tests and "failed" not in tests:
        return None
    above = log.before(line, 1)
    return _Footer(tests, steps, int(not above or not above[-1].text))


def failures(text: str) -> list[Failure]:
    """Return the headings `name => ./file.ts:1:2` below ` ERRORS `, with the `error:` line that follows."""
    found: dict[str, Failure] = {}
    current = ""
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^(\S.*?) => (\S+?):(\d+):\d+$", line):
            current = hit[1]
            found.setdefault(current, Failure(current, hit[2].removeprefix("./"), int(hit[3])))
        elif current and not found[current].message and (hit := re.match(r"^error: (.+)$", line)):
            found[current] = Failure(current, found[current].file, found[current].line, hit[1])
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests and the steps of the `pretty` and the `tap` reporter; a test with steps speaks through them."""
    if log.find(_A_TAP) is not None:
        yield from tap.read(log.each())
        return
    file: str | None = None
    above: list[tuple[int, str]] = []
    parents: set[tuple[int, str]] = set()
    printed = False
    for line in log.each():
        if line in ("------- output -------", "------- pre-test output -------", "------- post-test output -------"):
            printed = True
        elif re.match(r"^----- (?:\S+ )?output end -----$", line):
            printed = False
        elif hit := _FROM.match(line):
            file, above, parents = hit[1].removeprefix("./"), [], set()
        elif line.strip() in ("ERRORS", "FAILURES"):
            file = None
        elif printed or file is None:
            continue
        elif hit := _ENDED.match(line):
            depth, name = len(hit[1]), hit[2]
            above = [one for one in above if one[0] < depth]
            parents |= set(above)
            if (depth, name) not in parents or (hit[3] == "FAILED" and "failed step" not in hit[4]):
                names = [*(one for _, one in above), name]
                yield told(joined(names), _WORDS.get(hit[3], "failed"), file)
            parents.discard((depth, name))
        elif (hit := _TEST.match(line)) and hit[3] is None:
            above = [*(one for one in above if one[0] < len(hit[1])), (len(hit[1]), hit[2])]
