"""python -m unittest (and Django): `Ran 5 tests in 0.001s`, a blank line, `OK (skipped=1)` or `FAILED (failures=1)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("django",)
SUMMARY = "`Ran 5 tests in 0.001s`, a blank line, `OK (skipped=1)` or `FAILED (failures=1, errors=1)`"
ZERO = "`Ran 0 tests`, `NO TESTS RAN`, only skipped, exit code 5"
EXITS: dict[int, str] = {5: "no-tests"}

_RAN = re.compile(r"^Ran (\d+) tests? in \d+\.\d+s$")
_RESULT = re.compile(r"^(OK|FAILED|NO TESTS RAN)(?: \(([a-z =,\d]+)\))?$")
_NAMES = {
    "failures": "failed",
    "errors": "errors",
    "skipped": "skipped",
    "expected failures": "xfailed",
    "unexpected successes": "xpassed",
}
_A_RAN = re.compile(rb"Ran \d{1,7} tests? in ")
_NAME = r"(?P<method>\w+) \((?P<owner>[\w.]+)\)(?P<sub>(?: \[.*?\])?(?: \(.*\))?)"
_ENDING = r"(?P<end>ok|FAIL|ERROR|skipped ['\"].*|expected failure|unexpected success)"
_STARTED = re.compile(rf"^(?:.* \.\.\. )? *{_NAME}(?: \.\.\.| *$)(?! {_ENDING}$)")
_NAMED = re.compile(rf"^(?:.* \.\.\. )? *{_NAME} \.\.\. {_ENDING}$")
_DESCRIBED = re.compile(rf"^(?P<text>.+) \.\.\. {_ENDING}$")
_ALONE = re.compile(rf"^{_ENDING}$")
_BELOW = re.compile(rf"^(?:FAIL|ERROR): {_NAME}$")


@dataclass(frozen=True)
class _Footer:
    counts: dict[str, int]
    red: bool
    rank: int


def read(output: Output) -> Found:
    """Return the summed footers; a run without the `OK`/`FAILED` line below is none."""
    return read_streams(output, _read_log, home=1)


def _read_log(log: Log, output: Output) -> Found:
    footers = [(line, footer) for line in log.scan(_A_RAN) if (footer := _footer(log, line))]
    best = max((footer.rank for _, footer in footers), default=0)
    own = [(line, footer) for line, footer in footers if footer.rank == best]
    paired = pair((), [End(line.at, footer) for line, footer in own], output.calls, bare="all")
    if not paired.ends:
        return Found()
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    for footer in paired.ends:
        add(counts, footer.counts)
    surprised = any(footer.red for footer in paired.ends) and not counts["failed"] + counts["errors"]
    unloaded = counts["errors"] > 0 and bool(log.scan(re.compile(rb"unittest\.loader\._FailedTest")))
    ran = sum(counts.get(word, 0) for word in ("passed", "failed", "errors", "xfailed", "xpassed"))
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=min(ran, max(counts["total"] - counts["skipped"], 0)) if counts["total"] else 0,
        complete=not unloaded,
        problem="suite-failed" if unloaded and not counts["failed"] else "tests-failed" if surprised else None,
        detail="a module could not be imported" if unloaded else "unexpected success" if surprised else "",
    )


def _footer(log: Log, line: Line) -> _Footer | None:
    hit = _RAN.match(line.text)
    below = [near.text for near in log.after(line, 2)]
    result = _RESULT.match(below[1]) if len(below) == 2 and not below[0] else None
    if not hit or not result:
        return None
    total = int(hit[1])
    counts = {
        _NAMES[name]: int(many) for name, many in re.findall(r"([a-z][a-z ]*)=(\d+)", result[2] or "") if name in _NAMES
    }
    counts["passed"] = max(total - sum(counts.values()), 0)
    above = log.before(line, 1)
    ruled = bool(above) and set(above[-1].text) == {"-"}
    return _Footer(counts | {"total": total}, result[1] == "FAILED", int(ruled))


def failures(text: str) -> list[Failure]:
    """Return the `FAIL:` and `ERROR:` sections with the last place in the traceback and the last line."""
    found: list[Failure] = []
    inside = False
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^(?:FAIL|ERROR): (\S+)(?: \(([\w.]+)\))?", line):
            name = hit[2] or ""
            found.append(Failure(name if name.endswith(hit[1]) else f"{name}.{hit[1]}".strip(".")))
            inside = True
        elif line.startswith(("=====", "Ran ")):
            inside = False
        elif inside and (place := re.match(r'^ +File "(.+)", line (\d+)', line)):
            found[-1] = Failure(found[-1].id, place[1], int(place[2]), found[-1].message)
        elif inside and re.match(r"^[A-Za-z_][\w.]*(?:: .*)?$", line):
            found[-1] = Failure(found[-1].id, found[-1].file, found[-1].line, line)
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `-v`, with the first line of their docstrings, and those that failed."""
    started: re.Match[str] | None = None
    described = False
    for line in log.each():
        if hit := _NAMED.match(line):
            yield _told(hit, hit["end"])
            started = None
        elif hit := _BELOW.match(line):
            yield _told(hit, "FAIL")
            started = None
        elif started and (hit := _ALONE.match(line)):
            yield _told(started, hit["end"])
            started = None
        elif started and described and (hit := _DESCRIBED.match(line)):
            yield _told(started, hit["end"], hit["text"])
            started = None
        elif hit := _STARTED.match(line):
            started, described = hit, "..." not in line[hit.end("owner") :]
        elif described:
            described = False


def _told(hit: re.Match[str], end: str, text: str = "") -> Told:
    status: Status = "passed" if end == "ok" else "skipped" if end.startswith(("skipped", "expected")) else "failed"
    owner = hit["owner"].removesuffix(f".{hit['method']}")
    module, _, group = owner.rpartition(".")
    name = f"{group} > {hit['method']}{hit['sub']}" + (f" {text}" if text else "")
    return told(name, status, f"{module.replace('.', '/')}.py" if module else None, of=owner)
