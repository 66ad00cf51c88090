"""What failed in the last proof: the tests, where, and the lines of the log that say why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.reading import tail
from morph_tasks.verify.run import Run

if TYPE_CHECKING:
    from morph_tasks.verify.runners.model import Failure

LIMIT = 2000  # characters a test, what an agent can take in
_TESTS = 50
_LOG_BYTES = 8 << 20
_AROUND = 3
_MOST_LINES = 30


@dataclass(frozen=True)
class FailedNode:
    """A red node and what is known of its failures; `failures` is empty when no single test can be named."""

    outcome: Outcome
    failures: tuple[dict[str, Any], ...]
    tail: tuple[str, ...]
    stale: bool

    def as_json(self) -> dict[str, Any]:
        record = self.outcome.record or {}
        return {
            "node": self.outcome.node.ref,
            "status": self.outcome.status,
            "reason": self.outcome.reason,
            "message": self.outcome.message,
            "log": record.get("log"),
            "codeChanged": self.stale,
            "failures": list(self.failures),
            "tail": list(self.tail),
        }


def why_failed(run: Run) -> list[FailedNode]:
    """Return the red nodes of the last proof of a feature; raises Refusal `no-evidence` (exit 2) when there is none."""
    if not any(run.view(node) for node in run.nodes):
        what = f"nothing was measured for {run.feature} in this tree"
        raise Refusal("no-evidence", what, fix=f"morph-spec verify {run.feature}", exit_code=2)
    return [_failed(run, outcome) for outcome in run.last_outcomes() if not outcome.green]


def _failed(run: Run, outcome: Outcome) -> FailedNode:
    record = outcome.record or {}
    log = Path(record["log"]) if record.get("log") else None
    stale = bool(record.get("key")) and run.facts(outcome.node).key != record["key"]
    if log is None or not log.is_file():
        return FailedNode(outcome, (), tuple(record.get("detail") or ()), stale)
    failures = _tests(run, outcome, log)
    return FailedNode(outcome, tuple(failures[:_TESTS]), () if failures else tuple(tail(log)), stale)


def _tests(run: Run, outcome: Outcome, log: Path) -> list[dict[str, Any]]:
    from morph_tasks.verify.runners.read import read_failures

    node = outcome.node
    if node.family != "tests":
        return []
    found = read_failures(node.runner, log)
    with open(log, "rb") as file:
        lines = file.read(_LOG_BYTES).decode("utf-8", "replace").splitlines()
    return [_test(item, lines) for item in found]


def _test(failure: Failure, lines: list[str]) -> dict[str, Any]:
    message = failure.message[: LIMIT - 300]
    name = failure.id[:300]
    excerpt = _excerpt(failure, lines)[: max(0, LIMIT - len(message) - len(name))]
    return {"id": name, "file": failure.file, "line": failure.line, "message": message, "excerpt": excerpt}


def _excerpt(failure: Failure, lines: list[str]) -> str:
    """Return the log around the place where it speaks of a test, what the message says already left out."""
    name = failure.id.rsplit("::", 1)[-1].rsplit(" > ", 1)[-1]
    words = [word for word in (f"{failure.file}:{failure.line}" if failure.line else "", name) if word]
    said = set(failure.message.splitlines())
    chosen: dict[int, str] = {}
    for place, line in enumerate(lines):
        if any(word in line for word in words):
            for near in range(max(0, place - _AROUND), min(len(lines), place + _AROUND + 1)):
                if lines[near].strip() and lines[near] not in said:
                    chosen[near] = lines[near].rstrip()[:300]
        if len(chosen) >= _MOST_LINES:
            break
    return "\n".join(chosen[place] for place in sorted(chosen))


def text_lines(found: list[FailedNode]) -> list[str]:
    """Return what people read of the red nodes."""
    lines: list[str] = []
    for item in found:
        reason = f" ({item.outcome.reason})" if item.outcome.reason else ""
        lines.append(f"[{item.outcome.node.ref}] {item.outcome.status}{reason}: {item.outcome.message}".rstrip(": "))
        if item.stale:
            lines.append("  the code changed since: verify again to know what fails now")
        for test in item.failures:
            at = f"{test['file']}:{test['line']} " if test["file"] and test["line"] else ""
            lines.append(f"  {at}{test['id']}")
            lines += [f"    {line}" for line in (test["message"] or "").splitlines()]
            lines += [f"    | {line}" for line in test["excerpt"].splitlines()]
        lines += [f"  | {line}" for line in item.tail]
        log = (item.outcome.record or {}).get("log")
        lines += [f"  log: {log}"] if log else []
    return lines or ["nothing failed in the last proof"]
