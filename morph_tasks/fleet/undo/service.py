"""Undo the last finish of a feature: plan, refuse or do, one journalled step after the other."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from morph_tasks.features.store import feature_dir
from morph_tasks.fleet.codegraph import refresh_graph
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.undo.outcome import Outcome
from morph_tasks.fleet.undo.past import read_past
from morph_tasks.fleet.undo.plan import make_plan
from morph_tasks.fleet.undo.record import Record
from morph_tasks.fleet.undo.steps import ALL

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def undo(repo: Repo, feature: str, *, without_ignored: bool = False, dry_run: bool = False) -> Outcome:
    """Take the last finish of a feature back, or go on with an undo that was killed; `dry_run` changes nothing.

    Raises Refusal before the first change: what `read_past` and `make_plan` raise, and `busy` (3).
    """
    feature_dir(repo.root, feature)  # a name that is a path is no feature
    with nullcontext() if dry_run else fleet_lock(repo):
        recovered = [] if dry_run else _recover(repo)
        past = read_past(repo, feature)
        record = Record(past.journal)
        plan = make_plan(repo, past, record, without_ignored=without_ignored)
        resumed = record.begun
        if dry_run:
            return Outcome(plan, dry_run=True, resumed=resumed)
        record.begin(without_ignored=without_ignored)
        for name, step in ALL.items():
            if not record.is_done(name):
                record.begin_step(name)
                record.end_step(name, **step(plan))
        facts = {name: record.step(name) for name in ALL}
        record.end()
    refresh_graph(repo)
    return Outcome(plan, resumed=resumed, facts=facts, recovered=tuple(recovered))


def _recover(repo: Repo) -> list[str]:
    from morph_tasks.fleet.removal import recover

    return recover(repo)
