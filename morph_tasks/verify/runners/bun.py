"""bun test: ` 5 pass` / ` 1 fail` / `Ran 6 tests across 2 files. [12.00ms]`, on stderr."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, Status, Told, told, without_time

ALIASES: tuple[str, ...] = ("bun-test",)
SUMMARY = "` 5 pass` / ` 1 skip` / ` 1 fail` above `Ran 7 tests across 2 files. [12.00ms]`"
ZERO = "`0 pass` with `0 fail`, filters that match nothing"
EXITS: dict[int, str] = {}

_RAN = re.compile(r"^Ran (\d+) tests? across (\d+) files?\.(?: \[\d+(?:\.\d+)?m?s\])?$")
_ITEM = re.compile(r"^ (\d+) (pass|fail|skip|todo|errors?|filtered out|snapshots?|expect\(\) calls?)\b.*$")
_BEGIN = re.compile(r"^bun test v\d")
_NAMES = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
    "todo": "todo",
    "error": "errors",
    "errors": "errors",
    "filtered out": "filtered_out",
}
_EMPTY = re.compile(
    r"^(?:The following filters did not match|No tests found|error: regex .* matched 0 tests"
    r"|error: 0 test files matching)"
)

_A_LINES = (re.compile(rb"Ran \d{1,7} tests? across"), re.compile(rb"bun test "))
_A_NOTES = (
    re.compile(rb"did not match any test files"),
    re.compile(rb"No tests found"),
    re.compile(rb"matched 0 tests"),
    re.compile(rb"0 test files matching"),
    re.compile(rb"Bailed out after"),
    re.compile(rb"Unhandled error between tests"),
    re.compile(rb"coverage threshold"),
)
_NAMED = re.compile(rf"^(?:\((pass|fail|skip|todo)\)|([{''.join(MARKS)}»])) (\S.*)$")
_FILE = re.compile(r"^(\S+\.[cm]?[jt]sx?):$")
_ATTEMPT = re.compile(r" \(attempt \d+\)$")
_WORDS: dict[str, Status] = {"pass": "passed", "fail": "failed"}


@dataclass(frozen=True)
class _Block:
    counts: dict[str, int]
    files: int


def read(output: Output) -> Found:
    """Return the summed blocks; an error between tests is a problem."""
    return read_streams(output, _read_log, home=1)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    starts = [Start(line.at, weak=True) for line in lines if _BEGIN.match(line.text)]
    ends = [End(line.at, block) for line in lines if (block := _block(log, line))]
    paired = pair(starts, ends, output.calls)
    notes = [line.text for line in log.notes(*_A_NOTES)]
    bailed = next((note for note in notes if note.startswith("Bailed out after")), "")
    empty = any(_EMPTY.match(note) for note in notes)
    # After `--bail` the last line stands without counts above it.
    if not paired.ends or not all(block.counts for block in paired.ends):
        return Found(
            evidence=3 if paired.ends else 2 if starts or empty or bailed else 0,
            at=paired.last,
            complete=not bailed and not paired.ends,
            empty=empty,
            problem="tests-failed" if bailed else None,
            detail=bailed,
        )
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for block in paired.ends:
        add(counts, block.counts)
    problem = (
        "unhandled-error"
        if counts.get("errors") or any(note.startswith("# Unhandled error") for note in notes)
        else None
    )
    # An error between tests is also printed as one `fail`.
    ran = counts["passed"] + max(counts["failed"] - counts.get("errors", 0), 0)
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=ran,
        complete=problem is None and not bailed,
        problem=problem,
        detail="an error occurred between tests" if problem else "",
        extra={"files": {"total": sum(block.files for block in paired.ends)}},
    )


def _block(log: Log, line: Line) -> _Block | None:
    hit = _RAN.match(line.text)
    if not hit:
        return None
    counts: dict[str, int] = {}
    for near in reversed(log.before(line, 10)):
        item = _ITEM.match(near.text)
        if not item:
            break
        if item[2] in _NAMES:
            counts[_NAMES[item[2]]] = int(item[1])
    return _Block(counts and counts | {"total": int(hit[1])}, int(hit[2]))


def failures(text: str) -> list[Failure]:
    """Return the `(fail) suite > test` lines under their file, with the `error:` above them."""
    found: list[Failure] = []
    file, error = None, ""
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^(\S+\.[cm]?[jt]sx?):$", line):
            file = hit[1]
        elif hit := re.match(r"^error: (.+)$", line):
            error = hit[1]
        elif hit := re.match(r"^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?$", line):
            found.append(Failure(hit[1], file, None, error))
            error = ""
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests below each file; one that passed at another attempt is flaky."""
    file: str | None = None
    for raw in log.each():
        if hit := _FILE.match(raw):
            file = hit[1]
        elif file and (hit := _NAMED.match(raw)):
            name = without_time(hit[3], bracketed=True)
            status: Status = _WORDS.get(hit[1], "skipped") if hit[1] else MARKS.get(hit[2], "skipped")
            if _ATTEMPT.search(name):
                name, status = _ATTEMPT.sub("", name), "flaky" if status == "passed" else status
            yield told(name, status, file)
