"""Forbidden patterns in plan or code; only the session can see them."""

from __future__ import annotations

from morph_tasks.gates.signals.base import EVERY_GATE, Facts, Reading

NAME = "standardsViolations"
READS = "`--signals`"
PAUSES_WHEN = "the list is not empty"
GATES = EVERY_GATE


def read(facts: Facts) -> Reading:
    """Pause on every violation the session names."""
    if NAME not in facts.given:
        return Reading()
    found = facts.given[NAME]
    return Reading({NAME: found}, f"standards are violated: {', '.join(map(str, found))}" if found else None)
