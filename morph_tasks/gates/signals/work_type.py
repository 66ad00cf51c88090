"""A hotfix skips planning, so a person always signs its review."""

from __future__ import annotations

from morph_tasks.gates.signals.base import REVIEW, Facts, Reading

NAME = "workType"
READS = "`workType` in `feature.json`"
PAUSES_WHEN = "`hotfix`: always"
GATES = (REVIEW,)


def read(facts: Facts) -> Reading:
    """Pause the review of a hotfix."""
    pauses = facts.gate == REVIEW and facts.work_type == "hotfix"
    return Reading({NAME: facts.work_type}, "a hotfix is always reviewed by a person" if pauses else None)
