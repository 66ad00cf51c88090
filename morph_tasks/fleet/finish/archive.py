"""The step `archive`: copy the whole folder aside, then one commit on the feature's branch that moves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.ignores import IGNORES, ignore_derived
from morph_tasks.features.removal import Along, Removed
from morph_tasks.features.removal import archive as move
from morph_tasks.features.store import ARCHIVE, FEATURES, feature_dir, write_index
from morph_tasks.features.whereabouts import holds
from morph_tasks.fleet import backups
from morph_tasks.proc import ProcError, tail
from morph_tasks.repo.commits import commit_paths
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.adrs import Changes
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo

SUFFIX = "feature"


def begin_archive(journal: Journal, changes: Changes, along: Along) -> None:
    """Write down what the commit will do beside the move, before the folder moves."""
    journal.begin(
        "archive",
        adrs={"write": dict(changes.write), "remove": list(changes.remove)},
        adrIndex=changes.index,
        revocationProblems=list(changes.problems),
        add=list(along.add),
        backup=None,
    )


def archive_step(repo: Repo, journal: Journal) -> None:
    """Archive the feature on its branch; raises Refusal `backup-failed`, `commit-failed`, ..."""
    slug, plan = journal.feature, journal.plan
    where = f"{ARCHIVE}/{slug}"
    if plan["ownerTree"] is None:
        journal.done("archive", archiveCommit=None, archived=where, before=None)
        return
    tree = open_repo(Path(plan["ownerTree"])).lightly()
    step = journal.step("archive")
    adrs = step.get("adrs") or {"write": {}, "remove": []}
    along = Along(adrs["write"], adrs["remove"], step.get("add") or [])
    if not feature_dir(tree.root, slug).is_dir() and holds(tree, "HEAD", slug) == ARCHIVE:
        # Committed by a run that was killed then, or by `archive`: the index may not know it yet.
        gone, added = [f"{FEATURES}/{slug}", *along.remove], [where, *along.write, *along.add]
        commit_paths(tree, f"Archive {slug}", gone=gone, added=added)
        write_index(tree.root)
        journal.done("archive", archiveCommit=_made(tree, plan, step), archived=where, before=plan["branchTip"])
        return
    if step.get("backup") is None:
        saved = _back_up(repo, journal, tree)
        journal.begin("archive", backup=str(saved) if saved else None)
    if IGNORES in along.add:
        ignore_derived(tree.root)
    made = _move(tree, slug, along)
    journal.done("archive", archiveCommit=made.commit, archived=where, before=plan["branchTip"])


def _move(tree: Repo, slug: str, along: Along) -> Removed:
    try:
        return move(tree, slug, along=along, can_commit=True)
    except ProcError as error:
        said = tail(error.done) if error.done else error.what
        what = f"the archive commit of {slug!r} could not be made, and all is as it was: {said}"
        raise Refusal("commit-failed", what, fix="settle what git says, then run it again", feature=slug) from error


def _back_up(repo: Repo, journal: Journal, tree: Repo) -> Path | None:
    slug = journal.feature
    if not feature_dir(tree.root, slug).is_dir():
        return None  # moved by something else: there is nothing of ours to lose
    about: dict[str, Any] = {
        "kind": SUFFIX,
        "name": slug,
        "stamp": journal.stamp,
        "branch": journal.plan["branch"],
        "head": journal.plan["branchTip"],
    }
    place = backups.folder(repo, slug, journal.stamp, suffix=SUFFIX)
    # What the commit takes along is no longer untracked afterwards: an undo brings it back as it lay here.
    names = [f"{FEATURES}/{slug}", *(journal.step("archive").get("add") or ())]
    return backups.back_up_files(repo, tree.root, names, folder=place, about=about)


def _made(tree: Repo, plan: dict[str, Any], step: dict[str, Any]) -> str | None:
    """Return the archive commit that a killed run of this finish made; None when it was made before."""
    parents = tree.text("rev-list", "--parents", "-n", "1", "HEAD").split()
    return parents[0] if step and parents[1:] == [plan["branchTip"]] else None
