"""What a narrowed run proves: green needs a test that was executed, and a baseline of the whole suite says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.verify.narrowing.model import Narrower, Selection
from morph_tasks.verify.narrowing.table import NARROWERS, narrower

ZERO, UNKNOWN = "narrowed-zero-tests", "narrowed-count-unknown"
_READ = 1 << 22  # summaries stand at the end
# The command ended for a reason of its own: whether a test matched says nothing about it.
_KEPT = frozenset({"timeout", "interrupted", "signal", "not-ended", "log-lost", "command-not-started"})


def narrowed_verdict(selection: Selection, runner: str, result: dict[str, Any], log: Path) -> dict[str, Any]:
    """Return a result as a narrowed run has to be judged; that of another run comes back as it is.

    `result` is what reading the run gave (`status`, `reason`, `message`, `count`, `exitCode`, ...). Adds `status`,
    `reason` and `message` with the codes `narrowed-zero-tests` and `narrowed-count-unknown`. Never compares counts.
    """
    if selection.mode != "narrowed" or result.get("status") in ("skip", "busy"):
        return result
    module = narrower(runner) if runner in NARROWERS else None
    text = _text(log)
    if result.get("status") == "fail":
        return _red(module, runner, result, text)
    return _green(module, selection, result, text)


def _red(module: Narrower | str | None, runner: str, result: dict[str, Any], text: str) -> dict[str, Any]:
    count, code = result.get("count"), result.get("exitCode")
    if (count or 0) > 0 or result.get("reason") in _KEPT:
        return result
    said_zero = result.get("reason") == "no-tests" or (
        module is not None and not isinstance(module, str) and module.is_zero(text, code)
    )
    if not said_zero:
        return result
    return {**result, "reason": ZERO, "message": f"{ZERO} ({runner}, exit {code})"}


def _green(module: Narrower | str | None, selection: Selection, result: dict[str, Any], text: str) -> dict[str, Any]:
    blocks = getattr(module, "blocks", None)
    counts: list[int] = blocks(text) if blocks else []
    count = result.get("count")
    if count == 0 or (counts and sum(counts) == 0):
        return _failed(result, ZERO, "the narrowed run executed 0 tests")
    if 0 in counts:
        said = f"a link of the narrowed run executed 0 tests ({counts.index(0) + 1} of {len(counts)})"
        return _failed(result, ZERO, said)
    if count is None and not (selection.zero_guard == "count-or-exit" and result.get("exitCode") == 0):
        return _failed(result, UNKNOWN, "how many tests the narrowed run executed cannot be read")
    return result


def _failed(result: dict[str, Any], code: str, said: str) -> dict[str, Any]:
    return {**result, "status": "fail", "reason": code, "message": f"{code}: {said}; --full runs the whole suite"}


def _text(log: Path) -> str:
    """Return the end of a log without terminal codes; "" when there is none."""
    from morph_tasks.verify.runners.text import strip_codes

    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, 2) - _READ))
            raw = file.read()
    except OSError:
        return ""
    text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    return "\n".join(strip_codes(line) for line in text.splitlines())
