"""cargo test: one `test result: ok. 2 passed; 0 failed; …` a binary; nextest: one `Summary [ … ]`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from morph_tasks.verify.runners.model import Failure, Found, Output
from morph_tasks.verify.runners.sessions import End, Start, pair
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Line, Log, strip_codes
from morph_tasks.verify.runners.told import Status, Told, told

ALIASES: tuple[str, ...] = ("nextest", "cargo-test", "cargo-nextest")
SUMMARY = (
    "`test result: ok. 2 passed; 0 failed; 1 ignored; …` of every binary, `Summary [ 0.1s] 3 tests run: …` of nextest"
)
ZERO = "all binaries ran 0 tests, only ignored, exit code 4 of nextest"
EXITS: dict[int, str] = {}

_RESULT = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out"
    r"(?:; finished in \d+\.\d+s)?$"
)
_RUNNING = re.compile(r"^running (\d+) tests?$")
_SUMMARY = re.compile(r"^ *Summary \[ *[\d.]+s\] (\d+)(?:/(\d+))? tests? run: (.+)$")
_WORDS = re.compile(r"(\d+) (passed|failed|timed out|exec failed|skipped|flaky|leaky|slow)")
_NAMES = ("passed", "failed", "ignored", "measured", "filtered_out")
_STOPPED = re.compile(r"process didn't exit successfully: .*\((signal: \d+.*|exit (?:status|code): (?!101\)).*)\)$")
_USAGE = re.compile(
    r"^error: (?:unexpected argument|no such command|no (?:test|example|bin|library) targets?"
    r"|could not find `Cargo\.toml`"
    r"|a value is required|package ID specification|failed to parse manifest|no tests to run).*"
)

_A_LINES = (
    re.compile(rb"test result: "),
    re.compile(rb"running \d{1,7} test"),
    re.compile(rb"Summary[^\n]{0,12} \[[^\n]{0,40}run: "),
)
_A_NOTES = (
    re.compile(rb"error[^\n]{0,12}: could not compile"),
    re.compile(rb"process didn't exit successfully: "),
    re.compile(rb"error[^\n]{0,12}: (?:unexpected|no such|no test|no tests|could not find|failed to parse)"),
    re.compile(rb"to rerun pass `"),
    re.compile(rb" tests?, \d{1,7} benchmark"),
)
_A_TEST = re.compile(rb"^test ", re.M)
_A_BARE = re.compile(rb"^(?:ok|FAILED|ignored)\r?$", re.M)
_A_BINARY = re.compile(rb"     Running |   Doc-tests |^running \d", re.M)
_A_NEXTEST = re.compile(rb"(?:PASS|FAIL|SKIP|FLAKY|LEAK|SIGABRT|SIGSEGV|TIMEOUT|ABORT)[^\n]{0,12} \[")
_TEST = re.compile(r"^test (.+?)(?: - should panic| - compile(?: fail)?)? \.\.\.(?: (.*))?$")
_ENDED = re.compile(r"^(ok|FAILED|ignored)(?:,.*)?(?: <\d+\.\d+s>)?$")
_BINARY = re.compile(
    r"^ +(?:Running (?:unittests )?(\S+) \(.*?([\w-]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))$"
)
_NEXTEST = re.compile(
    r"^ +(?:TRY \d+ |FLAKY )?(?P<word>PASS|FAIL|SKIP|\d+/\d+|LEAK|ABORT|TIMEOUT|SIG\w+|TMT)"
    r" +\[.*?\] +(?:\( *\d+/\d+\) +)?(?P<of>\S+) (?P<name>\S+)$"
)
_STATUS: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def read(output: Output) -> Found:
    """Return the summed results; `running N tests` without its result means a binary that died."""
    return read_streams(output, _read_log)


def _read_log(log: Log, output: Output) -> Found:
    lines = log.scan(*_A_LINES)
    notes = [line.text for line in log.notes(*_A_NOTES)]
    summaries = [hit for line in lines if (hit := _SUMMARY.match(line.text))]
    if summaries:
        return _nextest(summaries, lines[-1].at)
    starts = [Start(line.at, int(hit[1])) for line in lines if (hit := _RUNNING.match(line.text))]
    paired = pair(starts, [end for line in lines if (end := _end(line))])
    red = output.exit_code != 0
    problem, detail = (
        _problem(notes, ends=bool(paired.ends), is_open=paired.open) if red or not paired.ends else (None, "")
    )
    empty = any(re.match(r"^error: no tests to run|^\d+ tests?, \d+ benchmarks?$", note) for note in notes)
    if not paired.ends:
        started = bool(starts)
        evidence = 2 if started or problem or empty else 0
        return Found(evidence, complete=not started, empty=empty, problem=None if empty else problem, detail=detail)
    counts = {"passed": 0, "failed": 0, "skipped": 0, "ignored": 0, "measured": 0, "filtered_out": 0}
    for result in paired.ends:
        add(counts, result)
    counts["skipped"] = counts["ignored"]
    fast = "--no-fail-fast" not in output.command and any(
        note.startswith("error: test failed, to rerun") for note in notes
    )
    return Found(
        evidence=3,
        at=paired.last,
        counts=counts,
        executed=counts["passed"] + counts["failed"] + counts["measured"],
        complete=not paired.open and problem not in ("crashed", "build-failed"),
        problem=problem,
        detail=detail,
        extra={"binaries": len(paired.ends)},
        warnings=("cargo stops at the first failing binary; later ones may not have run",) if fast else (),
    )


def _end(line: Line) -> End[dict[str, int]] | None:
    hit = _RESULT.match(line.text)
    if not hit:
        return None
    counts = dict(zip(_NAMES, map(int, hit.groups()), strict=True))
    return End(line.at, counts, sum(counts.values()) - counts["filtered_out"])


def _problem(notes: list[str], *, ends: bool, is_open: bool) -> tuple[str | None, str]:
    if stopped := next((hit[1] for note in notes if (hit := _STOPPED.search(note))), None):
        return "crashed", stopped
    if failed := next((note for note in notes if re.match(r"^error: could not compile", note)), None):
        return "build-failed", failed.removeprefix("error: ")
    if not ends and (usage := next((note for note in notes if _USAGE.match(note)), None)):
        return "usage-error", usage.removeprefix("error: ")
    return ("crashed", "a test binary ended before its result") if is_open else (None, "")


def _nextest(summaries: list[re.Match[str]], at: int) -> Found:
    counts = {"passed": 0, "failed": 0, "skipped": 0, "timed_out": 0, "total": 0}
    flaky = False
    complete = True
    for hit in summaries:
        words = {word: int(many) for many, word in _WORDS.findall(hit[3])}
        flaky = flaky or words.get("flaky", 0) > 0
        complete = complete and (hit[2] is None or hit[1] == hit[2])
        add(counts, {"passed": words.get("passed", 0), "failed": words.get("failed", 0) + words.get("exec failed", 0)})
        add(counts, {"skipped": words.get("skipped", 0), "timed_out": words.get("timed out", 0), "total": int(hit[1])})
        add(counts, {word: words[word] for word in ("flaky", "leaky", "slow") if word in words})
    return Found(
        evidence=3,
        at=at,
        counts=counts,
        executed=counts["total"],
        complete=complete,
        flaky=flaky,
        extra={"dialect": "nextest"} | ({"flaky_hint": True} if flaky else {}),
    )


def failures(text: str) -> list[Failure]:
    """Return the tests of the `---- name stdout ----` sections, with the panic's place and message."""
    found: dict[str, Failure] = {}
    current = ""
    for raw in text.splitlines():
        line = strip_codes(raw)
        if hit := re.match(r"^---- (.+) stdout ----$", line):
            current = hit[1]
            found[current] = Failure(current)
        elif hit := re.match(r"^test (.+) \.\.\. FAILED$", line):
            found.setdefault(hit[1], Failure(hit[1]))
        elif current and (hit := re.match(r"^thread '.*' .*?panicked at (.+?):(\d+):\d+:?$", line)):
            found[current] = Failure(current, hit[1], int(hit[2]))
        elif current and found[current].file and not found[current].message and line:
            found[current] = Failure(current, found[current].file, found[current].line, line)
    return list(found.values())


def results(log: Log) -> Iterator[Told]:
    """Yield the tests of the harness of rustc and of nextest."""
    open_test = of = ""
    file: str | None = None
    for line in log.walk(_A_TEST, _A_BARE, _A_BINARY, _A_NEXTEST):
        text = line.text
        if hit := _BINARY.match(text):
            of, file, open_test = hit[2] or f"doc {hit[3]}", hit[1], ""
        elif text.startswith("running "):
            open_test = ""
        elif hit := _ENDED.match(text):
            # With `--nocapture` the end of a test stands alone, below what the test printed.
            if open_test:
                yield told(open_test, _STATUS[hit[1]], _own_file(file), of=of)
            open_test = ""
        elif (hit := _TEST.match(text)) and not open_test:
            if ended := _ENDED.match(hit[2] or ""):
                yield told(hit[1], _STATUS[ended[1]], _own_file(file), of=of)
            elif not (hit[2] or "").startswith("bench:"):
                open_test = hit[1]
        elif hit := _NEXTEST.match(text):
            yield _of_nextest(text, hit)


def _own_file(file: str | None) -> str | None:
    """Return the file of a binary that has one of its own; the tests of a crate lie anywhere in it."""
    return file if file and file.startswith("tests/") else None


def _of_nextest(line: str, hit: re.Match[str]) -> Told:
    status: Status = {"PASS": "passed", "LEAK": "passed", "SKIP": "skipped"}.get(hit["word"], "failed")  # type: ignore[assignment]
    return told(hit["name"], "flaky" if line.lstrip().startswith("FLAKY") else status, of=hit["of"])
