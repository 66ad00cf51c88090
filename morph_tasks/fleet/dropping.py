"""A feature that is given up together with its work tree: application, folder, tree, and the branch if asked for.

What was decided is written down before the first change, so that a run that was killed is completed by the next one.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features import removal as features
from morph_tasks.features.ignores import IGNORES, is_ours
from morph_tasks.features.store import FEATURES, feature_dir, state_lock, sweep_leftovers
from morph_tasks.fleet import belongings, ending, removal
from morph_tasks.fleet.excludes import DERIVED, exclude
from morph_tasks.fleet.layout import primary_of
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.registration import admin_of
from morph_tasks.fleet.walking import make_private
from morph_tasks.repo.commits import refuse_commit
from morph_tasks.repo.files import read_json, write_json
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import feature_branch, live_owners

if TYPE_CHECKING:
    from morph_tasks.features.removal import Removed
    from morph_tasks.fleet.ending import Ended
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Dropped:
    """What was done. `tip`: the commit of the branch before; `deleted`: the branch is gone."""

    slug: str
    removed: tuple[Removed, ...]
    ended: Ended | None
    branch: str | None
    tip: str
    deleted: bool
    warnings: tuple[str, ...]
    resumed: bool

    def as_json(self) -> dict[str, Any]:
        """Return the document of `delete --with-worktree --json`."""
        archived = next((one.archived_at for one in self.removed if one.archived_at), None)
        said = {"ok": True, "feature": self.slug, "archived": archived, "deleted": archived is None}
        said |= {"commit": next((one.commit for one in self.removed if one.commit), None)}
        said |= {"backup": next((str(one.backup) for one in self.removed if one.backup), None)}
        said |= {"branch": self.branch, "branchDeleted": self.deleted, "branchTip": self.tip or None, "hint": self.hint}
        told = self.ended.told if self.ended else {"worktreeRemoved": False}
        return {**told, **said, "resumed": self.resumed, "warnings": list(self.warnings)}

    @property
    def hint(self) -> str | None:
        """Return the command that brings the branch back."""
        if not self.deleted:
            return None
        return f"git branch {shlex.quote(feature_branch(self.slug))} {self.tip}"


@dataclass(frozen=True)
class _Note:
    slug: str
    tree: str | None
    tip: str
    keep: bool
    delete_branch: bool


def drop(
    repo: Repo, slug: str, *, keep: bool = False, force: bool = False, delete_branch: bool = False, command: str = ""
) -> Dropped:
    """Delete a feature and take its work tree down; `keep` archives it as abandoned on its branch instead.

    `command`: what was typed, without the name of the program. Raises, before the first change, what `plan_removal` and
    deleting a feature raise, and `branch-checked-out`.
    """
    primary = primary_of(repo)
    feature_dir(primary.root, slug)
    with fleet_lock(primary):
        removal.recover(primary)
        ending.resume(primary)
        note = _read(primary, slug)
        resumed = note is not None
        if note is None:
            command = command or f"delete {slug} --with-worktree"
            note = _planned(primary, slug, keep=keep, force=force, delete_branch=delete_branch, command=command)
            _write(primary, note)
        return _carried_out(primary, note, resumed=resumed)


def _planned(primary: Repo, slug: str, *, keep: bool, force: bool, delete_branch: bool, command: str) -> _Note:
    branch = feature_branch(slug)
    owners = live_owners(primary, branch)
    linked = [path for path in owners if os.path.realpath(path) != os.path.realpath(primary.root)]
    if len(linked) > 1 or (delete_branch and len(owners) > len(linked)):
        where = next((path for path in owners if path not in linked[:1]), owners[0])
        what = f"{branch} is checked out in {where}, so it cannot be deleted"
        fix = f"git -C {shlex.quote(str(where))} switch --detach && morph-spec {command}"
        if not linked:  # off that branch the feature is nowhere: it goes first, and the branch last
            here, to = shlex.quote(str(where)), primary.default_branch() or "--detach"
            first = f"morph-spec delete {slug}{' --force' if force else ''}"
            fix = f"cd {here} && {first} && git switch {to} && git branch -D {shlex.quote(branch)}"
        raise Refusal("branch-checked-out", what, fix=fix, worktree=str(where), branch=branch)
    for path in linked:
        tree = open_repo(path)
        features.refuse_signed(tree, slug, force=force, command=command)
        refuse_commit(tree)
        own = [f"{FEATURES}/{slug}", *([IGNORES] if _is_untracked_ours(tree) else [])]
        removal.plan_removal(primary, tree.root, without=own)
    if feature_dir(primary.root, slug).is_dir() or not linked:
        features.refuse_signed(primary, slug, force=force, command=command)
        refuse_commit(primary)
    return _Note(slug, str(linked[0]) if linked else None, primary.tip(branch) or "", keep, delete_branch)


def _carried_out(primary: Repo, note: _Note, *, resumed: bool) -> Dropped:
    """Do what the note says; each step is skipped when an earlier run has done it."""
    removed: list[Removed] = []
    warnings: list[str] = []
    ended = None
    if note.tree and admin_of(primary, Path(note.tree)) and os.path.lexists(Path(note.tree) / ".git"):
        exclude(primary, DERIVED)
        tree = open_repo(Path(note.tree))
        warnings += _closed(tree, note.slug)
        removed += _forgotten(tree, note)
        if _is_untracked_ours(tree):
            os.unlink(tree.root / IGNORES)
        ended = ending.end_tree(primary, tree.root)
        warnings += ended.warnings
    warnings += _closed(primary, note.slug)
    removed += _forgotten(primary, note)
    branch, deleted = feature_branch(note.slug), False
    there = primary.tip(branch)
    if note.delete_branch:
        problem = belongings.delete_branch(primary, branch, there) if there else None
        warnings += [f"{branch} stays: {problem}"] if problem else []
        deleted = bool(note.tip) and problem is None
    _file(primary, note.slug).unlink(missing_ok=True)
    left = branch if there and not deleted else None
    return Dropped(note.slug, tuple(removed), ended, left, note.tip, deleted, tuple(warnings), resumed)


def _forgotten(tree: Repo, note: _Note) -> list[Removed]:
    """Delete or archive the feature's folder in one tree, if it is there."""
    with state_lock(tree.root):
        sweep_leftovers(tree.root)  # what a killed run had put aside would make the tree dirty
    try:
        return [features.delete(tree, note.slug, keep=note.keep, force=True, with_tree=True)]
    except Refusal as refusal:
        if refusal.code not in ("feature-not-found", "owner-tree-elsewhere"):
            raise
        return []


def _closed(tree: Repo, slug: str) -> list[str]:
    """Take the application of the feature down for good; its ports and its name are free then."""
    from morph_tasks.stack.ports import known_block
    from morph_tasks.stack.project import known_project

    if known_block(tree, slug) is None and known_project(tree, slug) is None:
        return []
    from morph_tasks.stack.down import close_stack
    from morph_tasks.stack.wiring import hooks_for

    done = close_stack(tree, slug, hooks=hooks_for(tree, {}, slug))
    return [*done.warnings, *(f"still there: {left}" for left in done.left)]


def _is_untracked_ours(tree: Repo) -> bool:
    """Tell whether the list that keeps derived files out of git is there, ours alone, and in no commit."""
    return is_ours(tree.root / IGNORES) and not tree.git("ls-files", "-z", "--", f":(top,literal){IGNORES}")


def _file(primary: Repo, slug: str) -> Path:
    return primary.store / "deletions" / f"{slug}.json"


def _read(primary: Repo, slug: str) -> _Note | None:
    with suppress(OSError, Refusal, TypeError):
        return _Note(**read_json(_file(primary, slug)))
    return None


def _write(primary: Repo, note: _Note) -> None:
    file = _file(primary, note.slug)
    make_private(file.parent)
    write_json(file, asdict(note), mode=0o600)
