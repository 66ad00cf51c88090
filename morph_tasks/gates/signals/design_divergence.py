"""Sources of the design that contradict each other; only the session can see it."""

from __future__ import annotations

from morph_tasks.gates.signals.base import EVERY_GATE, Facts, Reading

NAME = "designSystemDivergence"
READS = "`--signals`"
PAUSES_WHEN = "`true`"
GATES = EVERY_GATE


def read(facts: Facts) -> Reading:
    """Pause when the session says so."""
    if NAME not in facts.given:
        return Reading()
    diverges = facts.given[NAME] is True
    return Reading({NAME: facts.given[NAME]}, "the sources of the design contradict each other" if diverges else None)
