"""What the evidence that stands says of the changes of a feature. Runs no node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.reach.model import Answer

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def standing(repo: Repo, feature: str) -> Answer:
    """Return what is known of the changes by the last proof, as far as it is one of this code; never refuses."""
    from morph_tasks.verify.reach.answer import explain_changes
    from morph_tasks.verify.request import Request
    from morph_tasks.verify.run import Run, new_run_id
    from morph_tasks.verify.scenarios.owed import owed
    from morph_tasks.verify.scenarios.proof import prove

    try:
        plan = owed(repo.root, feature)
        if plan.problem is None and not plan.scenarios:
            return Answer.without_scenarios()
        run = Run(repo, feature, Request(), new_run_id(), quiet=True)
        missing = [node.ref for node in run.nodes if node.family == "tests" and node.runs and run.view(node) is None]
        if missing:
            return Answer.unmeasured(missing[0], feature)
        with run.observer.kept():
            outcomes = run.outcomes()
            return explain_changes(run, prove(run, outcomes), outcomes)
    except Refusal as refusal:
        return Answer(reason=refusal.what)
