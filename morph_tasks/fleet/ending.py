"""The end of one work tree as a user asks for it: its stack, the tree, its ports, its branch, and what is left.

A note on disk says what is still to be done once the tree is gone: a run that was killed is carried on by the next.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet import backups, belongings, removal, retention
from morph_tasks.fleet.leftovers import Forgotten, forget_record, shed_skeleton
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.registration import KEPT, admin_of
from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.fleet.walking import sweep_unwritten
from morph_tasks.repo.files import read_json, write_json
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.trees import BRANCH_PREFIX, TASK, TASK_BRANCH, feature_of, live_owners, primary_root

if TYPE_CHECKING:
    from morph_tasks.stack.down import DownResult


@dataclass
class Ended:
    """What became of a tree and of all that belonged to it. `told`: `RemovedTree.as_json()`."""

    told: dict[str, Any]
    branch: str | None
    stamp: str
    key: str | None
    stack: DownResult | None = None
    ports: int | None = None
    branch_deleted: bool = False
    branch_tip: str | None = None
    shed: Path | None = None
    forgotten: Forgotten = field(default_factory=Forgotten)
    retention: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    resumed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the document of `worktree remove --json`."""
        told = {"ok": True, **self.told, "branch": self.branch, "branchDeleted": self.branch_deleted}
        told |= {"branchTip": self.branch_tip, "portsKey": self.key, "portsReleased": self.ports}
        told |= {"stack": self.stack.as_json() if self.stack and self.stack.project else None}
        told |= {"recordRemoved": self.forgotten.removed, "recordCommit": self.forgotten.commit}
        told |= {"shedBackup": str(self.shed) if self.shed else None, "resumed": self.resumed}
        told |= {"backupRetention": self.retention} if self.retention else {}
        return {**told, "hint": self.hint, "warnings": self.warnings}

    @property
    def hint(self) -> str | None:
        """Return the one thing to know next."""
        if self.branch_deleted and self.branch:
            return f"git branch {shlex.quote(self.branch)} {self.branch_tip} brings the branch back"
        return f"branch {self.branch} stays" if self.branch else None


@dataclass(frozen=True)
class _Note:
    """What a run that was killed leaves to the next one."""

    path: Path
    stamp: str
    name: str
    namespace: str
    key: str | None
    tip: str | None
    plan: dict[str, Any]

    def save(self) -> None:
        """Write the note; raises Refusal `write-failed`."""
        data = {"version": 1, "stamp": self.stamp, "name": self.name, "namespace": self.namespace}
        write_json(self.path, {**data, "key": self.key, "tip": self.tip, "plan": self.plan}, mode=0o600)

    def forget(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.path)


def find_tree(repo: Repo, name: str) -> Path:
    """Return the tree of a feature or a task; raises Refusal `worktree-not-found` (2), `main-worktree`.

    `task/<n>` names a task alone. A registration whose folder is gone counts, and so does an empty folder that a
    removal left behind.
    """
    task, branches = _named(name)
    main = os.path.realpath(primary_root(repo))
    listed = [(tree.path, tree.branch) for tree in repo.worktrees() if not tree.bare]
    for branch in branches:
        owners = [path for path, on in listed if on == branch] or live_owners(repo, branch)
        linked = [path for path in owners if os.path.realpath(path) != main]
        if linked:
            return linked[0]
        if owners:
            what = f"{branch} is checked out in the main work tree, which stays"
            raise Refusal("main-worktree", what, fix=f"git -C {shlex.quote(main)} switch <branch>", branch=branch)
    from morph_tasks.fleet.layout import is_ours, tree_path

    config = removal.lenient_config(repo)
    for path, _ in listed:
        if path.name == task and is_ours(repo, config, path):
            return path
    usual = tree_path(repo, config, task) if task and "/" not in task and task not in (".", "..") else None
    if usual and os.path.lexists(usual):
        return usual
    what = f"there is no work tree of {name!r}"
    raise Refusal("worktree-not-found", what, fix="git worktree list", exit_code=2, feature=name)


def end_tree(
    repo: Repo, tree: Path, *, discard_ignored: bool = False, delete_branch: bool = False, prune: bool = True
) -> Ended:
    """Remove a tree and what belongs to it; raises what `plan_removal` and `remove_tree` raise, `branch-unmerged`.

    Refusals come before the first change. A missing Docker stops nothing. `prune`: apply the retention afterwards.
    """
    with fleet_lock(repo):
        plan = removal.plan_removal(repo, tree, discard_ignored=discard_ignored)
        key = belongings.key_of(repo, plan)
        tip = belongings.deletable(repo, plan.branch) if delete_branch and plan.branch else None
        down = belongings.take_down_of(repo, plan, key)
        if down and down.project:
            # Containers may have written their last words into the tree.
            plan = removal.plan_removal(repo, tree, discard_ignored=discard_ignored)
        stamp, (namespace, name) = new_stamp(), belongings.backup_name(plan)
        note = _Note(repo.store / "endings" / f"{stamp}.json", stamp, name, namespace, key, tip, plan.as_json())
        note.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        note.save()
        try:
            removed = removal.remove_tree(repo, plan, stamp=stamp, name=name, namespace=namespace)
        except BaseException:
            if admin_of(repo, plan.path) is not None or os.path.lexists(plan.path):
                note.forget()
            raise
        ended = Ended(removed.as_json(), plan.branch, stamp, key, down)
        ended.warnings += [f"still there: {left}" for left in down.left] if down else []
        ended.warnings += list(down.warnings) if down else []
        ended.warnings += [removed.left] if removed.left else []
        return _closed(repo, ended, note, prune=prune)


def resume(repo: Repo) -> list[Ended]:
    """Do what killed runs had left to do after their trees were gone; the caller has called `recover` before."""
    folder = repo.store / "endings"
    found = []
    with fleet_lock(repo):
        sweep_unwritten(folder)
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            note = _read(path)
            if note is None or _is_there(repo, note):
                # The tree was put back, or is there anew: whatever belongs to it stays.
                path.unlink(missing_ok=True)
                continue
            ended = Ended(_told(repo, note), note.plan.get("branch"), note.stamp, note.key, resumed=True)
            found.append(_closed(repo, ended, note, prune=True))
    return found


def is_about(ended: Ended, name: str | None, target: Path | None) -> bool:
    """Tell whether an ended removal is the one that is asked for by a name or by a folder."""
    if target is not None:
        return os.path.realpath(target) == os.path.realpath(str(ended.told["path"]))
    return name is not None and (ended.branch in _named(name)[1] or Path(ended.told["path"]).name == name)


def _named(name: str) -> tuple[str, list[str]]:
    """Return the bare name of a task or a feature, and the branches that it can mean."""
    task = name.removeprefix(TASK)
    if task != name:
        return task, [f"{TASK_BRANCH}{task}"]
    return name, [f"{BRANCH_PREFIX}{name}", f"{TASK_BRANCH}{name}"]


def _closed(repo: Repo, ended: Ended, note: _Note, *, prune: bool) -> Ended:
    """Do all that follows once the tree is gone; what cannot be done is a warning."""
    if note.key:
        try:
            ended.ports = belongings.give_back(repo, note.key, ended.stack)
        except Refusal as refusal:
            ended.warnings.append(refusal.what)
    slug = feature_of(ended.branch)
    if slug:
        _shed(repo, slug, ended)
    if note.tip and ended.branch:
        problem = belongings.delete_branch(repo, ended.branch, note.tip)
        ended.branch_tip, ended.branch_deleted = note.tip, problem is None
        ended.warnings += [f"{ended.branch} stays: {problem}"] if problem else []
    if prune and (ended.told["ignoredBackup"] or ended.shed):
        ended.retention = retention.prune(repo, protect=ended.stamp)
    note.forget()
    return ended


def _shed(repo: Repo, slug: str, ended: Ended) -> None:
    """Clean up in the main tree; what cannot be done there stops nothing."""
    try:
        main = open_repo(primary_root(repo)).lightly()
        if main.git_dir != main.common_dir:
            return
        ended.shed = shed_skeleton(main, slug, ended.stamp)
        if ended.shed is None:
            ended.forgotten = forget_record(main, slug)
            ended.warnings += [ended.forgotten.warning] if ended.forgotten.warning else []
    except (Refusal, OSError) as error:
        ended.warnings.append(f"the main tree still has a copy of {slug}: {error}")


def _read(path: Path) -> _Note | None:
    try:
        data = read_json(path)
        words = (data["stamp"], data["name"], data["namespace"], data["key"], data["tip"], data["plan"])
        return _Note(path, *words) if data["plan"]["path"] else None
    except (Refusal, OSError, KeyError, TypeError):
        return None


def _is_there(repo: Repo, note: _Note) -> bool:
    path, branch = Path(note.plan["path"]), note.plan.get("branch")
    if os.path.lexists(path) or admin_of(repo, path) is not None:
        return True
    return any(tree.branch == branch for tree in repo.worktrees()) if branch else False


def _told(repo: Repo, note: _Note) -> dict[str, Any]:
    """Return what `remove_tree` would have told, by the plan and by what lies there now."""
    folder = backups.folder(repo, note.name, note.stamp, note.namespace, backups.IGNORED)
    copied: list[str] | None = None
    with suppress(Refusal, OSError):
        copied = [entry["path"] for entry in backups.read_manifest(folder)["files"]]
    ref = f"{KEPT}/{backups.plain_name(note.name)}-{note.stamp}"
    kept = repo.text("rev-parse", "--verify", "--quiet", ref, ok=(0, 1, 128))
    told = removal.told_by_plan(note.plan, None if copied is None else folder, copied or [])
    return {**told, "kept": {"ref": ref, "commit": kept} if kept else None}
