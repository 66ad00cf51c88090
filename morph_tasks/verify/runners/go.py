"""go test: one `ok  pkg 0.01s` a package; counts only with `-v` or `-json` (or the footer of gotestsum)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.streams import read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("go-test", "gotestsum")
SUMMARY = (
    "`ok  pkg 0.01s` / `FAIL pkg` of every package; `--- PASS` lines of `-v`, events of `-json`, "
    "`DONE 3 tests` of gotestsum"
)
ZERO = "only `[no test files]` and `[no tests to run]`"
EXITS: dict[int, str] = {}

_OK = re.compile(r"^ok {1,6}\t?(\S+)\t(\(cached\)|\d+\.\d+s)(?:\s+coverage: .*?)?( \[no tests to run\])?$")
_FAIL = re.compile(r"^FAIL\t(\S+)(?: \[(build failed|setup failed)\]|\t\d+\.\d+s| \[[^\]]+\])$")
_NO_FILES = re.compile(r"^\? {1,6}\t(\S+)\t\[no test files\]$")
_RESULT = re.compile(r"^(?: {4})*--- (PASS|FAIL|SKIP): (\S+).* \(\d+\.\d+s\)$")
_DONE = re.compile(r"^DONE(?: \d+ runs,)? (\d+) tests?((?:, \d+ [a-z]+)*) in \d")
_USAGE = re.compile(
    r"^(?:flag provided but not defined|no Go files in|go: (?:cannot find|no packages|warning: no|go\.mod file)"
    r"|stat .*directory not found|no required module|malformed import path)"
)

_A_PACKAGES = (
    re.compile(rb"ok {1,6}\t"),
    re.compile(rb"FAIL\t"),
    re.compile(rb"\t\[no test files\]"),
    re.compile(rb"DONE \d"),
)
_A_NOTES = (
    re.compile(rb"panic: "),
    re.compile(rb"provided but not defined"),
    re.compile(rb"no Go files in"),
    re.compile(rb"go: (?:cannot|no pack|warn|go\.mod)"),
    re.compile(rb"directory not found"),
    re.compile(rb"no packages to test"),
)
_A_RESULT = re.compile(rb"--- (?:PASS|FAIL|SKIP): ")
# Results stand at the left margin, those of subtests behind steps of four blanks.
_RAW = {word: (f"\n--- {word}: ".encode(), f"    --- {word}: ".encode()) for word in ("PASS", "FAIL", "SKIP")}
_A_RUN = re.compile(rb"=== RUN ")
_EVENT = re.compile(rb'"Action":"(pass|fail|skip|build-fail)"([^\n]{0,2000})')
_JSON = re.compile(rb'\{"(?:Time|ImportPath|Action)":"[^\n]{0,400}"Action":"(?:start|run|output|pass|fail|skip|build-)')
_HEAD = 1 << 16
_PACKAGES = ("ok", "cached", "failed", "build_failed", "no_test_files", "no_tests_to_run")
_A_BEGUN = re.compile(rb"=== RUN  |=== NAME ")
_A_ENDED = re.compile(rb"--- (?:PASS|FAIL|SKIP): ")
_A_PACKAGE = re.compile(rb"^(?:ok  |FAIL|---)\t", re.M)
_A_EVENT = re.compile(rb'"Action": ?"(?:run|pass|fail|skip)"')
_A_SWALLOWED = re.compile(rb'[^"]=== RUN  ')
_A_SUM = re.compile(rb"^(?:PASS|FAIL|SKIP) \S{1,400}\.\S{1,400} \(\d+\.\d+s\)", re.M)
_A_AT_END = re.compile(rb"^=== (?:SKIP|FAIL): \S", re.M)
_RUN = re.compile(r"=== RUN +(\S+)$")
_ENDED = re.compile(r"(?:^|\S) *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)$")
_PACKAGE = re.compile(r"^(?:ok  |FAIL)\t(\S+)\t?")
_OF_SUM = re.compile(r"^(PASS|FAIL|SKIP) (\S+?)\.((?:Test|Fuzz|Example|Benchmark)\S*) \(\d+\.\d+s\)$")
_LISTED = re.compile(r"^=== (SKIP|FAIL): (\S+) (\S+) \(\d+\.\d+s\)$")
_WORDS: dict[str, Status] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


@dataclass
class _Seen:
    packages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_PACKAGES, 0))
    panics: list[str] = field(default_factory=list)
    usage: str = ""
    nothing: bool = False
    done: re.Match[str] | None = None
    last: int = 0


def read(output: Output) -> Found:
    """Return packages and, where the output tells them, tests (subtests are tests of their own)."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    if log.find(_JSON, end=_HEAD) is not None:
        return _json(log)
    running = _last(log, _A_RUN)
    seen = _packages(log, verbose=running is not None)
    if seen.done and not any(seen.packages.values()):
        return _gotestsum(seen.done, seen.last)
    results = _results(log) if running is not None or seen.packages["failed"] else {}
    listed = bool(re.search(r"\s--?list\b", output.command))
    return _found(seen, results, running, listed)


def _packages(log: Log, *, verbose: bool) -> _Seen:
    seen = _Seen()
    for line in log.walk(*_A_PACKAGES):
        text = line.text
        if hit := _OK.match(text):
            if verbose and not _closed(log, line):
                continue
            if hit[3]:
                seen.packages["no_tests_to_run"] += 1
            else:
                seen.packages["ok"] += 1
                seen.packages["cached"] += hit[2] == "(cached)"
        elif hit := _FAIL.match(text):
            seen.packages["build_failed" if hit[2] else "failed"] += 1
        elif _NO_FILES.match(text):
            seen.packages["no_test_files"] += 1
        elif hit := _DONE.match(text):
            seen.done = hit
        else:
            continue
        seen.last = line.at
    notes = [line.text for line in log.notes(*_A_NOTES)]
    seen.panics = [note for note in notes if note.startswith("panic: ")]
    seen.nothing = any(note == "no packages to test" for note in notes)
    seen.usage = "" if seen.nothing else next((note for note in notes if _USAGE.match(note)), "")
    return seen


def _closed(log: Log, line: Line) -> bool:
    """Tell whether `-v` closed a package above its `ok`; a test that prints the same words has no `PASS` there."""
    return any(near.text == "PASS" or near.text.endswith("no tests to run") for near in log.before(line, 3))


def _results(log: Log) -> dict[str, int]:
    if not log.prefix:
        many = iter(log.count(*(literal for literals in _RAW.values() for literal in literals)))
        return {word: sum(next(many) for _ in literals) for word, literals in _RAW.items()}
    found = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for line in log.walk(_A_RESULT):
        if hit := _RESULT.match(line.text):
            found[hit[1]] += 1
    return found


def _found(seen: _Seen, results: dict[str, int], running: int | None, listed: bool) -> Found:
    packages = {word: many for word, many in seen.packages.items() if many or word == "ok"}
    closed = any(seen.packages.values())
    is_open = running is not None and running > seen.last
    red = seen.packages["failed"] + seen.packages["build_failed"]
    counts = None
    if running is not None and any(results.values()):
        counts = {"passed": results["PASS"], "failed": results["FAIL"], "skipped": results["SKIP"]}
    problem, detail = _problem(seen, results, counts)
    empty = closed and not seen.packages["ok"] and not red
    warnings = ("results come from go's cache, nothing was run for them",) if seen.packages["cached"] else ()
    return Found(
        evidence=3 if closed else 2 if running is not None or seen.nothing else 1 if seen.usage else 0,
        at=seen.last,
        counts=counts,
        executed=counts["passed"] + counts["failed"] if counts else None,
        complete=not is_open and problem in (None, "tests-failed"),
        empty=empty or (listed and not red) or bool(seen.nothing and not closed),
        green=bool(seen.packages["ok"]) and not red and not is_open,
        problem=problem,
        detail=detail,
        extra={"packages": packages} if closed else {},
        warnings=warnings,
    )


def _problem(seen: _Seen, results: dict[str, int], counts: dict[str, int] | None) -> tuple[str | None, str]:
    red = seen.packages["failed"]
    panic = next((text for text in seen.panics if red), "")
    if "test timed out after" in panic:
        return "timeout", panic
    if seen.packages["build_failed"] and not results.get("FAIL"):
        return "build-failed", f"{seen.packages['build_failed']} package(s) did not compile"
    if panic and not results.get("FAIL"):
        return "crashed", panic
    if red and (counts is None or not counts["failed"]):
        failed = results.get("FAIL", 0)
        return "tests-failed", f"{failed} tests failed" if failed else f"{red} packages failed"
    return ("usage-error", seen.usage) if seen.usage and not any(seen.packages.values()) else (None, "")


def _last(log: Log, anchor: re.Pattern[bytes]) -> int | None:
    """Return the offset of the last hit at the start of a line; looks from the end, in growing pieces."""
    size = 1 << 16
    while True:
        found = [
            line.at for line in log.walk(anchor, start=max(log.size - size, 0)) if line.text.startswith("=== RUN ")
        ]
        if found or size >= log.size:
            return found[-1] if found else None
        size *= 16


def _json(log: Log) -> Found:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    packages = dict.fromkeys(_PACKAGES, 0)
    problem, unclosed, empty = None, set[bytes](), set[bytes]()
    for action, rest in _events(log):
        package = _value(rest, b"Package")
        if action == b"build-fail" or b'"FailedBuild":' in rest:
            problem = "build-failed"
            packages["build_failed"] += action == b"build-fail"
        if b'"Test":"' in rest:
            counts[{b"pass": "passed", b"fail": "failed", b"skip": "skipped"}[action]] += 1
            unclosed.add(package)
            empty.discard(package)
        elif action != b"build-fail":
            name = {b"pass": "ok", b"fail": "failed", b"skip": "no_test_files"}[action]
            packages[name] += 1
            unclosed.discard(package)
    cached = _times(log, rb"\(cached\)")
    packages["cached"] = cached
    packages["no_tests_to_run"] = _times(log, rb" \[no tests to run\]")
    packages["ok"] = max(packages["ok"] - packages["no_tests_to_run"], 0)
    ran = counts["passed"] + counts["failed"]
    plain = log.scan(re.compile(rb"FAIL\t[^\n]{1,300}\[(?:build|setup) failed"))
    if unbuilt := sum(bool(_FAIL.match(line.text)) for line in plain):
        problem = "build-failed"
        packages["build_failed"] = max(packages["build_failed"], unbuilt)
    if packages["failed"] and not counts["failed"] and problem is None:
        problem = "crashed"
    return Found(
        evidence=3,
        at=log.size,
        counts=counts,
        executed=ran,
        complete=not unclosed
        and (packages["ok"] + packages["failed"] + packages["no_test_files"] + packages["no_tests_to_run"]) > 0
        and problem is None,
        problem=problem,
        extra={
            "packages": {word: many for word, many in packages.items() if many or word == "ok"},
            "dialect": "go-json",
        },
        warnings=("results come from go's cache, nothing was run for them",) if cached else (),
    )


def _times(log: Log, remark: bytes) -> int:
    """Return how many packages closed with a remark."""
    return sum(1 for _ in log.matches(re.compile(rb'"Output":"ok {1,6}\\t[^\n"]{1,300}' + remark)))


def _events(log: Log) -> Iterator[tuple[bytes, bytes]]:
    for hit in log.matches(_EVENT):
        yield hit[1], hit[2]


def _value(rest: bytes, key: bytes) -> bytes:
    hit = re.search(rb'"' + key + rb'":"([^"]*)"', rest)
    return hit[1] if hit else b""


def _gotestsum(done: re.Match[str], at: int) -> Found:
    more = {word.rstrip("s"): int(many) for many, word in re.findall(r"(\d+) ([a-z]+)", done[2])}
    total, failed, skipped, errors = int(done[1]), more.get("failure", 0), more.get("skipped", 0), more.get("error", 0)
    counts = {
        "passed": total - failed - skipped,
        "failed": failed,
        "skipped": skipped,
        "errors": errors,
        "total": total,
    }
    return Found(evidence=3, at=at, counts=counts, executed=total - skipped, extra={"dialect": "gotestsum"})


def failures(text: str) -> list[Failure]:
    """Return the `--- FAIL` tests with the first `file:line: message` below, without parents of failed subtests."""
    found: list[Failure] = []
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^ *--- FAIL: (\S+)", line):
            found = [known for known in found if not hit[1].startswith(known.id + "/")]
            found.append(Failure(hit[1]))
        elif found and found[-1].line is None and (place := re.match(r"^\s+(\S+\.go):(\d+): (.*)$", line)):
            found[-1] = Failure(found[-1].id, place[1], int(place[2]), place[3])
        elif found and not found[-1].message and line.startswith("panic: "):
            found[-1] = Failure(found[-1].id, message=line)
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `-v`, of `-json` and of gotestsum. One with subtests speaks through them."""
    if log.find(_A_EVENT) is not None:
        found = _of_events(log)
    elif log.find(_A_SUM) is not None or (log.find(_A_BEGUN) is None and log.find(_A_AT_END) is not None):
        found = _of_sum(log)
    else:
        found = _of_lines(log)
    tests = list(found)
    failed = {(package, name) for package, name, status in tests if status == "failed"}
    judged: dict[tuple[str, str], bool] = {}
    for package, name, status in tests:
        while "/" in name:
            name = name.rpartition("/")[0]
            judged[package, name] = judged.get((package, name), False) or status == "failed"
    for package, name, status in tests:
        inside = judged.get((package, name))
        # A test that failed by itself, though its subtests passed, is a result of its own.
        if inside is None or (inside is False and (package, name) in failed and status == "failed"):
            yield told(name, status, of=package)


def _of_lines(log: Log) -> Iterator[tuple[str, str, Status]]:
    """Yield (package, test, status); a package is told after its tests.

    What no `=== RUN` named was printed by a test; without `-v` go names only what failed.
    """
    run: set[str] = set()
    seen: list[tuple[str, Status]] = []
    verbose = False
    for line in log.walk(_A_BEGUN, _A_ENDED, _A_PACKAGE):
        if hit := _RUN.search(line.text):
            verbose = True
            run.add(hit[1])
        elif hit := _PACKAGE.match(line.text):
            yield from ((hit[1], name, status) for name, status in seen)
            seen, run = [], set()
        elif (hit := _ENDED.search(line.text)) and (hit[2] in run if verbose else hit[1] == "FAIL"):
            seen.append((hit[2], _WORDS[hit[1]]))
    yield from (("", name, status) for name, status in seen)


def _of_events(log: Log) -> Iterator[tuple[str, str, Status]]:
    run: set[tuple[str, str]] = set()
    for line in log.walk(_A_EVENT, _A_SWALLOWED):
        try:
            said = json.loads(line.text[line.text.find("{") :])
        except ValueError:
            continue
        if not isinstance(said, dict) or not said.get("Test"):
            continue
        key = (str(said.get("Package", "")), str(said["Test"]))
        if said.get("Action") == "run":
            run.add(key)
        elif said.get("Action") == "output":
            # What a test printed without an end of line swallows the event of the next one.
            run |= {(key[0], name) for name in _RUN.findall(str(said.get("Output", "")).rstrip("\n"))}
        elif key in run and (status := _WORDS.get(str(said.get("Action")).upper())):
            yield (*key, status)


def _of_sum(log: Log) -> Iterator[tuple[str, str, Status]]:
    """Yield what gotestsum says: `testname` names what passed and failed, each format lists the rest at the end."""
    told_before: set[tuple[str, str, Status]] = set()
    for line in log.walk(_A_SUM, _A_AT_END):
        hit = _OF_SUM.match(line.text) or _LISTED.match(line.text)
        one = (hit[2], hit[3], _WORDS[hit[1]]) if hit else None
        if one and one not in told_before:
            told_before.add(one)
            yield one
