"""What gates ask the plan room."""

from __future__ import annotations

from pathlib import Path


def plan_state(folder: Path) -> str:
    """Return `fresh` when `checks.json` in a feature's folder was made from its plan; else what is wrong."""
    from morph_tasks.plan.service import plan_state as ask

    return str(ask(folder))


def plan_hash(folder: Path) -> str:
    """Return the hash of the plan in a feature's folder; raises Refusal `plan-missing` (exit 2)."""
    from morph_tasks.plan.service import plan_hash as ask

    return str(ask(folder))
