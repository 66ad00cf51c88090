"""Gradle: `3 tests completed, 1 failed, 1 skipped` when something failed, else only `> Task :test` and `BUILD …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told, without_time

ALIASES: tuple[str, ...] = ()
SUMMARY = (
    "`3 tests completed, 1 failed, 1 skipped`, `Class > test() PASSED` of `testLogging`; "
    "a plain green run prints no count"
)
ZERO = "`:test NO-SOURCE`, `No tests found for given includes`, `0 tests completed`"
EXITS: dict[int, str] = {}

_COMPLETED = re.compile(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$")
_RESULTS = re.compile(
    r"^\W{0,4}Results?: (?:SUCCESS|FAILURE|FAILED) \((\d+) tests?, (\d+) (?:passed|successes|succeeded), "
    r"(\d+) (?:failed|failures), (\d+) skipped\)\W{0,4}$"
)
_TASK = re.compile(r"^(?:> Task )?:([\w:.-]*[tT]est[\w-]*)(?: (UP-TO-DATE|FROM-CACHE|NO-SOURCE|SKIPPED|FAILED))?$")
_EVENT = re.compile(r"^(\S[^>]{0,400} > .{1,400}) (PASSED|FAILED|SKIPPED)(?: \([\d.]+m?s\))?$")

_A_LINES = (
    re.compile(rb"tests? completed"),
    re.compile(rb"BUILD (?:SUCCESSFUL|FAILED)"),
    re.compile(rb"> Task :"),
    re.compile(rb"Result[^\n]{0,20} \(\d"),
)
_A_NOTES = (
    re.compile(rb"No tests found for given includes"),
    re.compile(rb"Execution failed for task "),
    re.compile(rb"Process 'Gradle Test Executor"),
)
_A_EVENT = (re.compile(rb"PASSED"), re.compile(rb"FAILED"), re.compile(rb"SKIPPED"))
_OF = re.compile(r"^> Task (:\S+)")
_NAMED = re.compile(r"^(?! |> )(\S.*?) > (.+) (PASSED|FAILED|SKIPPED)(?: \([\d.]+m?s\))?$")
_BELOW = re.compile(r"^ {2,}(?:Test )?(\S.*) (PASSED|FAILED|SKIPPED)(?: \((.*)\))?$")
_WORDS: dict[str, Status] = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def read(output: Output) -> Found:
    """Return what Gradle counts; a green build without counts stays unknown."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    texts = [line.text for line in [*lines, *log.notes(*_A_NOTES)]]
    built = [text for text in texts if text.startswith("BUILD ")]
    tasks = [hit for text in texts if (hit := _TASK.match(text))]
    executed = [
        task
        for task in tasks
        if task[2] in (None, "FAILED") and not re.search(r"compile|process|Classes$|Resources$", task[1])
    ]
    suites = [task for task in tasks if not re.search(r"compile|process|Classes$|Resources$", task[1], re.I)]
    counts = _counts(log, texts)
    problem, detail = _problem(texts, counts, failed=any(text.startswith("BUILD FAILED") for text in built))
    nothing = bool(suites) and all(task[2] in ("NO-SOURCE", "SKIPPED") for task in suites)
    none_found = any("No tests found for given includes" in text for text in texts)
    cached = [task[1] for task in suites if task[2] in ("UP-TO-DATE", "FROM-CACHE")]
    return Found(
        evidence=3 if counts else 2 if built or suites else 0,
        at=lines[-1].at if lines else 0,
        counts=counts,
        executed=counts["passed"] + counts["failed"] if counts else None,
        complete=bool(built or not executed) and problem in (None, "tests-failed"),
        empty=(nothing or none_found) and not counts,
        problem=None if none_found and not counts else problem,
        detail=detail,
        warnings=(f"not run again, taken from an earlier build: {', '.join(cached[:5])}",) if cached else (),
    )


def _counts(log: Log, texts: list[str]) -> dict[str, int] | None:
    total: dict[str, int] = {"passed": 0, "failed": 0, "skipped": 0, "total": 0}
    for pattern in (_COMPLETED, _RESULTS):
        hits = [hit for text in texts if (hit := pattern.match(text))]
        for hit in hits:
            everything = int(hit[1])
            failed, skipped = (int(number or 0) for number in hit.groups()[-2:])
            add(
                total,
                {"passed": everything - failed - skipped, "failed": failed, "skipped": skipped, "total": everything},
            )
        if hits:
            return total
    events = [hit[2] for line in log.walk(*_A_EVENT) if (hit := _EVENT.match(line.text))]
    if "PASSED" not in events:
        return None
    named = {"passed": events.count("PASSED"), "failed": events.count("FAILED"), "skipped": events.count("SKIPPED")}
    return named | {"total": len(events)}


def _problem(texts: list[str], counts: dict[str, int] | None, *, failed: bool) -> tuple[str | None, str]:
    broken = [text for text in texts if text.startswith(("Execution failed for task", "* Execution failed"))]
    if any(text.startswith("Process 'Gradle Test Executor") for text in texts):
        return "crashed", next(text for text in texts if text.startswith("Process 'Gradle"))
    if not failed or (counts and counts["failed"]):
        return None, ""
    if any(re.search(r"'[\w:.-]*:(?:compile|process)\w*'", text) for text in broken):
        return "build-failed", broken[0]
    if any(re.search(r"'[\w:.-]*[tT]est[\w-]*'", text) for text in broken):
        return "tests-failed", broken[0]
    return "build-failed", broken[0] if broken else "Gradle ended with BUILD FAILED"


def failures(text: str) -> list[Failure]:
    """Return the `Class > test() FAILED` lines with the exception and place below."""
    found: list[Failure] = []
    for raw in text.splitlines():
        line = strip_codes(raw)
        if (hit := _EVENT.match(line)) and hit[2] == "FAILED":
            found.append(Failure(hit[1]))
        elif found and not found[-1].message and (hit := re.match(r"^ {4,}(\S.*)$", line)):
            found[-1] = Failure(found[-1].id, message=hit[1])
        elif (
            found
            and found[-1].line is None
            and (place := re.search(r"\b(\w+\.(?:java|kt|groovy|scala)):(\d+)\)?$", line))
        ):
            found[-1] = Failure(found[-1].id, place[1], int(place[2]), found[-1].message)
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of `testLogging` events, and of the plugin that puts them below the name of their class."""
    of = group = ""
    for line in log.each():
        if hit := _OF.match(line):
            of, group = hit[1], ""
        elif hit := _NAMED.match(line):
            yield told(f"{hit[1]} > {hit[2]}", _WORDS[hit[3]], of=of)
        elif group and (hit := _BELOW.match(line)):
            yield told(f"{group} > {without_time(hit[1], bracketed=True)}", _WORDS[hit[2]], of=of)
        elif re.match(r"^[\w.$]+$", line):
            group = line
