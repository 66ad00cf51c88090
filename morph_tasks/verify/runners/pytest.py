"""pytest: `=== 1 failed, 2 passed in 0.05s ===`, bare under `-q`, absent under `-qq`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("py.test",)
SUMMARY = "`=== 1 failed, 2 passed in 0.05s ===` (bare under `-q`, `Results (0.05s):` of pytest-sugar)"
ZERO = "`no tests ran`, `N deselected`, only skipped, exit code 5"
EXITS: dict[int, str] = {2: "interrupted", 3: "crashed", 4: "usage-error", 5: "no-tests"}

_FOOTER = re.compile(
    r"^(?P<fence>=+ )?(?P<body>no tests ran|no tests collected(?: \(\d+ deselected\))?|\d+(?:/\d+)? [a-z][^=]*?)"
    r" in (?:\d{1,7}\.\d\d(?:s| seconds)|\d{1,6}s)(?: \(\d{1,4}:\d\d:\d\d\))?(?P<end> =+)?$"
)
_PART = re.compile(r"(\d+) ([a-z][a-z -]*)")
_COLLECTED = re.compile(r"(?:\d+/)?(\d+) tests? collected(?: \(\d+ deselected\))?(?:, (\d+) errors?)?")
_BEGIN = re.compile(r"^(?:=+ test session starts (?:\(.*\) )?=+|Test session starts \(.*\))$")
_SUGAR = re.compile(r"^Results \(\d+\.\d+s(?: \(\d+:\d\d:\d\d\))?\):$")
_SUGAR_ITEM = re.compile(r"^ {2,12}(\d+) ([a-z]+)$")
_BANG = re.compile(r"^!+ (.+?) !+$")
_SECTION = re.compile(r"^_+ ERROR (at setup of|at teardown of|collecting) (.+?) _+$")
_LISTED = re.compile(
    r"^(?:\[gw\d+\] +)?(?:\[ *\d+%\] +)?(ERROR|FAILED|PASSED|XFAIL|XPASS) (\S+(?:::\S.*?)?)(?: - .*)?$"
)
_CRASHED = re.compile(r"worker '(gw\d+)' crashed while running '([^']+)'")

_A_FOOTER = re.compile(rb" in \d{1,7}(?:\.\d\d)?(?:s| seconds)")
_A_BEGIN = re.compile(rb"est session starts")
_A_SUGAR = re.compile(rb"Results \(\d")
_A_FULL = re.compile(rb"\[100%\]")
_A_SECTION = re.compile(rb"ERROR (?:at (?:setup|teardown) of|collecting) ")
_A_LISTED = re.compile(rb"(?:ERROR|FAILED|PASSED|XFAIL|XPASS) ")
_A_RARE = (
    re.compile(rb"ERROR collecting "),
    re.compile(rb"INTERNALERROR>"),
    re.compile(rb"crashed while running '"),
    re.compile(rb"node down: "),
    re.compile(rb"Required test coverage of"),
    re.compile(rb"Fatal Python error: "),
    re.compile(rb"pytest: error: |unrecognized arguments: "),
    re.compile(rb"Coverage failure: total"),
    re.compile(rb"Flaky Test Report"),
)

_RED = {"failed", "error", "errors"}
_RAN = ("passed", "failed", "errors", "xfailed", "xpassed")
_NEAR = 1 << 21
_OUTCOMES: dict[str, Status] = {
    "PASSED": "passed", "XPASS": "passed", "FAILED": "failed", "ERROR": "failed", "RERUN": "failed", "RETRY": "failed",
    "SKIPPED": "skipped", "XFAIL": "skipped",
}  # fmt: skip
_WORDS = "|".join(_OUTCOMES)
_PROGRESS = r"(?P<progress> +(?:\[ *\d+(?:%|/\d+)\]|\d+(?:\.\d+)?[mun]?s(?: +\S+)?))?"
_NODE = r"[^\s:][^:]*?\.\w+::"
_VERBOSE = re.compile(rf"^(?P<node>{_NODE}\S.*?) (?P<word>{_WORDS})(?: \(.*?)?{_PROGRESS}$")
_VERBOSE_XDIST = re.compile(rf"^\[gw\d+\] (?:\[ *\d+%\] |\[ *\d+/\d+\] )?(?P<word>{_WORDS}) (?P<node>{_NODE}\S.*)$")
_VERBOSE_SUGAR = re.compile(rf"^ (?P<node>{_NODE}\S.*?) (?P<word>R*[✓⨯xXsE]) +\d+% [▏▎▍▌▋▊▉█ ]*$")
_SUGAR_WORDS = {"R": "RERUN", "✓": "PASSED", "⨯": "FAILED", "x": "XFAIL", "X": "XPASS", "s": "SKIPPED", "E": "ERROR"}
_STARTED = re.compile(rf"^({_NODE}(?:[^\s\[]|\[[^\]]*\]+)+) ")
_ENDED = re.compile(rf"^({_WORDS})(?: \(.*\))?{_PROGRESS}$")
_ENDED_BEHIND = re.compile(rf"\S({_WORDS}){_PROGRESS}$")
_NODE_INSIDE = re.compile(rf"\s{_NODE}")
_SHORT = re.compile(rf"^({_WORDS}) ({_NODE}\S.*)$")
_HEADING = re.compile(r"^=+ ([^=].*?) =+$")


@dataclass(frozen=True)
class _Footer:
    line: Line
    counts: dict[str, int]
    collect_only: bool = False


def read(output: Output) -> Found:
    """Return what pytest said: the footers of all runs summed, and what stopped it."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(_A_FOOTER, _A_BEGIN, _A_SUGAR)
    starts = [Start(line.at) for line in lines if _BEGIN.match(line.text)]
    ends = [End(line.at, footer) for line in lines if (footer := _footer(log, line))]
    if starts:
        ends = [end for end in ends if _fits(end, starts)]
    else:
        full = log.scan(_A_FULL)
        starts = [Start(line.at, weak=True) for line in full if len(ends) > 1 or not ends]
    paired = pair(starts, ends, output.calls)
    problem, detail, extra, warnings = _troubles(log, paired.ends, paired.open)
    if not paired.ends:
        firm = any(not start.weak for start in starts)
        evidence = 2 if firm else 1 if starts or problem or extra else 0
        return Found(evidence, complete=not firm, problem=problem, detail=detail, extra=extra, warnings=warnings)
    counts = _sum(paired.ends)
    executed, distinct, guess = _executed(log, counts)
    flaky = counts.get("rerun", 0) > 0 or "flaky report" in detail
    more = {"distinct_tests": distinct} | ({"flaky_hint": True} if flaky else {}) | extra
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=executed,
        complete=not paired.open and problem is None and not extra.get("stopped_early"),
        problem=problem,
        detail=detail,
        flaky=flaky,
        extra=more,
        warnings=(*warnings, *guess),
    )


def _footer(log: Log, line: Line) -> _Footer | None:
    if _SUGAR.match(line.text):
        items = [_SUGAR_ITEM.match(item.text) for item in log.after(line, 400)]
        counts = {item[2]: int(item[1]) for item in items if item}
        return _Footer(line, counts) if counts else None
    hit = _FOOTER.match(line.text)
    if not hit or bool(hit["fence"]) != bool(hit["end"]):
        return None
    body = hit["body"]
    if body.startswith("no tests"):
        return _Footer(line, {})
    collected = _COLLECTED.fullmatch(body)
    if collected:
        return _Footer(line, {"collected": int(collected[1]), "error": int(collected[2] or 0)}, collect_only=True)
    parts = [_PART.fullmatch(part) for part in body.split(", ")]
    words = [part for part in parts if part]
    return _Footer(line, {part[2]: int(part[1]) for part in words}) if len(words) == len(parts) else None


def _fits(end: End[_Footer], starts: list[Start]) -> bool:
    """Keep bare footers only before the first header: a run with a header closes with a fenced one."""
    fenced = end.value.line.text.startswith(("=", "Results"))
    return fenced or end.at < starts[0].at


def _sum(footers: Iterable[_Footer]) -> dict[str, int]:
    total = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    for footer in footers:
        for word, many in footer.counts.items():
            name = {"error": "errors", "warning": "warnings"}.get(word, word.replace(" ", "_").replace("-", "_"))
            total[name] = total.get(name, 0) + many
    total["failed"] += 0 if total["failed"] else total.get("subtests_failed", 0)
    return total


def _executed(log: Log, counts: dict[str, int]) -> tuple[int, int, tuple[str, ...]]:
    """Return tests that ran, distinct tests, and a warning when the second is an estimate.

    A test whose teardown fails is counted by pytest both as passed (or failed) and as an error; a file that cannot be
    collected is an error and no test.
    """
    ran, skipped = sum(counts.get(word, 0) for word in _RAN), counts.get("skipped", 0)
    if not counts["errors"]:
        return ran, ran + skipped, ()
    tail = max(log.size - _NEAR, 0)
    sections = [hit[1] for line in log.scan(_A_SECTION, start=tail) if (hit := _SECTION.match(line.text))]
    listed = [hit for line in log.scan(_A_LISTED, start=tail) if (hit := _LISTED.match(line.text))]
    broken = {hit[2] for hit in listed if hit[1] == "ERROR"}
    others = {hit[2] for hit in listed if hit[1] != "ERROR"}
    guess: tuple[str, ...] = ()
    if len(sections) >= counts["errors"]:
        no_test = sum(section != "at setup of" for section in sections[-counts["errors"] :])
    else:
        files = sum("::" not in test for test in broken)
        no_test = files + len(broken & others)
        if len(broken) > no_test and (named := sum("teardown" in test.rsplit("::", 1)[-1] for test in broken - others)):
            no_test += named
            guess = (
                "a test whose teardown failed is counted twice by pytest; the number of distinct tests is an estimate",
            )
    no_test = min(no_test, counts["errors"])
    return ran - no_test, ran + skipped - no_test, guess


def _around(log: Log, line: Line) -> list[Line]:
    return [*log.before(line, 6), *log.after(line, 3)]


def _troubles(
    log: Log, footers: tuple[_Footer, ...], is_open: bool
) -> tuple[str | None, str, dict[str, object], tuple[str, ...]]:
    start = max((footers[-1].line.at if footers else log.size) - _NEAR, 0)
    notes = [line.text for line in log.scan(*_A_RARE, start=start)]
    extra: dict[str, object] = {}
    warnings: list[str] = []
    crashed = list(dict.fromkeys(hit[2] for note in notes if (hit := _CRASHED.search(note))))
    if crashed or any("node down: " in note for note in notes):
        extra["crashed"] = crashed
        warnings.append("a test worker crashed: " + (", ".join(crashed) or "crashed worker seen"))
    bangs = [hit[1] for footer in footers for line in _around(log, footer.line) if (hit := _BANG.match(line.text))]
    if bangs:
        extra["stopped_early"] = bangs[-1]
    if any(footer.collect_only for footer in footers):
        warnings.append("tests were only collected, none was run")
    problem, detail = _problem(notes, bangs, footers, is_open)
    return problem, detail, extra, tuple(warnings)


def _problem(notes: list[str], bangs: list[str], footers: tuple[_Footer, ...], is_open: bool) -> tuple[str | None, str]:
    failed = sum(footer.counts.get(word, 0) for footer in footers for word in _RED)
    if any(note.startswith("INTERNALERROR>") for note in notes):
        return "crashed", "internal error of pytest"
    if any(note.startswith("Fatal Python error: ") for note in notes) and (is_open or not footers):
        return "crashed", next(note for note in notes if note.startswith("Fatal Python error: "))
    bang = bangs[-1] if bangs else ""
    if "during collection" in bang or (failed and any(_SECTION.match(note) for note in notes)):
        return "collection-error", bang or "a file could not be collected"
    if bang.startswith(
        ("KeyboardInterrupt", "_pytest.outcomes.Exit", "Exit:", "Interrupted: ")
    ) and not bang.startswith("Interrupted: stopping"):
        return "interrupted", bang
    if not failed and any(
        note.startswith(("FAIL Required test coverage", "ERROR: Coverage failure")) for note in notes
    ):
        return "coverage-threshold", next(note for note in notes if "overage" in note)
    if not footers and any(re.match(r"^(?:\S+: )?error: |^ERROR: usage", note) for note in notes):
        return "usage-error", notes[-1]
    return None, ""


def failures(text: str) -> list[Failure]:
    """Return the tests of the short summary, with file, line and message where the output tells them."""
    places = dict(_places(text))
    found: dict[str, Failure] = {}
    for raw in text.splitlines():
        hit = re.match(r"^(FAILED|ERROR) (\S+?)((?:::.*?)?)(?: - (.*))?$", strip_codes(raw))
        if hit and ("::" in hit[3] or hit[2].endswith(".py")):
            test = hit[2] + hit[3]
            name = hit[3].split("::", 1)[-1].replace("::", ".")
            found.setdefault(test, Failure(test, hit[2], places.get(name), hit[4] or ""))
    return list(found.values())


def _places(text: str) -> Iterable[tuple[str, int]]:
    name = None
    for raw in text.splitlines():
        line = strip_codes(raw)
        if head := re.match(r"^_{3,} (?:ERROR at \w+ of )?(.+?) _{3,}$", line):
            name = head[1]
        elif name and (place := re.match(r"^\S+?:(\d+): (?:[A-Z]\w+|in \w+|$)", line)):
            yield name, int(place[1])


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of the lines of `-v` and of the short summary; what tests printed stands in other sections."""
    section, ended, seen = "", True, _Verbose()
    for line in log.each():
        if line.startswith(("=", "Test session starts")):
            if _BEGIN.match(line):
                # The header of a pytest that a test started stands in a section of captured output.
                if ended or not section:
                    section, ended, seen = "", False, _Verbose()
            elif _FOOTER.match(line):
                section, ended = "", True
            elif heading := _HEADING.match(line):
                section = heading[1]
        elif not section:
            yield from seen.read(line)
        elif section.endswith("short test summary info") and (hit := _SHORT.match(line)):
            yield _told(_without_reason(hit[2]), hit[1])


class _Verbose:
    """Reads the lines between the header and the first section."""

    def __init__(self) -> None:
        self._started = ""
        self._progress = False

    def read(self, line: str) -> Iterator[Told]:
        if self._started and (hit := _ENDED.match(line) or _ENDED_BEHIND.search(line)):
            yield _told(self._started, hit[1])
            self._started = ""
        elif hit := _VERBOSE_XDIST.match(line):
            yield _told(hit["node"], hit["word"])
            self._started = ""
        elif hit := _VERBOSE_SUGAR.match(line):
            file, _, name = hit["node"].partition("::")
            head, bracket, rest = name.partition("[")
            for mark in hit["word"]:
                yield _told(f"{file}::{head.replace('.', '::')}{bracket}{rest}", _SUGAR_WORDS[mark])
        elif (hit := _VERBOSE.match(line)) and not _NODE_INSIDE.search(hit["node"]):
            # A started test has the lines to itself; and where pytest draws progress, what a test printed has none.
            if not (self._started or (self._progress and not hit["progress"])):
                self._progress = self._progress or bool(hit["progress"])
                yield _told(hit["node"], hit["word"])
        elif not self._started and (hit := _STARTED.match(f"{line} ")):
            self._started = hit[1]


def _told(node: str, word: str) -> Told:
    file, _, name = node.strip().partition("::")
    head, bracket, rest = name.partition("[")
    return told(head.replace("::", " > ") + bracket + rest, _OUTCOMES[word], file)


def _without_reason(said: str) -> str:
    """Return a node without the reason behind it; ` - ` in the brackets of a parameter begins none."""
    at = said.find(" - ")
    while at >= 0:
        if said.count("[", 0, at) <= said.count("]", 0, at):
            return said[:at]
        at = said.find(" - ", at + 1)
    return said
