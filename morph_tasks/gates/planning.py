"""What gates ask the plan room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morph_tasks.codegraph.outdated import Outdated
    from morph_tasks.repo.git import Repo


def plan_state(root: Path, slug: str) -> str:
    """Return `fresh` when `checks.json` was made from the plan as it is; else `missing`, `stale` or `unreadable`."""
    from morph_tasks.plan import service

    return service.plan_state(root, slug)


def plan_hash(root: Path, slug: str) -> str:
    """Return the hash of a plan; raises Refusal `plan-missing` (exit 2) or `plan-unreadable`."""
    from morph_tasks.plan import hashing, service

    return hashing.plan_hash(service.read_plan(root, slug))


def plan_base(root: Path) -> dict[str, Any] | None:
    """Return what the tree holds of the default branch, for an approval of its plan; None where git cannot tell."""
    from morph_tasks.plan.base import base_of_tree

    base = base_of_tree(root)
    return base.as_json() if base else None


def outdated(repo: Repo, slug: str) -> Outdated:
    """Tell whether anything was merged since a plan was written that touches it."""
    from morph_tasks.codegraph.outdated import of_feature

    return of_feature(repo, slug)
