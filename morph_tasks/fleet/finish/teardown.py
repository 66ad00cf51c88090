"""The step `teardown`: the application, the tree, the branch that is merged, a leftover copy, the claims."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import FEATURES
from morph_tasks.fleet import backups, claims
from morph_tasks.fleet.branches import contained
from morph_tasks.fleet.finish.wish import MERGE, PR
from morph_tasks.repo.branch_settings import read_settings
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo


def teardown_step(repo: Repo, journal: Journal) -> None:
    """Take down what the feature had; raises Refusal `worktree-dirty`, `backup-failed`, ... of the removal."""
    plan = journal.plan
    primary = open_repo(Path(plan["primary"])).lightly()
    tree = Path(plan["ownerTree"]) if plan["ownerTree"] else None
    facts: dict[str, Any] = {"teardownDeferred": None, "worktree": None, "branchDeleted": None}
    warnings = list(journal.step("teardown").get("warnings") or ())
    stays = plan["keepTree"] is not None and tree is not None and os.path.lexists(tree)
    if stays:
        facts["worktree"] = {"path": str(tree), "branch": plan["branch"]}
        facts["teardownDeferred"] = plan["keepTree"] if plan["keepTree"] != "keep" else None
        facts["worktreeRemoved"] = False
        journal.begin("teardown", removal=None, stack=None, portsReleased=False)
    else:
        warnings += _take_down(primary, journal, tree)
        facts |= _remove(primary, journal, tree)
    facts["shedBackup"], told = _shed(primary, journal)
    warnings += told
    if not stays and plan["mode"] == MERGE:
        facts["branchDeleted"], told = _delete_branch(primary, journal)
        warnings += told
    facts["claimsReleased"], told = _release_claims(primary, journal.feature)
    warnings += told
    journal.done("teardown", **facts, warnings=warnings)


def _take_down(primary: Repo, journal: Journal, tree: Path | None) -> list[str]:
    """Take the application down while its tree is there, give its ports back; return warnings."""
    from morph_tasks.stack.ports import known_block
    from morph_tasks.stack.project import known_project

    slug = journal.feature
    if journal.step("teardown").get("portsReleased"):
        return []
    name = known_project(primary, slug)
    # Killed in the middle of it, whatever is left is still known by its name.
    if known_block(primary, slug) is None and name is None:
        journal.note("teardown", stack=None, portsReleased=False)
        return []
    journal.begin("teardown", stack=None, portsReleased=False)
    try:
        if name is None or _is_down(primary, name):
            _give_back(primary, slug)
            journal.note("teardown", stack=None, portsReleased=True)
            return []
        return _close(primary, journal, tree)
    except Refusal as refusal:
        return [refusal.what]


def _is_down(primary: Repo, name: str) -> bool:
    """Tell whether nothing was ever brought up under a name: no record of it, and the engine has nothing."""
    from morph_tasks.stack import engine, stampfile

    records = [*stampfile.folder(primary).glob("*"), *primary.store.glob("e2e-*")]
    if any(name in path.name for path in records if path.suffix != ".lock"):
        return False
    if engine.socket_path() is None:
        return False
    try:
        return not (engine.containers(name) or engine.networks(name) or engine.volumes(name))
    except engine.EngineError:
        return False
    except Refusal:  # no engine, and no record that there ever was one
        return True


def _give_back(primary: Repo, slug: str) -> None:
    from morph_tasks.stack.ports import release
    from morph_tasks.stack.project import release_project

    release(primary, slug)
    release_project(primary, slug)


def _close(primary: Repo, journal: Journal, tree: Path | None) -> list[str]:
    from morph_tasks.stack.down import close_stack
    from morph_tasks.stack.ports import known_block
    from morph_tasks.stack.wiring import hooks_for

    slug, volumes = journal.feature, not journal.plan["options"]["keepVolumes"]
    owner = open_repo(tree).lightly() if tree and os.path.lexists(tree / ".git") else primary
    done = close_stack(owner, slug, volumes=volumes, hooks=hooks_for(owner, {}, slug))
    told = {key: value for key, value in done.as_json().items() if key != "ok"}
    warnings = [*done.warnings, *(f"still there: {left}" for left in done.left)]
    journal.begin("teardown", stack=told, portsReleased=known_block(primary, slug) is None, warnings=warnings)
    return warnings


def _remove(primary: Repo, journal: Journal, tree: Path | None) -> dict[str, Any]:
    """Remove a linked tree; return the part of the outcome that tells of it."""
    from morph_tasks.fleet import removal

    plan, step = journal.plan, journal.step("teardown")
    if tree is None or not plan["linked"]:
        journal.note("teardown", removal=None)
        return {"worktreeRemoved": None}
    if "removed" in step:
        return dict(step["removed"])
    if _is_gone(primary, tree):
        return _told_by_plan(primary, journal)
    planned = removal.plan_removal(primary, tree, discard_ignored=bool(plan["options"]["discardIgnored"]))
    journal.begin("teardown", removal=planned.as_json())
    done = removal.remove_tree(primary, planned, stamp=journal.stamp, name=journal.feature)
    told = done.as_json()
    # A run that is killed before the next write tells the same from what was planned.
    journal.note("teardown", removal=done.plan.as_json(), removed=told)
    return told


def _is_gone(primary: Repo, tree: Path) -> bool:
    if os.path.lexists(tree):
        return False
    return not any(os.path.realpath(one.path) == os.path.realpath(tree) for one in primary.worktrees())


def _told_by_plan(primary: Repo, journal: Journal) -> dict[str, Any]:
    """Tell of a tree that a killed run removed, from what it had planned."""
    from morph_tasks.fleet.removal import told_by_plan

    planned = journal.step("teardown").get("removal")
    if not planned:
        return {"worktreeRemoved": True, "alreadyDeregistered": True}
    folder = backups.folder(primary, journal.feature, journal.stamp, suffix=backups.IGNORED)
    saved = folder if folder.is_dir() else None
    return told_by_plan(planned, saved, [file["path"] for file in planned["exclusive"]] if saved else [])


def _shed(primary: Repo, journal: Journal) -> tuple[str | None, list[str]]:
    """Remove the copy of the feature that an older tool left in the main tree; return its backup, and warnings."""
    from morph_tasks.fleet.leftovers import shed_skeleton

    slug, plan = journal.feature, journal.plan
    earlier: str | None = journal.step("teardown").get("shedBackup")
    if not (primary.root / FEATURES / slug).is_dir() or primary.git_dir != primary.common_dir:
        return earlier, []
    where = plan["branch"] if plan["mode"] == PR else plan["default"]
    try:
        saved = shed_skeleton(primary, slug, journal.stamp, archived_in=f"refs/heads/{where}")
    except (Refusal, OSError) as error:
        return earlier, [f"the main tree still has a copy of {slug}: {error}"]
    return str(saved) if saved else earlier, []


def _delete_branch(primary: Repo, journal: Journal) -> tuple[str | None, list[str]]:
    """Delete the branch where the default one holds it and no tree has it; return its commit, or why it stays."""
    from morph_tasks.fleet.belongings import delete_branch

    branch, default = str(journal.plan["branch"]), str(journal.plan["default"])
    tip = str(journal.step("integrate")["branchTip"])
    if contained(primary, f"refs/heads/{branch}", f"refs/heads/{default}") is not True:
        if not primary.branch_exists(branch):
            return journal.step("teardown").get("branchDeleted"), []
        return None, [f"{branch} stays: {default} is not known to hold all of it"]
    settings = read_settings(primary, branch)
    journal.begin("teardown", branchDeleted=tip, branchSettings=settings)
    problem = delete_branch(primary, branch, tip, has_settings=bool(settings))
    return (None, [f"{branch} stays: {problem}"]) if problem else (tip, [])


def _release_claims(primary: Repo, slug: str) -> tuple[bool, list[str]]:
    try:
        return bool(claims.release(primary, slug)), []
    except Refusal as refusal:
        return False, [f"the claims on {slug} stay: {refusal.what}"]
