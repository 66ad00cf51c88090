"""Every rule about colour: from what was measured to a status, and from statuses to a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from morph_tasks.verify.evidence import Record
from morph_tasks.verify.nodes import FAMILIES, Node

# A node family is as good as its worst member; `skip` says nothing.
_RANK = ("fail", "busy", "flaky", "pass", "skip")


@dataclass(frozen=True)
class Outcome:
    """What a node came to: `pass|fail|flaky|skip|busy`, a stable reason code, a sentence, warnings."""

    node: Node
    status: str
    reason: str | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    record: Record | None = None
    reused: bool = False

    @property
    def count(self) -> int | None:
        return self.record.get("count") if self.record else None

    @property
    def green(self) -> bool:
        """Tell whether the node does not stand in the way of a green verdict."""
        return self.status in ("pass", "skip") or (self.status == "flaky" and self.node.flaky_reason is not None)


def judge(node: Node, record: Record, *, reused: bool = False) -> Outcome:
    """Judge a record by the node as it is declared now."""
    status, reason, message = record["status"], record.get("reason"), record.get("message") or ""
    warnings = [*node.warnings, *(record.get("warnings") or ())]
    count, expected = record.get("count"), node.expected_count
    if status == "fail" and reason == "no-tests" and expected == 0:
        status, reason, message = "pass", None, "no tests, as declared"
    if status in ("pass", "flaky") and expected is not None and count is not None:
        if count < expected:
            status, reason = "fail", "count-drop"
            message = f"{count} tests ran, {expected} were expected"
        elif count > expected:
            warnings.append(f"{count} tests ran, {expected} were expected: record the baseline again")
    if status == "flaky":
        allowed = f"accepted: {node.flaky_reason}" if node.flaky_reason else "a flaky result is no proof"
        warnings.append(f"passed only after a failure on the same inputs; {allowed}")
    return Outcome(node, status, reason, message, tuple(dict.fromkeys(warnings)), record, reused)


def settles(node: Node, record: Record) -> bool:
    """Tell whether a record of the current key answers the question, so that nothing needs to run.

    Only a pass without retries does; and the skip of a validator that found nothing to look at, which the same facts
    would give again. A validator that could not look is asked again.
    """
    if node.validator and record["status"] == "skip":
        return not record.get("warnings")
    return judge(node, record).status == "pass"


def skipped(node: Node, reason: str) -> Outcome:
    """Return the outcome of a node that this run leaves out."""
    return Outcome(node, "skip", reason, reason, node.warnings)


def family_status(outcomes: Iterable[Outcome]) -> str:
    """Return the status of a family from its members."""
    statuses = {outcome.status for outcome in outcomes}
    return next((status for status in _RANK if status in statuses), "skip")


@dataclass(frozen=True)
class Verdict:
    """The roll-up of a whole verify."""

    status: str
    nodes: dict[str, str]
    outcomes: tuple[Outcome, ...]
    reason: str | None = None


def roll_up(outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict: green when no node is red and at least one node is proved."""
    nodes = {name: family_status([o for o in outcomes if o.node.family == name]) for name in FAMILIES}
    if any(outcome.status == "busy" for outcome in outcomes):
        return Verdict("busy", nodes, tuple(outcomes), "busy")
    if not all(outcome.green for outcome in outcomes):
        return Verdict("fail", nodes, tuple(outcomes))
    if not any(outcome.status in ("pass", "flaky") for outcome in outcomes):
        return Verdict("fail", nodes, tuple(outcomes), "nothing-verified")
    return Verdict("pass", nodes, tuple(outcomes))


def feedback(outcomes: Iterable[Outcome]) -> list[str]:
    """Return actionable lines, each with the node's name in front: warnings first, failures last.

    A validator that could not look says so: the others being green would hide it.
    """
    warnings, failures = [], []
    for outcome in outcomes:
        warnings += [f"[{outcome.node.ref}] warning: {line}" for line in outcome.warnings]
        if could_not_look(outcome) and not outcome.warnings:
            warnings.append(f"[{outcome.node.ref}] did not run: {outcome.message}")
        if outcome.green:
            continue
        failures.append(f"[{outcome.node.ref}] {outcome.status}{_why(outcome)}{_log(outcome.record)}")
        repeats = ((outcome.record or {}).get("afterFailures") or 0) + 1
        if outcome.status == "fail" and repeats > 1:
            failures.append(f"[{outcome.node.ref}]   failed {times(repeats)} on identical inputs")
        failures += [f"[{outcome.node.ref}]   {line}" for line in (outcome.record or {}).get("detail") or ()]
    return [*warnings, *failures]


def could_not_look(outcome: Outcome) -> bool:
    """Tell whether a validator may have had something to find and could not look for it."""
    return outcome.status == "skip" and bool((outcome.record or {}).get("unavailable"))


def times(count: int) -> str:
    """Return a number of repeats in words."""
    return "once" if count == 1 else f"{count} times"


def _why(outcome: Outcome) -> str:
    code = f" ({outcome.reason})" if outcome.reason else ""
    return f"{code}: {outcome.message}" if outcome.message else code


def _log(record: dict[str, Any] | None) -> str:
    return f" — log: {record['log']}" if record and record.get("log") else ""
