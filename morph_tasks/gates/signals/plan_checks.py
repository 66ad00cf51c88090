"""A plan counts as checked only while `checks.json` was made from this very text."""

from __future__ import annotations

from morph_tasks.errors import Refusal
from morph_tasks.features.view import by_policy
from morph_tasks.gates import planning
from morph_tasks.gates.signals.base import PLAN, Facts, Reading

NAME = "planChecks"
READS = "`2-plan/plan.md` against `2-plan/checks.json`"
PAUSES_WHEN = "anything but `fresh`: absent, unreadable, or made from another plan"
GATES = (PLAN,)


def read(facts: Facts) -> Reading:
    """Ask the plan room; a plan that the policy of a work type passed over owes nothing."""
    if facts.gate != PLAN:
        return Reading()
    try:
        state = planning.plan_state(facts.repo.root, facts.slug)
    except Refusal as error:
        state = f"unknown: {error.what}"
    if state == "fresh" or by_policy(facts.data, PLAN):
        return Reading({NAME: state})
    return Reading({NAME: state}, f"the plan is not checked ({state}): run `morph-spec plan-check {facts.slug}`")
