"""Playwright: `Running 5 tests using 1 worker`, then `  1 failed`, `  1 flaky`, `  2 skipped`, `  1 passed (1.5s)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, documents, joined, told, without_time

ALIASES: tuple[str, ...] = ("pw", "playwright-test")
SUMMARY = "`  1 failed` / `  1 flaky` / `  2 skipped` / `  3 passed (1.5s)`, or the `json` reporter's `stats`"
ZERO = "`No tests found`, `--list`, only skipped"
EXITS: dict[int, str] = {130: "interrupted"}

_RUNNING = re.compile(r"^Running (\d+) tests? using \d+ workers?(?:, shard \d+ of \d+)?$")
_KINDS = ("failed", "interrupted", "flaky", "skipped", "did not run", "passed", "errors")
_FOOTER = re.compile(r"^ {2}(\d+) (failed|interrupted|flaky|skipped|did not run|passed)(?: \(\d.*\))?$")
_ERRORS = re.compile(r"^ {2}(\d+) errors? (?:was|were) not a part of any test")
_LISTED = re.compile(r"^Total: (\d+) tests? in (\d+) files?$")
_STATS = re.compile(rb'"stats":\s{0,8}\{\s{0,8}"startTime"')

_A_LINES = (
    re.compile(rb"Running [^\n]{1,20} test"),
    re.compile(rb"  \d{1,7} (?:failed|interrupted|flaky|skipped|did not run|passed|errors? w)"),
    re.compile(rb"Total: \d{1,7} tests? in "),
)
_A_NOTES = (re.compile(rb"Error: "), re.compile(rb"error: unknown option"))
_A_JSON = re.compile(rb'"suites":\s{0,9}\[')
_A_LISTED = re.compile(rb"\xe2\x80\xba |^  \d+ [a-z]", re.M)
_DRAWN = re.compile(r"^ *([✓✔✘✖-]|ok|x) +(\d+) (.+)$")
_BEGUN = re.compile(r"^\[\d+/\d+\] (?:\(retries\) )?(.+ › .+)$")
_ENDING = re.compile(r"^  (\d+) (failed|flaky|skipped|interrupted|did not run|passed)\b")
_AT_END = re.compile(r"^    (\S.* › .+?)(?: ─+)?$")
_PLACE = re.compile(r"^(?:\[([^\]]+)\] › )?(\S.*?):(\d+):(\d+)(?: › (.+))?$")
_PASSED = ("✓", "✔", "ok")
_RETRY = re.compile(r" \(retry #\d+\)$")


@dataclass
class _Footer:
    at: int
    counts: dict[str, int] = field(default_factory=dict)

    def size(self) -> int:
        """Return the tests it accounts for; errors are none."""
        return sum(many for kind, many in self.counts.items() if kind != "errors")


def read(output: Output) -> Found:
    """Return the summed footers; flaky tests passed on a retry and are no proof."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    starts = [Start(line.at, int(hit[1])) for line in lines if (hit := _RUNNING.match(line.text))]
    ends = [End(footer.at, footer, footer.size()) for footer in _footers(lines, {start.at for start in starts})]
    paired = pair(starts, ends, output.calls, bare="last")
    errors = [line.text for line in log.notes(*_A_NOTES) if re.match(r"^(?:\w*Error|error): ", line.text)]
    if not paired.ends:
        return _without_footer(log, lines, errors, started=bool(starts), red=output.exit_code not in (0, None))
    counts = {"passed": 0, "failed": 0, "skipped": 0, "flaky": 0}
    for footer in paired.ends:
        add(counts, {kind.replace(" ", "_"): many for kind, many in footer.counts.items()})
    problem, detail = _problem(counts, errors)
    ran = counts["passed"] + counts["failed"] + counts["flaky"]
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=ran,
        complete=not paired.open and not counts.get("did_not_run") and problem is None,
        problem=problem,
        detail=detail,
        flaky=counts["flaky"] > 0,
        extra={"flaky_hint": True} if counts["flaky"] else {},
    )


def _footers(lines: Sequence[Line], starts: set[int]) -> list[_Footer]:
    """Group the footer lines: the kinds have a fixed order, so a step back begins another footer."""
    found: list[_Footer] = []
    place = len(_KINDS)
    for line in lines:
        hit = _FOOTER.match(line.text) or _ERRORS.match(line.text)
        if line.at in starts:
            place = len(_KINDS)
        if not hit:
            continue
        kind = hit[2] if hit.re is _FOOTER else "errors"
        if _KINDS.index(kind) <= place or not found:
            found.append(_Footer(line.at))
        place = _KINDS.index(kind)
        found[-1].at = line.at
        found[-1].counts[kind] = int(hit[1])
    return found


def _problem(counts: dict[str, int], errors: list[str]) -> tuple[str | None, str]:
    if counts.get("interrupted"):
        return "interrupted", f"{counts['interrupted']} tests were interrupted"
    if counts.get("errors") and not counts["failed"]:
        return "unhandled-error", errors[-1][:200] if errors else ""
    if counts.get("did_not_run") and not counts["failed"]:
        return "incomplete", f"{counts['did_not_run']} tests did not run"
    return None, ""


def _without_footer(log: Log, lines: Sequence[Line], errors: list[str], *, started: bool, red: bool) -> Found:
    if report := _json(log):
        return report
    none_found = any(text.startswith("Error: No tests found") for text in errors)
    broken = next((text for text in errors if not text.startswith("Error: No tests found")), "")
    if listed := next((hit for line in reversed(lines) if (hit := _LISTED.match(line.text))), None):
        counts = {"passed": 0, "failed": 0, "skipped": 0, "total": int(listed[1])}
        extra = {"files": {"total": int(listed[2])}, "dialect": "list"}
        return Found(3, counts=counts, executed=0, extra=extra, warnings=("tests were only listed, none was run",))
    if none_found and not broken:
        return Found(2, empty=True)
    usage = broken.startswith("error: ")
    known = started or none_found
    problem = "usage-error" if usage else "suite-failed" if broken and (known or red) else None
    return Found(2 if known else 1 if usage else 0, complete=not started, problem=problem, detail=broken[:200])


def _json(log: Log) -> Found | None:
    """Return the `stats` of the JSON report; quotes inside a string of it would be escaped."""
    at = log.find(_STATS)
    if at is None:
        return None
    many = {
        key: int(number)
        for key, number in re.findall(
            r'"(expected|skipped|unexpected|flaky)": ?(\d+)', log.read(at, at + 600).decode("utf-8", "replace")
        )
    }
    counts = {
        "passed": many.get("expected", 0),
        "failed": many.get("unexpected", 0),
        "skipped": many.get("skipped", 0),
        "flaky": many.get("flaky", 0),
    }
    broken = log.find(re.compile(rb'\n {0,4}"errors": \[\s{0,8}\{')) is not None
    return Found(
        evidence=3,
        at=at,
        counts=counts,
        executed=counts["passed"] + counts["failed"] + counts["flaky"],
        complete=not broken,
        problem="unhandled-error" if broken and not counts["failed"] else None,
        flaky=counts["flaky"] > 0,
        extra={"flaky_hint": True} if counts["flaky"] else {},
    )


def failures(text: str) -> list[Failure]:
    """Return the `  1) [project] › file:line:column › title` headings with the first error line below."""
    found: dict[str, Failure] = {}
    current = ""
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^ {2}\d+\) ((?:\[[^\]]+\] › )?(\S+?):(\d+):\d+ › .+?)(?: ─+)?$", line):
            current = hit[1]
            found.setdefault(current, Failure(current, hit[2], int(hit[3])))
        elif current and not found[current].message and re.match(r"^ {4}\S", line):
            found[current] = Failure(current, found[current].file, found[current].line, line.strip())
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `list`, `json`, and of `line` where its last lines leave no doubt."""
    if log.find(_A_JSON) is not None:
        found = [one for text in documents(log, _A_JSON) for one in _of_suites(text.get("suites"), [])]
        if found:
            yield from found
            return
    run = _Run()
    for line in log.walk(_A_LISTED):
        yield from run.read(line.text)
    yield from run.close()


class _Run:
    """Reads one run; what its last lines do not call failed or flaky, failed as it was expected to."""

    def __init__(self) -> None:
        self._listed: list[tuple[str, str]] = []
        self._begun: dict[str, None] = {}
        self._ends: dict[str, set[str]] = {}
        self._section = ""
        self._passed = 0
        self._numbers: set[int] = set()

    def read(self, line: str) -> Iterator[Told]:
        if hit := _ENDING.match(line):
            self._section = hit[2]
            self._passed += int(hit[1]) if hit[2] in ("passed", "flaky") else 0
            self._ends.setdefault(hit[2], set())
        elif self._section and (hit := _AT_END.match(line)):
            self._ends[self._section].add(_key(hit[1]))
        elif hit := _DRAWN.match(line) or _BEGUN.match(line):
            if self._section:
                yield from self.close()
            if line.startswith("["):
                self._begun[_RETRY.sub("", hit[1])] = None
            else:
                self._numbers.add(int(hit[2]))
                self._listed.append((hit[1], _RETRY.sub("", without_time(hit[3], bracketed=True))))

    def close(self) -> Iterator[Told]:
        if self._begun:
            # `line` draws no marks: what looks like one was printed.
            self._listed.clear()
        elif 1 not in self._numbers:
            self._listed.clear()
        elif any(said.startswith("[") for _, said in self._listed):
            self._listed = [one for one in self._listed if one[1].startswith("[")]
        over = bool(self._ends)
        red = {key for word in ("failed", "flaky", "interrupted") for key in self._ends.get(word, ())}
        drawn = sum(mark in _PASSED for mark, _ in self._listed)
        for mark, said in self._listed:
            if mark in _PASSED:
                # More than the run counts: the reporter draws none, and all of these were printed.
                if over and drawn > self._passed:
                    continue
                yield from _told(said, "passed")
            else:
                yield from _told(said, "skipped" if mark == "-" or (over and _key(said) not in red) else "failed")
        doubt = not over or any(self._ends.get(word) is not None for word in ("skipped", "did not run", "interrupted"))
        for said in self._begun:
            key = _key(said)
            word = next((one for one in ("failed", "flaky", "interrupted") if key in self._ends.get(one, ())), "")
            if word or not doubt:
                yield from _told(said, "flaky" if word == "flaky" else "failed" if word else "passed")
        self.__dict__.update(_Run().__dict__)


def _key(said: str) -> str:
    """Return what is the same wherever a test is named: project and place; titles are cut to the terminal."""
    hit = _PLACE.match(said)
    return f"{hit[1]}|{hit[2]}:{hit[3]}:{hit[4]}" if hit else said


def _told(said: str, status: Status) -> Iterator[Told]:
    if (hit := _PLACE.match(said)) and hit[5]:
        yield told(hit[5].replace(" › ", " > "), status, hit[2], int(hit[3]), hit[1] or "")


def _of_suites(suites: Any, above: list[str]) -> Iterator[Told]:
    words: dict[str, Status] = {"expected": "passed", "unexpected": "failed", "flaky": "flaky"}
    for suite in suites or ():
        # The outermost suite is the file.
        inside = [*above, str(suite.get("title", ""))] if above or suite.get("line") else above
        for spec in suite.get("specs") or ():
            for one in spec.get("tests") or ():
                status: Status = words.get(str(one.get("status")), "skipped")
                if status == "passed" and one.get("expectedStatus") != "passed":
                    status = "skipped"
                name = joined([*inside, str(spec.get("title", ""))])
                yield told(name, status, spec.get("file"), spec.get("line"), str(one.get("projectName") or ""))
        yield from _of_suites(suite.get("suites"), inside)
