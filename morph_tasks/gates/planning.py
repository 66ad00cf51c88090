"""What gates ask the plan room."""

from __future__ import annotations

from pathlib import Path


def plan_state(root: Path, slug: str) -> str:
    """Return `fresh` when `checks.json` was made from the plan as it is; else `missing`, `stale` or `unreadable`."""
    from morph_tasks.plan import service

    return service.plan_state(root, slug)


def plan_hash(root: Path, slug: str) -> str:
    """Return the hash of a plan; raises Refusal `plan-missing` (exit 2) or `plan-unreadable`."""
    from morph_tasks.plan import hashing, service

    return hashing.plan_hash(service.read_plan(root, slug))
