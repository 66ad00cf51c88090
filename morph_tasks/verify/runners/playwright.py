"""Playwright: `Running 5 tests using 1 worker`, then `  1 failed`, `  1 flaky`, `  2 skipped`, `  1 passed (1.5s)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes

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
