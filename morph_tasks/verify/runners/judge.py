"""From what was found and how the command ended to the verdict."""

from __future__ import annotations

from collections.abc import Mapping

from morph_tasks.verify.runners.model import Found, Reading, Verdict

# Endings of a shell (128 + n), and of programs on Windows.
_SIGNALS = {
    129: "HUP",
    130: "INT",
    131: "QUIT",
    132: "ILL",
    134: "ABRT",
    135: "BUS",
    136: "FPE",
    137: "KILL",
    139: "SEGV",
    141: "PIPE",
    143: "TERM",
}
_LARGEST = 255
_WRAPS = 256

_BY_SHELL = {126: "command-not-executable", 127: "command-not-found"}

_SAYS = {
    "tests-failed": "tests failed",
    "inconsistent-exit": "the exit code and the output disagree",
    "no-tests": "no test was executed",
    "module-without-tests": "a part of the run executed no test",
    "all-skipped": "no test was executed, all were skipped",
    "incomplete": "the run did not reach its end",
    "no-summary": "the output holds no summary that can be read",
    "suite-failed": "a test file or suite could not be run",
    "unhandled-error": "an error occurred outside of the tests",
    "collection-error": "tests could not be collected",
    "type-errors": "the tests passed, type checking did not",
    "build-failed": "the tests did not compile",
    "command-not-found": "the command was not found",
    "command-not-executable": "the command could not be executed",
    "timeout": "the run was stopped by its time limit",
    "signal": "the run was ended by a signal",
    "crashed": "the test process crashed",
    "interrupted": "the run was interrupted",
    "usage-error": "the runner refused its arguments or its configuration",
    "coverage-threshold": "all tests passed, the coverage threshold was missed",
    "not-measured": "this runner's output is not read; only the exit code is known",
}


def judge(runner: str, found: Found, exits: Mapping[int, str], exit_code: int | None, timed_out: bool) -> Reading:
    """Return the reading: the verdict joins exit code, counts and completeness, and the worse one wins."""
    verdict, reason, complete = _verdict(found, exits, exit_code, timed_out)
    bad_text = _red(found) > 0 or (found.problem is not None and found.problem not in _BY_EXIT)
    all_green = found.counts is not None and not bad_text and found.complete and (found.executed or 0) > 0
    inconsistent = (bad_text and exit_code == 0) or (
        all_green and exit_code not in (0, None) and reason == "inconsistent-exit"
    )
    return Reading(
        runner=runner,
        verdict=verdict,
        counts=found.counts,
        executed=found.executed if found.counts is not None else None,
        complete=complete,
        reason=reason,
        message=_message(verdict, reason, found, exit_code),
        warnings=found.warnings,
        flaky=found.flaky,
        inconsistent_exit=inconsistent,
        extra=found.extra,
    )


# Reasons that an exit code alone can give; the text need not confirm them.
_BY_EXIT = frozenset({"interrupted", "usage-error"})


def _verdict(
    found: Found, exits: Mapping[int, str], exit_code: int | None, timed_out: bool
) -> tuple[Verdict, str | None, bool]:
    nothing_ran = found.empty or (found.counts is not None and found.executed == 0)
    by_code = exits.get(exit_code) if exit_code is not None else None
    red = _red(found)
    if timed_out:
        return "fail", "timeout", False
    # Mocha exits with the number of failures, which wraps.
    if _signalled(exit_code) and by_code is None and (not red or exit_code != red % _WRAPS):
        return "fail", "signal", False
    if found.problem is not None and not (found.problem == "coverage-threshold" and nothing_ran):
        return "fail", found.problem, found.complete
    if red:
        return "fail", "inconsistent-exit" if exit_code == 0 else "tests-failed", found.complete
    if (
        by_code is not None
        and by_code != "no-tests"
        and (by_code != "tests-failed" or (found.counts is None and not found.empty))
    ):
        return "fail", by_code, found.complete and by_code not in _CUT_SHORT
    if by_code == "no-tests" and not nothing_ran and found.executed:
        return "fail", "module-without-tests", found.complete
    if nothing_ran or by_code == "no-tests":
        skipped = sum((found.counts or {}).get(word, 0) for word in ("skipped", "todo", "disabled"))
        return "no-tests", "all-skipped" if skipped else "no-tests", found.complete
    if not found.complete:
        return "fail", "incomplete", False
    return _by_exit(found, exit_code)


_CUT_SHORT = frozenset({"crashed", "interrupted", "usage-error", "build-failed", "collection-error", "aborted"})


def _by_exit(found: Found, exit_code: int | None) -> tuple[Verdict, str | None, bool]:
    readable = found.counts is not None or found.green
    if exit_code not in (0, None):
        if readable:
            return "fail", "inconsistent-exit", True
        return "fail", _BY_SHELL.get(exit_code or 0, "no-summary"), False
    return ("pass", None, True) if readable else ("unknown", "no-summary", True)


def _red(found: Found) -> int:
    counts = found.counts or {}
    return sum(counts.get(word, 0) for word in ("failed", "errors", "cancelled", "interrupted", "timed_out"))


def _signalled(exit_code: int | None) -> bool:
    return exit_code is not None and (exit_code < 0 or exit_code in _SIGNALS or exit_code > _LARGEST)


def _message(verdict: Verdict, reason: str | None, found: Found, exit_code: int | None) -> str:
    counted = _counted(found)
    if verdict == "pass":
        return counted or "passed; the number of tests cannot be read from this output"
    said = _SAYS.get(reason or "", (reason or "").replace("-", " "))
    if reason == "signal" and exit_code is not None:
        name = _SIGNALS.get(exit_code, str(-exit_code if exit_code < 0 else exit_code))
        said = f"{said} ({name})"
    parts = [said, found.detail, counted, f"exit code {exit_code}" if exit_code not in (None, 0) else ""]
    if reason == "inconsistent-exit":
        parts[-1] = f"exit code {exit_code}"
    return "; ".join(part for part in parts if part)


def _counted(found: Found) -> str:
    if found.counts is None:
        return ""
    shown = [f"{many} {word.replace('_', ' ')}" for word, many in found.counts.items() if many or word == "passed"]
    return ", ".join(shown)
