"""Karma: `Chrome 120 (Linux): Executed 5 of 6 (1 FAILED) (skipped 1) (0.1 secs / 0.05 secs)`, redrawn while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import MARKS, Told, joined, told, without_time

ALIASES: tuple[str, ...] = ("jasmine-karma", "ng-test")
SUMMARY = "the last `<browser>: Executed 5 of 6 (1 FAILED) (skipped 1) (0.1 secs / 0.05 secs)` of every browser"
ZERO = "`Executed 0 of 0`, only skipped"
EXITS: dict[int, str] = {}

_EXECUTED = re.compile(
    r"^(?:\d\d \d\d \d{4} \d\d:\d\d:\d\d\.\d+:\w+ \[.*?\]: )?(?:(?P<browser>[A-Z][^:]*\)):? )?"
    r"Executed (?P<done>\d+) of (?P<all>\d+)"
    r"(?P<rest>(?: \(\d+ FAILED\)| \(skipped \d+\)| [A-Z]+)*)(?: \([\d.]+ (?:secs|mins?)[^)]*\))?$"
)
_A_EXECUTED = re.compile(rb"Executed \d{1,7} of ")
_A_NOTES = (
    re.compile(rb"Disconnected, because no message"),
    re.compile(rb"Uncaught "),
    re.compile(rb"An error was thrown in afterAll"),
    re.compile(rb"Coverage for [^\n]{1,80} does not meet"),
    re.compile(rb"Cannot start "),
    re.compile(rb"error TS\d"),
)
_MARKED = re.compile(rf"^((?:  )+)([{''.join(MARKS)}]) (\S.*)$")
_OPENED = re.compile(r"^((?:  )*)(\S.*)$")
_FAILED = re.compile(r"^(.+ \(.+\)) (.+) FAILED$")
_NO_SUITE = re.compile(r"^\S+ \(.*\)|^\d|^(?:LOG|WARN|ERROR|INFO|DEBUG)\b|^Executed |^SUMMARY|^FAILED TESTS")


@dataclass(frozen=True)
class _State:
    done: int
    total: int
    failed: int
    skipped: int
    words: str
    at: int

    def finished(self) -> bool:
        """Tell whether all tests were run or skipped."""
        return self.done + self.skipped >= self.total


def read(output: Output) -> Found:
    """Return the last state of every browser, summed; a state that falls back began another run."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    current: dict[str, _State] = {}
    ended: list[_State] = []
    for line in log.walk(_A_EXECUTED):
        if read_state := _state(line):
            name, now = read_state
            known = current.get(name)
            if known and known.finished() and now.done < known.done:
                ended.append(known)
            current[name] = now
    notes = [line.text.strip() for line in log.notes(*_A_NOTES)]
    if not current:
        broken = next((note for note in notes if "error TS" in note or "Cannot start" in note), "")
        return Found(1 if broken else 0, problem="build-failed" if "error TS" in broken else None, detail=broken[:200])
    states = [*ended, *current.values()]
    counts = {"passed": 0, "failed": 0, "skipped": 0, "total": 0}
    for state in states:
        add(
            counts,
            {
                "passed": state.done - state.failed,
                "failed": state.failed,
                "skipped": state.skipped,
                "total": state.total,
            },
        )
    problem, detail = _problem(states, notes, output)
    return Found(
        evidence=3,
        at=max(state.at for state in states),
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=all(state.finished() for state in states) and problem in (None, "coverage-threshold"),
        problem=problem,
        detail=detail,
        extra={"browsers": len(current)},
    )


def _state(line: Line) -> tuple[str, _State] | None:
    hit = _EXECUTED.match(line.text)
    if not hit:
        return None
    failed = re.search(r"\((\d+) FAILED\)", hit["rest"])
    skipped = re.search(r"\(skipped (\d+)\)", hit["rest"])
    done, total = int(hit["done"]), int(hit["all"])
    state = _State(
        done, total, int(failed[1]) if failed else 0, int(skipped[1]) if skipped else 0, hit["rest"], line.at
    )
    return hit["browser"] or "", state


def _problem(states: list[_State], notes: list[str], output: Output) -> tuple[str | None, str]:
    if any("DISCONNECTED" in state.words for state in states) or any("Disconnected, because" in note for note in notes):
        return "crashed", "a browser was lost"
    thrown = next((note for note in notes if "Uncaught " in note or "thrown in afterAll" in note), "")
    if any(" ERROR" in state.words and (state.total or thrown) for state in states):
        return "unhandled-error", thrown[:200]
    missed = next((note for note in notes if "does not meet" in note), "")
    green = not any(state.failed for state in states)
    return ("coverage-threshold", missed) if missed and green and output.exit_code != 0 else (None, "")


def failures(text: str) -> list[Failure]:
    """Return the `<browser> suite test FAILED` lines with the first line below."""
    found: dict[str, Failure] = {}
    current = ""
    for raw in text.replace("\r", "\n").splitlines():
        line = strip_codes(raw)
        if (hit := re.match(r"^[A-Z][^:]*\) (.+) FAILED$", line)) and not _EXECUTED.match(line):
            current = hit[1]
            found.setdefault(current, Failure(current))
        elif current and not found[current].message and line.startswith(("\t", "    ")):
            found[current] = Failure(current, message=line.strip())
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of the reporters that draw a tree (spec, mocha), and those that failed."""
    above: list[tuple[int, str]] = []
    for line in log.each():
        if hit := _FAILED.match(line):
            if not hit[2].startswith(("Executed ", "ERROR")):
                yield told(hit[2], "failed", of=hit[1])
        elif hit := _MARKED.match(line):
            above = [one for one in above if one[0] < len(hit[1])]
            yield told(joined([*(one for _, one in above), without_time(hit[3], bracketed=True)]), MARKS[hit[2]])
        elif (hit := _OPENED.match(line)) and not _NO_SUITE.match(line) and len(hit[1]) <= 2 * len(above) + 2:
            above = [*(one for one in above if one[0] < len(hit[1])), (len(hit[1]), hit[2])]
