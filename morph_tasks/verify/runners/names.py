"""How each runner names a test on a line of its output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, cast

from morph_tasks.verify.runners.model import TestResult

Lines = Iterable[str]
Status = Literal["passed", "failed", "skipped", "flaky"]

_PYTEST = {
    "PASSED": "passed", "XPASS": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped",
    "XFAIL": "skipped",
}  # fmt: skip
_PYTEST_WORDS = "|".join(_PYTEST)
_PYTEST_AFTER = re.compile(rf"^(\S+?\.\w+::.+?) ({_PYTEST_WORDS})(?: \(.*\))?(?: +\[ *\d+%\])?$")
_PYTEST_BEFORE = re.compile(rf"^(?:\[gw\d+\] +)?(?:\[ *\d+%\] +)?({_PYTEST_WORDS}) (\S+?\.\w+::.+?)(?: - .*)?$")
_MARKS: dict[str, Status] = {
    "✓": "passed", "✔": "passed", "√": "passed", "×": "failed", "✗": "failed", "✕": "failed", "✖": "failed",
    "✘": "failed", "↓": "skipped", "□": "skipped", "○": "skipped", "✎": "skipped", "﹣": "skipped", "⚠": "skipped",
}  # fmt: skip
_TIME = re.compile(r"(?: \(?\d+(?:\.\d+)? ?(?:ms|s|m)\)?)$")
_RETRY = re.compile(r" \((?:retry|repeat) x\d+\)$")
_MARKED = re.compile(rf"^( *)([{''.join(_MARKS)}]) +(\S.*)$")
_TAP = re.compile(r"^( *)(not )?ok \d+ - (.+?)(?: # (SKIP|TODO|time=)\S*.*)?(?: \{)?$")
_GO = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)$")
_GO_WORDS: dict[str, Status] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_CARGO = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*)?$")
_NEXTEST = re.compile(r"^ +(PASS|FAIL|SKIP|FLAKY(?: \d+/\d+)?|TRY \d+ (?:PASS|FAIL)) \[.*?\] +(?:\(.*?\) +)?(.+)$")
_DOTNET = re.compile(
    r"^ *(Passed|Failed|Skipped|passed|failed|skipped|Aprovado|Com falha|Ignorado)"
    r" +(\S.*?)(?: [\[(]<? ?[\d.,]+ ?m?s.*)?$"
)
_DOTNET_WORDS = {
    "passed": "passed", "failed": "failed", "skipped": "skipped",
    "aprovado": "passed", "com falha": "failed", "ignorado": "skipped",
}  # fmt: skip
_UNITTEST = re.compile(
    r"^(\w+) \(([\w.]+)\)(?: \[.*\])?(?: \.\.\.|.*? \.\.\.)"
    r" (ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$"
)
_UNITTEST_WORDS: dict[str, Status] = {
    "ok": "passed", "unexpected": "passed", "skipped": "skipped", "expected": "skipped",
}  # fmt: skip
_GRADLE = re.compile(r"^(\S.*?) > (.+) (PASSED|FAILED|SKIPPED)$")
_CTEST = re.compile(r"^ *\d+/\d+ +Test +#\d+: (\S+) \.+ *(Passed|\*\*\*\S.*?) +\d+\.\d+ sec$")
_PLAYWRIGHT = re.compile(r"^ *([✓✔✘✖-]|ok|x) +\d+ (.+)$")
_PLACE = re.compile(r"^(?:\[[^\]]+\] › )?(\S+?):(\d+):\d+ › (.+)$")
_DENO = re.compile(r"^(\S.*?) \.\.\. (?:\S*?)?(ok|FAILED|ignored)(?: \(.*\))?$")
_BUN = re.compile(r"^\((pass|fail|skip|todo)\) (.+?)(?: \[[\d.]+m?s\])?$")


def pytest(lines: Lines) -> Iterator[TestResult]:
    """Read `-v` and the short summary."""
    for line in lines:
        if hit := _PYTEST_AFTER.match(line):
            yield _pytest(hit[1], hit[2])
        elif hit := _PYTEST_BEFORE.match(line):
            yield _pytest(hit[2], hit[1])


def _pytest(node: str, word: str) -> TestResult:
    file, _, name = node.partition("::")
    return TestResult(name.replace("::", " > "), cast("Status", _PYTEST[word]), file)


def vitest(lines: Lines) -> Iterator[TestResult]:
    """Read `verbose`, `tree`, the part that `default` prints, `json`, `tap` and `tap-flat`."""
    file: str | None = None
    above: list[tuple[int, str]] = []
    rest = iter(lines)
    for line in rest:
        if line.startswith("{") and '"testResults"' in line:
            yield from report(line)
        elif line.startswith("TAP version"):
            yield from tap(rest)
        elif hit := _MARKED.match(line):
            found = _vitest(hit, file, [name for depth, name in above if depth < len(hit[1])])
            if found:
                yield found
        elif opened := re.match(r"^( *)[❯▶] (\S.*?)(?: \(\d+(?: tests?)?(?: \| .*)?\))?(?: \d+m?s)?$", line):
            depth = len(opened[1])
            above = [one for one in above if one[0] < depth]
            if depth <= 1:
                file, above = opened[2], []
            else:
                above.append((depth, opened[2]))
        elif (hit := re.match(r"^ ?FAIL +(.+? > .+)$", line)) and " > " in hit[1]:
            yield _flat(hit[1], "failed")


def _vitest(hit: re.Match[str], file: str | None, above: list[str]) -> TestResult | None:
    said = hit[3]
    retried = bool(_RETRY.search(said))
    status = _MARKS[hit[2]]
    name = _TIME.sub("", _RETRY.sub("", said))
    if re.search(r" \(\d+ tests?(?: \| .*)?\)$", name):
        return None  # the line of a file
    if retried and status == "passed":
        status = "flaky"
    if " > " in name and len(hit[1]) <= 1:
        return _flat(name, status)
    return TestResult(" > ".join([*above, name]), status, file)


def _flat(said: str, status: Status) -> TestResult:
    file, _, name = re.sub(r"^\|[^|]+\| +", "", said).partition(" > ")
    return TestResult(name, status, file)


def indented(lines: Lines) -> Iterator[TestResult]:
    """Read a tree of suites in which each test has a mark: jest `--verbose`, mocha and node's `spec`."""
    file: str | None = None
    above: list[tuple[int, str]] = []
    quiet = 0  # how deep a block of captured output or of a failure's details is
    for line in lines:
        if line.startswith("{") and '"testResults"' in line:
            yield from report(line)
            continue
        if hit := re.match(r"^(?:PASS|FAIL) (?:\S+ )?(\S+\.\w+)(?: \(.*\))?$", line):
            file, above, quiet = hit[1].removeprefix("./"), [], 0
            continue
        if re.match(r"^ *● |^ {2}console\.\w+|^ {2}\d+ (?:passing|failing|pending)|^✖ failing tests:", line):
            quiet = 1
        if quiet:
            continue
        hit = _MARKED.match(line) or re.match(r"^( +)(\d+\)|-) (\S.*)$", line)
        if hit:
            depth = len(hit[1])
            above = [one for one in above if one[0] < depth]
            yield _indented(hit, [name for _, name in above], file)
        elif opened := re.match(r"^( *)(?:▶ )?(\S.*)$", line):
            depth = len(opened[1])
            above = [one for one in above if one[0] < depth]
            above.append((depth, opened[2]))


def _indented(hit: re.Match[str], above: list[str], file: str | None) -> TestResult:
    status: Status = _MARKS.get(hit[2]) or ("skipped" if hit[2] == "-" else "failed")
    name = re.sub(r" # (?:SKIP|TODO)\b.*$", "", hit[3])
    if name != hit[3]:
        status = "skipped"
    if hit[2] in ("○", "✎"):
        name = re.sub(r"^(?:skipped|todo) ", "", name)
    return TestResult(" > ".join([*above, _TIME.sub("", name)]), status, file)


def node(lines: Lines) -> Iterator[TestResult]:
    """Read the `spec` and the `tap` of node; a suite's own closing line is none of its tests."""
    kept = list(lines)
    if any(line.startswith("TAP version") for line in kept):
        yield from tap(kept)
        return
    suites = {hit[1] for line in kept if (hit := re.match(r"^ *▶ (\S.*)$", line))}
    for test in indented(kept):
        if test.name.rpartition(" > ")[2] not in suites:
            yield test


def tap(lines: Lines) -> Iterator[TestResult]:
    """Read TAP: node puts a subtest's lines before its parent's, vitest after it."""
    kept = list(lines)
    above: list[tuple[int, str]] = []
    for place, line in enumerate(kept):
        depth = len(line) - len(line.lstrip(" "))
        if opened := re.match(r"^ *# Subtest: (.+)$", line):
            above = [one for one in above if one[0] < depth] + [(depth, opened[1])]
            continue
        hit = _TAP.match(line)
        if not hit:
            continue
        if line.endswith("{"):
            above = [one for one in above if one[0] < depth] + [(depth, hit[3])]
            continue
        if any("type: 'suite'" in below for below in kept[place + 1 : place + 4]):
            continue
        names = [name for level, name in above if level < depth]
        status: Status = "skipped" if hit[4] in ("SKIP", "TODO") else "failed" if hit[2] else "passed"
        file = names.pop(0) if names and re.search(r"\.[cm]?[jt]sx?$", names[0]) else None
        name = hit[3]
        if file is None and re.match(r"^\S+\.[cm]?[jt]sx? > ", name):
            file, _, name = name.partition(" > ")
        yield TestResult(" > ".join([*names, name]), status, file)


def report(text: str) -> Iterator[TestResult]:
    """Read the JSON of jest and of vitest."""
    words: dict[str, Status] = {"passed": "passed", "failed": "failed"}
    try:
        files = json.loads(text)["testResults"]
        for file in files:
            for one in file["assertionResults"]:
                name = " > ".join([*one.get("ancestorTitles", ()), one["title"]])
                tries = one.get("invocations") or 1
                status = words.get(one["status"], "skipped")
                where = one.get("location") or {}
                if status == "passed" and tries > 1:
                    status = "flaky"
                yield TestResult(name, status, file["name"], where.get("line"))
    except (ValueError, KeyError, TypeError):
        return


def go(lines: Lines) -> Iterator[TestResult]:
    """Read `-v` and `-json`. A test with subtests speaks through them; an id of it is in their names."""
    found: list[TestResult] = []
    for line in lines:
        if hit := _GO.match(line):
            found.append(TestResult(hit[2], _GO_WORDS[hit[1]]))
        elif line.startswith("{") and '"Test":' in line and (said := _event(line)):
            found.append(said)
    parents = {one.name.rpartition("/")[0] for one in found}
    yield from (one for one in found if one.name not in parents)


def _event(line: str) -> TestResult | None:
    try:
        said: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    status = _GO_WORDS.get(str(said.get("Action")).upper())
    return TestResult(str(said["Test"]), status) if status and said.get("Test") else None


def cargo(lines: Lines) -> Iterator[TestResult]:
    """Read the harness of rustc, and nextest."""
    words: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
    for line in lines:
        if hit := _CARGO.match(line):
            yield TestResult(hit[1], words[hit[2]])
        elif hit := _NEXTEST.match(line):
            word = hit[1].split()[0]
            status: Status = "flaky" if word == "FLAKY" else _GO_WORDS[hit[1].split()[-1]]
            yield TestResult(hit[2].split(" ")[-1], status)


def dotnet(lines: Lines) -> Iterator[TestResult]:
    """Read the lines of the console loggers, in English and Portuguese."""
    for line in lines:
        hit = _DOTNET.match(line)
        if hit and not hit[2].startswith(("!", "-", ":")):
            yield TestResult(hit[2], cast("Status", _DOTNET_WORDS[hit[1].lower()]))


def unittest(lines: Lines) -> Iterator[TestResult]:
    """Read `-v`."""
    for line in lines:
        if hit := _UNITTEST.match(line):
            status = _UNITTEST_WORDS.get(hit[3].split()[0], "failed")
            owner = hit[2].removesuffix(f".{hit[1]}")
            yield TestResult(f"{owner} > {hit[1]}", status)


def gradle(lines: Lines) -> Iterator[TestResult]:
    """Read the events of Gradle's test logging."""
    words: dict[str, Status] = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    for line in lines:
        if (hit := _GRADLE.match(line)) and not line.startswith("> Task"):
            yield TestResult(f"{hit[1]} > {hit[2]}", words[hit[3]])


def ctest(lines: Lines) -> Iterator[TestResult]:
    """Read the list of tests."""
    for line in lines:
        if hit := _CTEST.match(line):
            skipped = hit[2].startswith(("***Skipped", "***Not Run", "***Disabled"))
            yield TestResult(hit[1], "passed" if hit[2] == "Passed" else "skipped" if skipped else "failed")


def playwright(lines: Lines) -> Iterator[TestResult]:
    """Read the `list` reporter; a retry that passed is told on a second line."""
    words: dict[str, Status] = {"✓": "passed", "✔": "passed", "ok": "passed", "-": "skipped"}
    for line in lines:
        hit = _PLAYWRIGHT.match(line)
        place = _PLACE.match(_TIME.sub("", hit[2])) if hit else None
        if hit and place:
            name = re.sub(r" \(retry #\d+\)$", "", place[3])
            yield TestResult(name.replace(" › ", " > "), words.get(hit[1], "failed"), place[1], int(place[2]))


def deno(lines: Lines) -> Iterator[TestResult]:
    """Read the lines of `deno test`."""
    words: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
    for line in lines:
        if hit := _DENO.match(line):
            yield TestResult(hit[1], words[hit[2]])


def bun(lines: Lines) -> Iterator[TestResult]:
    """Read the lines of `bun test`; outside of a terminal a test begins with `(pass)`."""
    words: dict[str, Status] = {"pass": "passed", "fail": "failed", "skip": "skipped", "todo": "skipped"}
    for line in lines:
        if hit := _BUN.match(line):
            yield TestResult(hit[2], words[hit[1]])
        elif hit := _MARKED.match(line):
            yield TestResult(re.sub(r" \[[\d.]+m?s\]$", "", hit[3]), _MARKS[hit[2]])


NAMES: dict[str, Callable[[Lines], Iterator[TestResult]]] = {
    "pytest": pytest,
    "vitest": vitest,
    "jest": indented,
    "mocha": indented,
    "node-test": node,
    "playwright": playwright,
    "go": go,
    "cargo": cargo,
    "dotnet": dotnet,
    "unittest": unittest,
    "gradle": gradle,
    "ctest": ctest,
    "deno": deno,
    "bun": bun,
}
