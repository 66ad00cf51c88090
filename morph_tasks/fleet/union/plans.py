"""The decisions of several plans as one: what the plan of a feature accepts stays accepted in a union with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.features.store import ARCHIVE, FEATURES, feature_dir

if TYPE_CHECKING:
    from morph_tasks.plan.values import Plan

# No feature can have this name.
UNION = "+union"


def write_joint_plan(root: Path, features: Sequence[str]) -> None:
    """Write the plan of the union into a scratch tree, from the plans that lie there."""
    from morph_tasks.plan.service import PLAN

    place = feature_dir(root, UNION) / PLAN
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(joint_plan([text for name in features if (text := _plan_of(root, name)) is not None]), "utf-8")


def joint_plan(texts: Sequence[str]) -> str:
    """Return a plan with the decisions of all of these plans, numbered through."""
    from morph_tasks.errors import Refusal
    from morph_tasks.plan.grammar import parse

    decisions: list[str] = []
    for text in texts:
        try:
            plan = parse(text)
        except Refusal:
            continue  # the proof of its own feature accepts nothing by it either
        decisions += _decisions(plan, len(decisions))
    return "\n".join(["# Union", "", "## Decisions", "", *decisions, "### Conflicts with the record", "none", ""])


def _decisions(plan: Plan, before: int) -> list[str]:
    found = []
    for number, adr in enumerate(plan.adrs, before + 1):
        body = "\n\n".join("\n".join(plan.lines[block.start : block.end]) for block in adr.blocks)
        found.append(f"### ADR-{number:03} — {adr.title}\n{body}\n")
    return found


def _plan_of(root: Path, feature: str) -> str | None:
    from morph_tasks.plan.service import LARGEST, PLAN

    for parent in (FEATURES, ARCHIVE):
        path = root / parent / feature / PLAN
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                return path.read_text("utf-8")
        except (OSError, ValueError):
            continue
    return None
