"""The step `retention`: backups that are too many or too old go; whatever happens in it, the finish stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.fleet.journal import DONE
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo


def retention_step(repo: Repo, journal: Journal) -> None:
    """Prune the backups but those of this finish, and close the journal."""
    primary = open_repo(Path(journal.plan["primary"])).lightly()
    pruned = _prune(primary, journal.stamp)
    # In one write: a kill between two would leave a journal that has every step done and is open for ever.
    journal.data["state"] = DONE
    journal.done("retention", backupRetention=pruned)


def forecast(primary: Repo) -> dict[str, Any] | None:
    """Return what a pruning would do now; never raises."""
    from morph_tasks.fleet import retention

    try:
        return retention.forecast(primary)
    except Exception as error:
        return {"skipped": f"{type(error).__name__}: {error}"}


def _prune(primary: Repo, stamp: str) -> dict[str, Any] | None:
    from morph_tasks.fleet import retention

    try:
        return retention.prune(primary, protect=stamp)
    except Exception as error:  # a finish never fails over a pruning
        return {"skipped": f"{type(error).__name__}: {error}"}
