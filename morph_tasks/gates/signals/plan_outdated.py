"""What was merged since a plan was written, and touches it. The plan cannot know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.view import by_policy
from morph_tasks.gates import planning
from morph_tasks.gates.signals.base import EVERY_GATE, PLAN, Facts, Reading

if TYPE_CHECKING:
    from morph_tasks.codegraph.outdated import Landed

NAME = "planStaleByMerge"
READS = "what came into the default branch since the plan was written, against its files and their neighbours"
PAUSES_WHEN = "at `plan`: something touches them; told at the others, and when it cannot be known"
GATES = EVERY_GATE


def read(facts: Facts) -> Reading:
    """Tell `false`, `true`, or None with the reason when it is not known; a feature without a plan owes nothing."""
    if by_policy(facts.data, PLAN) or not (facts.folder / "2-plan" / "plan.md").exists():
        return Reading({NAME: None})
    try:
        found = planning.outdated(facts.repo, facts.slug)
    except Refusal as error:
        return _unknown(error.what)
    if found.stale is None:
        return _unknown(found.reason)
    if not found.stale:
        return Reading({NAME: False})
    commits = ", ".join(_named(one) for one in found.landed[:3]) + (", …" if len(found.landed) > 3 else "")
    told = f"the plan is stale by a merge ({commits}): `morph-spec plan-check {facts.slug}` says over which files"
    values = {NAME: True, "planStaleByMergeReason": commits}
    return Reading(values, told) if facts.gate == PLAN else Reading(values, warning=told)


def _unknown(why: str) -> Reading:
    told = f"not verified whether the plan is stale by a merge: {why}"
    return Reading({NAME: None, "planStaleByMergeReason": why}, warning=told)


def _named(one: Landed) -> str:
    return f"{one.commit[:10]} of morph/{one.feature}" if one.feature else one.commit[:10]
