"""The finish that is to be undone, as its journal tells it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.fleet.finish.wish import PR, of_journal
from morph_tasks.fleet.journal import OPEN, UNDONE, Journal, latest
from morph_tasks.fleet.look import git_dir_of

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# What became of the tree that had the branch: removed; still there; the main one, which went to the default branch.
GONE, KEPT, MAIN, NONE = "gone", "kept", "main", "none"


@dataclass(frozen=True)
class Past:
    """A finish that came to its end. Facts that it did not write down are None."""

    journal: Journal

    @property
    def feature(self) -> str:
        return self.journal.feature

    @property
    def plan(self) -> dict[str, Any]:
        return self.journal.plan

    @property
    def archive(self) -> dict[str, Any]:
        return self.journal.step("archive")

    @property
    def integrate(self) -> dict[str, Any]:
        return self.journal.step("integrate")

    @property
    def teardown(self) -> dict[str, Any]:
        return self.journal.step("teardown")

    @property
    def removal(self) -> dict[str, Any]:
        return self.teardown.get("removal") or {}

    @property
    def branch(self) -> str:
        return str(self.plan["branch"])

    @property
    def tip(self) -> str:
        """Return the commit that the branch had before the archive."""
        return str(self.archive.get("before") or self.plan["branchTip"])

    @property
    def archived_tip(self) -> str:
        """Return the commit that the branch had when it was merged."""
        return str(self.integrate.get("branchTip") or self.archive.get("archiveCommit") or self.tip)

    @property
    def default(self) -> str:
        return str(self.plan["default"])

    @property
    def by_pull(self) -> bool:
        """Tell whether the finish opened a pull request, and left the default branch as it was."""
        return self.plan.get("mode") == PR

    @property
    def merge(self) -> str | None:
        return self.integrate.get("mergeCommit")

    @property
    def before(self) -> str | None:
        """Return the commit that the default branch had before the merge."""
        return self.integrate.get("defaultBefore")

    @property
    def adopted(self) -> list[dict[str, Any]]:
        """Return the files of the moved tree that the merge took over: {path, mode, staged}."""
        return self.integrate.get("adopted") or []

    @property
    def primary(self) -> Path:
        return Path(self.plan["primary"])

    @property
    def tree(self) -> Path | None:
        """Return the tree that had the branch checked out."""
        return Path(self.plan["ownerTree"]) if self.plan.get("ownerTree") else None

    @property
    def kind(self) -> str:
        if self.tree is None:
            return NONE
        if self.integrate.get("switched"):
            return MAIN
        removed = self.teardown.get("worktreeRemoved") or self.teardown.get("alreadyDeregistered")
        return GONE if self.plan.get("linked") and removed else KEPT

    @property
    def folder(self) -> str:
        """Return where the feature was, relative to its tree."""
        return f"{FEATURES}/{self.feature}"

    @property
    def archived(self) -> str:
        return str(self.archive.get("archived") or f"{ARCHIVE}/{self.feature}")

    @property
    def own_links(self) -> list[dict[str, str]]:
        """Return the links of the removed tree that do not come back with the folder of the feature."""
        links = [link for link in self.removal.get("links") or [] if not self.is_archived(link["path"])]
        return [link for link in links if self.submodule_of(link["path"]) is None]

    @property
    def tree_links(self) -> list[dict[str, str]]:
        """Return the links that the work tree is made with."""
        return [link for link in self.plan.get("links") or [] if self.submodule_of(link["path"]) is None]

    @property
    def submodules(self) -> list[str]:
        """Return the submodules that were checked out and are not: their objects went with the work tree.

        A file in the folder of one would keep git from checking it out, and make the work tree look changed.
        """
        known = self.plan.get("submodules") or []
        if self.kind != GONE or self.tree is None:
            return []
        gone = [path for path in known if git_dir_of(self.tree / path) is None]
        return [path for path in gone if not any(path.startswith(f"{one}/") for one in gone)]

    def submodule_of(self, path: str) -> str | None:
        """Return the submodule that is not checked out and that a path belongs to; None for any other path."""
        return next((one for one in self.submodules if path.startswith(f"{one}/")), None)

    def is_archived(self, path: str) -> bool:
        """Tell whether a path belongs to the archived feature: it comes back with the feature's folder."""
        return path.startswith(f"{self.archived}/")


def read_past(repo: Repo, feature: str) -> Past:
    """Return the last finish of a feature.

    Raises Refusal `nothing-to-undo`, `finish-not-complete`, `corrupt-file`.
    """
    journal = latest(repo, feature)
    if journal is None or journal.state == UNDONE:
        known = f"its last finish was undone at {journal.data['undo'].get('doneAt')}" if journal else "none is recorded"
        what = f"there is no finish of {feature!r} to undo: {known}"
        raise Refusal("nothing-to-undo", what, fix="morph-spec list --all", feature=feature)
    if journal.state == OPEN:
        raise Refusal(
            "finish-not-complete",
            f"the last finish of {feature!r} was broken off, and only its own steps know how to go on",
            fix=of_journal(journal.plan).command(feature),
            feature=feature,
        )
    return Past(journal)
