"""A plan with many slices is more than one feature."""

from __future__ import annotations

from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.features.view import by_policy
from morph_tasks.gates.signals.base import PLAN, Facts, Reading
from morph_tasks.repo.files import read_json

MOST = 12

NAME = "sliceCount"
READS = "`slices` in `2-plan/checks.json`"
PAUSES_WHEN = f"more than {MOST}"
GATES = (PLAN,)


def read(facts: Facts) -> Reading:
    """Count the slices; None when there is nothing to count."""
    count = _count(facts)
    pauses = facts.gate == PLAN and count is not None and count > MOST and not by_policy(facts.data, PLAN)
    return Reading({NAME: count}, f"{count} slices are too many for one feature (more than {MOST})" if pauses else None)


def _count(facts: Facts) -> int | None:
    try:
        checks: Any = read_json(facts.folder / "2-plan" / "checks.json")
    except (OSError, Refusal):
        return None
    slices = checks.get("slices") if isinstance(checks, dict) else None
    return len(slices) if isinstance(slices, list) else None
