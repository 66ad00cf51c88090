"""Finish a feature: the whole at once for the command, or step by step for doit. Both run the same steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import feature_dir, now
from morph_tasks.fleet import journal as journals
from morph_tasks.fleet.codegraph import refresh_graph
from morph_tasks.fleet.finish.archive import archive_step, begin_archive
from morph_tasks.fleet.finish.integrate import integrate_step
from morph_tasks.fleet.finish.outcome import Outcome, forecast, outcome_of
from morph_tasks.fleet.finish.preflight import Prepared, prepare
from morph_tasks.fleet.finish.retention import retention_step
from morph_tasks.fleet.finish.teardown import teardown_step
from morph_tasks.fleet.finish.wish import Wish as Wish
from morph_tasks.fleet.journal import DONE, OPEN, UNDOING, Journal
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

Step = Callable[["Repo", Journal], None]
# After the preflight, in this order; each goes on where a killed run left it.
STEPS: dict[str, Step] = {
    "archive": archive_step,
    "integrate": integrate_step,
    "teardown": teardown_step,
    "retention": retention_step,
}
LAST = "retention"


def finish(repo: Repo, slug: str, wish: Wish) -> Outcome:
    """Finish a feature, or go on with a finish that was broken off; a dry run changes nothing.

    Raises a Refusal before the first change, or after a step that could not be ended: then the same command goes on.
    """
    repo = repo.lightly()
    with fleet_lock(repo):
        made = _prepared(repo, slug, wish)
        if wish.dry_run:
            return forecast(made)
        journal = _begun(made)
        for name in STEPS:
            _run(repo, journal, name)
        ended = outcome_of(made.place.primary, journal)
    refresh_graph(made.place.primary)
    return ended


def step(repo: Repo, slug: str, wish: Wish, name: str) -> Outcome | None:
    """Do one step and nothing else; the forecast of a dry run is what its preflight returns."""
    repo = repo.lightly()
    with fleet_lock(repo):
        if name == "preflight":
            made = _prepared(repo, slug, wish)
            if wish.dry_run:
                return forecast(made)
            _begun(made)
        elif not wish.dry_run:
            _run(repo, _journal(repo, slug), name)
            if name == LAST:
                refresh_graph(repo)
    return None


def ended(repo: Repo, slug: str) -> Outcome:
    """Return what the newest finish of a feature came to; raises Refusal `no-journal`."""
    journal = _journal(repo.lightly(), slug)
    return outcome_of(open_repo(Path(journal.plan["primary"])).lightly(), journal)


def _prepared(repo: Repo, slug: str, wish: Wish) -> Prepared:
    from morph_tasks.fleet.removal import recover

    feature_dir(repo.root, slug)  # a name that is a path is no feature
    if not wish.dry_run:
        recover(repo)
    found = journals.latest(repo, slug)
    if found is not None and found.state == UNDOING:
        what = f"an undo of the last finish of {slug!r} is under way"
        raise Refusal("undo-unfinished", what, fix=f"morph-spec undo {slug}", feature=slug)
    return prepare(repo, slug, wish, found)


def _begun(made: Prepared) -> Journal:
    """Return the journal with the plan in it, before anything else changes."""
    journal = made.unfinished
    if journal is None:
        journal = journals.start(made.place.primary, made.place.slug, made.plan, write=False)
    else:
        journal.data["plan"] = made.plan
    journal.data["resumed"] = made.resumed
    journal.note("preflight", state=DONE, doneAt=now(), warnings=made.warnings)
    if made.has_done("archive") or made.place.archived or made.half:
        journal.save()
    else:
        begin_archive(journal, made.changes, made.along)
    return journal


def _run(repo: Repo, journal: Journal, name: str) -> None:
    if journal.state == OPEN and not journal.is_done(name):
        STEPS[name](repo, journal)


def _journal(repo: Repo, slug: str) -> Journal:
    found = journals.latest(repo, slug)
    if found is None or found.state not in (OPEN, DONE):
        raise Refusal("no-journal", f"no finish of {slug!r} is known", fix=f"doit finish:{slug}", feature=slug)
    return found
