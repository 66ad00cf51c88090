"""CTest: `50% tests passed, 2 tests failed out of 4`; skipped tests are in the percentage, disabled ones are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ()
SUMMARY = "`50% tests passed, 2 tests failed out of 4`, and the list `The following tests did not run:`"
ZERO = "`No tests were found!!!`, all skipped or disabled"
EXITS: dict[int, str] = {8: "tests-failed"}

_FOOTER = re.compile(r"^\d+% tests passed, (\d+) tests? failed(?: out)? (?:out )?of (\d+)$")
_BEGIN = re.compile(r"^Test project \S")
_ITEM = re.compile(r"^\s+\d+ - (.+?) \(([^()]+)\)(?:\s+\S.*)?$")
_RESULT = re.compile(
    r"^ *(?:\d+/\d+ )?Test +#\d+: (\S+) [. ]*(?:\*\*\*)?(Passed|Failed|Timeout|Exception|Not Run|Skipped)\b"
)
_LIST_SIZE = 1 << 20

_A_LINES = (
    re.compile(rb"% tests passed, "),
    re.compile(rb"Test project "),
)
_A_NOTES = (re.compile(rb"No tests were found"), re.compile(rb"No test configuration file found"))
_A_RESULT = re.compile(rb"Test {1,6}#\d")
_A_ENDED = re.compile(rb"Test +#\d")
_ENDED = re.compile(r"^ *\d+/\d+ +Test +#\d+: (.+?) \.* *(Passed|\*\*\*\S.*?) +\d+\.\d+ sec(?: .*)?$")


@dataclass(frozen=True)
class _Footer:
    line: Line
    counts: dict[str, int]


def read(output: Output) -> Found:
    """Return the summed footers, with what did not run taken out of `passed`."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    starts = [Start(line.at, weak=True) for line in lines if _BEGIN.match(line.text)]
    ends = [End(line.at, footer) for line in lines if (footer := _footer(log, line))]
    paired = pair(starts, ends, output.calls)
    notes = [line.text for line in log.notes(*_A_NOTES)]
    empty = any(note.startswith("No tests were found") for note in notes)
    unset = any(note.startswith("No test configuration file found") for note in notes)
    if not paired.ends:
        return Found(
            evidence=2 if starts or empty else 1 if unset else 0,
            complete=empty or unset or not starts,
            empty=empty or unset,
        )
    counts = {"passed": 0, "failed": 0, "skipped": 0, "disabled": 0, "total": 0}
    for footer in paired.ends:
        add(counts, footer.counts)
    again = _passed_later(log)
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=not paired.open,
        flaky=bool(again),
        extra={"flaky_hint": True} if again else {},
        warnings=(f"passed only when repeated: {', '.join(again[:5])}",) if again else (),
    )


def _footer(log: Log, line: Line) -> _Footer | None:
    hit = _FOOTER.match(line.text)
    if not hit:
        return None
    failed, total = int(hit[1]), int(hit[2])
    skipped = disabled = 0
    for near in log.lines(line.end, line.end + _LIST_SIZE)[1:]:
        if _BEGIN.match(near.text) or near.text.startswith("The following tests FAILED"):
            break
        if item := _ITEM.match(near.text):
            disabled += item[2] == "Disabled"
            skipped += item[2] != "Disabled"
    passed = max(total - failed - skipped, 0)
    return _Footer(line, {"passed": passed, "failed": failed, "skipped": skipped, "disabled": disabled, "total": total})


def _passed_later(log: Log) -> list[str]:
    """Return the tests that failed and passed in one run (`--repeat until-pass`)."""
    failed: set[str] = set()
    again: list[str] = []
    for line in log.notes(_A_RESULT):
        if hit := _RESULT.match(line.text):
            if hit[2] in ("Failed", "Timeout", "Exception"):
                failed.add(hit[1])
            elif hit[2] == "Passed" and hit[1] in failed:
                again.append(hit[1])
    return again


def failures(text: str) -> list[Failure]:
    """Return the list `The following tests FAILED:`."""
    found: list[Failure] = []
    listing = False
    for raw in text.splitlines():
        line = strip_codes(raw)
        if line.startswith("The following tests "):
            listing = line.startswith("The following tests FAILED")
        elif listing and (item := _ITEM.match(line)):
            found.append(Failure(item[1], message=item[2]))
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of the list that ctest prints while it runs."""
    for line in log.walk(_A_ENDED):
        if hit := _ENDED.match(line.text):
            left_out = hit[2].startswith(("***Skipped", "***Not Run", "***Disabled"))
            status: Status = "passed" if hit[2] == "Passed" else "skipped" if left_out else "failed"
            yield told(hit[1].rstrip(" ."), status)
