"""RSpec: `10 examples, 1 failure, 2 pending, 1 error occurred outside of examples`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Log, strip_codes
from morph_tasks.verify.runners.told import UNNAMED, Status, Told, documents, joined, told

ALIASES: tuple[str, ...] = ()
SUMMARY = "`10 examples, 1 failure, 2 pending, 1 error occurred outside of examples`, or `--format json`"
ZERO = "`0 examples`, `No examples found.`, only pending"
EXITS: dict[int, str] = {}

_FOOTER = re.compile(
    r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$"
)
_KEYS = {
    "example_count": "total",
    "failure_count": "failed",
    "pending_count": "pending",
    "errors_outside_of_examples_count": "errors",
}

_A_FOOTER = re.compile(rb" examples?, ")
_A_NOTES = (
    re.compile(rb"is below the expected minimum coverage"),
    re.compile(rb"An error occurred while loading"),
    re.compile(rb"invalid option: "),
    re.compile(rb"RSpec is shutting down"),
)
_JSON = re.compile(rb'"summary":\{"duration"')
_A_JSON = re.compile(rb'"examples":\s{0,9}\[')
_OVER = re.compile(r"^(?:Failures:|Pending: \(|Finished in )")
_SUMMARY = re.compile(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?")
_FAILED = re.compile(r"^rspec (\S+?)(?:\[[\d:]+\]|:(\d+)) # (.+)$")
# A tree with more lines than this is none.
_MOST = 1 << 18
_GROWN = re.compile(r"^((?:  )*)(\S.*?)(?: \((FAILED - \d+|PENDING: .*|ERROR - .*)\))?$")


def read(output: Output) -> Found:
    """Return the summed footers."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    footers = [(line, hit) for line in log.scan(_A_FOOTER) if (hit := _FOOTER.match(line.text))]
    notes = [line.text for line in log.notes(*_A_NOTES)]
    # RSpec writes its footer right below `Finished in …`; a test that prints the same words does not.
    own = [
        (line, hit)
        for line, hit in footers
        if any(near.text.startswith("Finished in ") for near in log.before(line, 1))
    ]
    ends = [End(line.at, _counts(*(int(group or 0) for group in hit.groups()))) for line, hit in own or footers]
    paired = pair((), ends, output.calls, bare="all")
    if not own and (report := _json(log)):
        return report
    if not paired.ends:
        usage = next((note for note in notes if note.startswith("invalid option: ")), "")
        return Found(1 if usage else 0, problem="usage-error" if usage else None, detail=usage)
    counts: dict[str, int] = {}
    for end in paired.ends:
        add(counts, end)
    return _found(counts, notes, output, paired.last)


def _counts(total: int, failed: int, pending: int, errors: int) -> dict[str, int]:
    passed = max(total - failed - pending, 0)
    return {
        "passed": passed,
        "failed": failed,
        "skipped": pending,
        "pending": pending,
        "errors": errors,
        "total": total,
    }


def _found(counts: dict[str, int], notes: list[str], output: Output, at: int) -> Found:
    problem, detail = None, ""
    unloaded = any(note.startswith("An error occurred while loading") for note in notes)
    if counts["errors"]:
        problem = "suite-failed" if unloaded else "unhandled-error"
        detail = f"{counts['errors']} error(s) outside of examples"
    elif "RSpec is shutting down" in " ".join(notes):
        problem = "interrupted"
    elif (
        output.exit_code != 0
        and not counts["failed"]
        and (missed := [note for note in notes if "minimum coverage" in note])
    ):
        problem, detail = "coverage-threshold", missed[-1]
    return Found(
        evidence=3,
        at=at,
        counts=counts,
        executed=counts["passed"] + counts["failed"],
        complete=problem in (None, "coverage-threshold"),
        problem=problem,
        detail=detail,
    )


def _json(log: Log) -> Found | None:
    at = log.find(_JSON)
    if at is None:
        return None
    text = log.read(at, at + 600).decode("utf-8", "replace")
    many = {_KEYS[key]: int(number) for key, number in re.findall(r'"(\w+)":(\d+)', text) if key in _KEYS}
    counts = _counts(many.get("total", 0), many.get("failed", 0), many.get("pending", 0), many.get("errors", 0))
    return _found(counts, [], Output(()), at)


def failures(text: str) -> list[Failure]:
    """Return the `rspec ./file:line # title` list, with the first error line of the numbered section."""
    messages: dict[str, str] = {}
    title, waiting = "", False
    found: list[Failure] = []
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^ {2}\d+\) (.+)$", line):
            title, waiting = hit[1], True
        elif title and waiting and (hit := re.match(r"^ {7}(\S.*)$", line)):
            messages.setdefault(title, hit[1])
            waiting = False
        elif hit := re.match(r"^rspec (\S+?)(?::(\d+)|\[[\d:]+\])? # (.+)$", line):
            found.append(
                Failure(hit[3], hit[1].removeprefix("./"), int(hit[2]) if hit[2] else None, messages.get(hit[3], ""))
            )
    return found


def results(log: Log) -> Iterator[Told]:
    """Yield the examples of `documentation` and of `json`; of other formats, those that failed."""
    if log.find(_A_JSON) is not None and (found := [one for text in documents(log, _A_JSON) for one in _of_json(text)]):
        yield from found
        return
    grown: list[tuple[int, str, str]] = []
    over = False
    for line in log.each():
        if hit := _SUMMARY.match(line):
            yield from _documented(grown, [int(number or 0) for number in hit.groups()])
            grown, over = [], True
        elif hit := _FAILED.match(line):
            yield told(hit[3], "failed", hit[1].removeprefix("./"), int(hit[2]) if hit[2] else None)
        elif _OVER.match(line):
            over = True
        elif not over and len(grown) < _MOST and (hit := _GROWN.match(line)):
            grown.append((len(hit[1]), hit[2], hit[3] or ""))
        elif line.startswith(("Randomized with seed", "Run options:")):
            grown, over = [], False


def _documented(grown: list[tuple[int, str, str]], counted: list[int]) -> Iterator[Told]:
    """Yield the leaves of the tree; nothing tells an example from what it printed but the number of them."""
    tests: list[Told] = []
    above: list[tuple[int, str]] = []
    for place, (depth, text, mark) in enumerate(grown):
        above = [one for one in above if one[0] < depth]
        if depth > 2 * len(above):
            continue  # printed: nothing can stand more than one step below its group
        if not mark and place + 1 < len(grown) and grown[place + 1][0] > depth:
            above.append((depth, text))
            continue
        if depth:
            status: Status = "failed" if mark.startswith(("FAILED", "ERROR")) else "skipped" if mark else "passed"
            tests.append(told(joined([*(one for _, one in above), text]), status))
    if len(tests) == counted[0]:
        yield from tests
    else:
        yield from (one for one in tests if one.test and one.test.status != "passed")
        yield UNNAMED


def _of_json(text: Mapping[str, Any]) -> Iterator[Told]:
    words: dict[str, Status] = {"passed": "passed", "failed": "failed"}
    for one in text.get("examples") or ():
        if isinstance(one, dict) and "status" in one:
            file = str(one.get("file_path", "")).removeprefix("./") or None
            line = one.get("line_number")
            status = words.get(str(one["status"]), "skipped")
            yield told(str(one.get("full_description", "")), status, file, line if isinstance(line, int) else None)
