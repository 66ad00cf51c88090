"""The steps of an undo. Each may have been done already, wholly or in part, and then goes on from there.

Nothing is ever unreachable: the branch of the feature gets its commit back before the default branch gives it up.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.fleet.links import put_links
from morph_tasks.fleet.treeenv import FILE as WORKTREE_ENV
from morph_tasks.fleet.undo.adopted import put_adopted
from morph_tasks.fleet.undo.folder import restore_feature
from morph_tasks.fleet.undo.obstacles import again
from morph_tasks.fleet.undo.past import GONE, KEPT, MAIN
from morph_tasks.fleet.undo.restore import put_files, put_folders, put_modes
from morph_tasks.proc import ProcError
from morph_tasks.repo.branch_settings import put_settings
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.moving import move_tree, reference_refused
from morph_tasks.repo.ref_lock import ref_moves
from morph_tasks.repo.trees import live_owners, same_place

if TYPE_CHECKING:
    from morph_tasks.fleet.undo.plan import Plan
    from morph_tasks.repo.git import Repo

Facts = dict[str, Any]


def branch(plan: Plan) -> Facts:
    """Put the branch back to where it was before the archive; a tree that is there goes with it."""
    past = plan.past
    if past.kind == KEPT:
        assert past.tree
        move_tree(open_repo(past.tree), past.archived_tip, past.tip, to=past.branch, **_how(plan))
    else:
        _set(plan, past.branch, past.tip, plan.home.tip(past.branch))
        with ref_moves(plan.home, config=True) as git:
            put_settings(git, past.branch, past.teardown.get("branchSettings") or [])
    return {"branch": past.branch, "commit": past.tip}


def default(plan: Plan) -> Facts:
    """Take the merge off the default branch, in the tree that has it checked out as well."""
    past = plan.past
    if past.by_pull:
        return {}
    assert past.merge and past.before
    moved: Repo | None = None
    if past.kind == MAIN:
        moved = main = open_repo(past.primary)
        at = past.merge if plan.home.tip(past.default) == past.merge else past.before
        move_tree(main, at, past.tip, to=past.branch, **_how(plan))
        _set(plan, past.default, past.before, plan.home.tip(past.default))
    elif plan.default_tree and not plan.default_moved:
        moved = open_repo(plan.default_tree)
        move_tree(moved, past.merge, past.before, to=past.default, **_how(plan))
    else:
        _set(plan, past.default, past.before, plan.home.tip(past.default))
    facts = {"default": past.default, "from": past.merge, "to": past.before}
    if moved is None or not past.adopted or not same_place(moved.root, Path(str(past.integrate.get("treeMoved")))):
        return facts
    taken = put_adopted(moved, past, past.tip if past.kind == MAIN else past.before)
    return {**facts, "adopted": [one["path"] for one in past.adopted if one["path"] not in taken], "taken": taken}


def tree(plan: Plan) -> Facts:
    """Make the work tree again where it was, with its links and its ports."""
    past = plan.past
    if past.kind != GONE:
        return {}
    from morph_tasks.fleet import marker
    from morph_tasks.fleet.setup import reattach

    assert past.tree
    key, links = str(past.plan.get("portsKey") or past.feature), past.tree_links
    owners = {os.path.realpath(owner) for owner in live_owners(plan.home, past.branch)}
    if os.path.realpath(past.tree) not in owners or marker.read(plan.home, key):
        reattach(plan.home, past.tree, past.branch, key, past.plan.get("portsBase"), links)
    return {"worktree": str(past.tree)}


def folder(plan: Plan) -> Facts:
    """Put the folder of the feature back as it lay on disk before the archive, and clear what the archive left."""
    past = plan.past
    if past.tree is None:
        return {}
    return restore_feature(open_repo(past.tree), plan)


def files(plan: Plan) -> Facts:
    """Put back what git ignored in the tree: what only the backup holds, what the main tree has too, and links."""
    past = plan.past
    if past.kind != GONE:
        return {}
    assert past.tree
    own = tuple(file for file in plan.ignored.files if not past.is_archived(file.path))
    modes = {one: mode for one, mode in plan.ignored.modes.items() if past.submodule_of(f"{one}/") is None}
    put_modes(past.tree, modes, writable=True)
    taken = put_files(plan.ignored.place or past.tree, past.tree, own, over=(WORKTREE_ENV,))
    taken += put_files(past.primary, past.tree, plan.replicated)
    taken += put_links(past.tree, past.own_links)
    folders = [one for one in past.removal.get("emptyFolders") or [] if not past.is_archived(one)]
    put_folders(past.tree, [one for one in folders if past.submodule_of(one) is None])
    put_modes(past.tree, modes)
    return {
        "ignored": [file.path for file in own if file.path not in taken],
        "replicated": [file.path for file in plan.replicated if file.path not in taken],
        "taken": taken,
    }


def root(plan: Plan) -> Facts:
    """Put back the copy of the feature that lay in the main tree."""
    shed = plan.shed
    taken = put_files(shed.place, plan.past.primary, shed.files) if shed.place else []
    taken += put_links(plan.past.primary, shed.links)
    put_folders(plan.past.primary, shed.folders)
    return {"shed": [file.path for file in shed.files if file.path not in taken], "taken": taken}


def ports(plan: Plan) -> Facts:
    """Give the feature its block of ports again; raises Refusal `ports-taken`."""
    base = plan.past.plan.get("portsBase")
    if base is None:
        return {}
    from morph_tasks.stack.ports import claim

    claim(plan.home, str(plan.past.plan["portsKey"]), int(base))
    return {"ports": base}


def _how(plan: Plan) -> dict[str, Any]:
    return {"message": _said(plan), "partly": True, "again": _again(plan)}


def _again(plan: Plan) -> str:
    left_out = plan.past.journal.data["undo"].get("withoutIgnored")
    return again(plan.past, *(["--without-ignored"] if left_out else []))


def _said(plan: Plan) -> str:
    return f"morph-spec: undo the finish of {plan.past.feature}"


def _set(plan: Plan, name: str, commit: str, old: str | None) -> None:
    """Move a branch that no tree has checked out; raises Refusal `reference-refused`."""
    if old == commit:
        return
    try:
        with ref_moves(plan.home, name) as git:
            git.git("update-ref", "-m", _said(plan), f"refs/heads/{name}", commit, old or "0" * len(commit))
    except ProcError as error:
        raise reference_refused(name, error, _again(plan)) from error


Step = Callable[["Plan"], Facts]
ALL: dict[str, Step] = {
    "branch": branch,
    "default": default,
    "tree": tree,
    "folder": folder,
    "files": files,
    "root": root,
    "ports": ports,
}
