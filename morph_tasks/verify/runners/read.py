"""The one door: an output, its exit code and the command in; a verdict with counts and reason out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.runners.detect import detect
from morph_tasks.verify.runners.infer import (
    direct_calls,
    exit_code_hidden,
    infer_runner,
    pipeline_without_pipefail,
    runners_of,
)
from morph_tasks.verify.runners.judge import judge
from morph_tasks.verify.runners.model import Failure, Output, Reading
from morph_tasks.verify.runners.table import RUNNERS, full_name
from morph_tasks.verify.runners.text import Log

if TYPE_CHECKING:
    from morph_tasks.verify.junit import JUnitReading

AUTO = "auto"
_TIMEOUT_EXIT = 124
_SUMMARY = 3
_FAILURES_TAIL = 1 << 23
_LONG_NAME = 1000


def read_output(
    runner: str,
    stdout: bytes | Path,
    stderr: bytes | Path | None = None,
    *,
    exit_code: int | None = None,
    command: str | None = None,
    timed_out: bool = False,
    cwd: Path | None = None,
) -> Reading:
    """Return the verdict on one run.

    `runner` is a name of the table, an alias, or `auto`. Raises Refusal `unknown-runner` or `file-missing` (usage).
    """
    name = runner_name(runner)
    said = command or ""
    here = cwd or Path()
    with ExitStack() as stack:
        logs = tuple(stack.enter_context(closing(_open(stream))) for stream in _streams(stdout, stderr))
        output = Output(logs, exit_code=exit_code, command=said)
        inferred = infer_runner(said, here) if name == AUTO and said else None
        chosen = inferred or (detect(output) if name == AUTO else name) or "none"
        found = RUNNERS[chosen].read(replace(output, calls=direct_calls(said, chosen, here) if said else None))
        if inferred and not found.evidence and (other := detect(output)):
            seen = RUNNERS[other].read(output)
            chosen, found = (other, seen) if seen.evidence == _SUMMARY else (chosen, found)
    stopped = timed_out or (exit_code == _TIMEOUT_EXIT and _limited(said, found.evidence))
    others = [other for other in runners_of(said, here) if other != chosen]
    found = replace(found, warnings=(*found.warnings, *_command_warnings(said, others)))
    reading = judge(chosen, found, RUNNERS[chosen].EXITS, exit_code, stopped)
    return _unread(reading, exit_code) if chosen == "none" and name == "none" else reading


def read_failures(runner: str, stdout: bytes | Path, stderr: bytes | Path | None = None) -> list[Failure]:
    """Return the failed tests that the end of an output names, best effort; [] when none can be told."""
    name = runner_name(runner)
    with ExitStack() as stack:
        logs = tuple(stack.enter_context(closing(_open(stream))) for stream in _streams(stdout, stderr))
        chosen = (detect(Output(logs)) if name == AUTO else name) or "none"
        found: dict[str, Failure] = {}
        for log in logs:
            tail = log.read(log.size - _FAILURES_TAIL, log.size).decode("utf-8", "replace")
            text = "\n".join(line[:_LONG_NAME] for line in tail.split("\n"))
            for failure in RUNNERS[chosen].failures(text):
                found.setdefault(failure.id, failure)
    return list(found.values())


def join_junit(reading: Reading, junit: JUnitReading, exit_code: int | None) -> Reading:
    """Return the reading with the counts of the reports; what only the output or the exit code shows stays."""
    from morph_tasks.verify.runners.joined import join

    return join(reading, junit, exit_code)


def runner_name(runner: str) -> str:
    """Return the name in the table; raises Refusal `unknown-runner` (usage) with the names that exist."""
    if runner == AUTO:
        return AUTO
    name = full_name(runner)
    if name is None:
        known = ", ".join([AUTO, *RUNNERS])
        raise Refusal("unknown-runner", f"no runner is called `{runner}`", fix=f"use one of: {known}", exit_code=2)
    return name


def _streams(stdout: bytes | Path, stderr: bytes | Path | None) -> Sequence[bytes | Path]:
    """Return the streams to read; one that was given twice would count twice."""
    return [stdout] if stderr is None or stderr == stdout or stderr == b"" else [stdout, stderr]


def _open(source: bytes | Path) -> Log:
    if isinstance(source, Path) and not source.is_file():
        raise Refusal(
            "file-missing", f"there is no file `{source}`", fix="name the file that holds the output", exit_code=2
        )
    try:
        return Log(source)
    except OSError as error:
        raise Refusal("file-missing", f"`{source!s}` cannot be read: {error.strerror}", exit_code=2) from None


def _command_warnings(command: str, others: Sequence[str]) -> tuple[str, ...]:
    warnings = []
    if pipeline_without_pipefail(command):
        warnings.append("command is a pipeline without pipefail")
    if hidden := exit_code_hidden(command):
        warnings.append(f"the exit code is hidden by `{hidden}`")
    warnings += [f"the command also calls {other}, whose tests are not counted here" for other in others]
    return tuple(warnings)


def _limited(command: str, evidence: int) -> bool:
    return bool(re.search(r"\bg?timeout\b", command)) or evidence < _SUMMARY


def _unread(reading: Reading, exit_code: int | None) -> Reading:
    reason = "not-measured" if reading.verdict == "unknown" else "exit-code"
    if reading.reason != "no-summary":
        return reading
    said = "only the exit code is known" if exit_code == 0 else f"the command ended with exit code {exit_code}"
    return replace(reading, reason=reason, complete=True, message=said)
