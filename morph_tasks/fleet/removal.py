"""Remove a work tree and lose nothing: prove, back up, move aside, prove again, deregister, delete.

`plan_removal` changes nothing and raises every refusal there is to raise; `remove_tree` does what was planned.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet import aside, backups, obstacles, registration
from morph_tasks.fleet.aside import Aside
from morph_tasks.fleet.codegraph import derived_graph, drop_lent_rules
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.look import Link, Look, git_dir_of, leads_out, look
from morph_tasks.fleet.registration import Kept
from morph_tasks.fleet.triage import Triage, sort_ignored
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.trees import primary_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from morph_tasks.model.load import Config

_NOTHING = Triage((), (), (), (), ())


@dataclass(frozen=True)
class RemovalPlan:
    """What the removal of one tree would do. `head`: the commit it is on; `branch`: None when HEAD is detached.

    `missing`: its folder is gone, only the registration is there; `registered`: False when only an empty folder is.
    """

    path: Path
    admin: Path | None
    branch: str | None
    head: str | None
    found: Triage = _NOTHING
    missing: bool = False
    registered: bool = True
    discard_ignored: bool = False
    staged: bool = False

    @property
    def unlinked(self) -> tuple[Link, ...]:
        """Return the links that lead out of the tree, such as those to shared folders."""
        return tuple(link for link in self.found.links if leads_out(self.path / link.path, link.target, self.path))

    def as_json(self) -> dict[str, Any]:
        """Return what a journal keeps of it, and what `undo` needs to bring the tree back."""
        found = self.found
        return {
            "path": str(self.path),
            "branch": self.branch,
            "head": self.head,
            "missing": self.missing,
            "registered": self.registered,
            "replicatedInRoot": [file.as_json() for file in found.replicated],
            "discardedIgnored": list(found.regenerable),
            "exclusive": [file.as_json() for file in found.exclusive],
            "unlinked": [link.path for link in self.unlinked],
            "links": [link.as_json() for link in found.links],
            "excludedCaches": list(found.excluded_caches),
            "emptyFolders": list(found.empty_folders),
            "secrets": list(found.secrets),
            "discardIgnored": self.discard_ignored,
            "staged": self.staged,
        }


@dataclass(frozen=True)
class RemovedTree:
    """What was done. `backup`: where the copies lie; `left`: why some of the moved folder is still there."""

    plan: RemovalPlan
    backup: Path | None = None
    backed_up: tuple[str, ...] = ()
    kept: Kept | None = None
    left: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the part of a command's document that tells of the tree."""
        told = told_by_plan(self.plan.as_json(), self.backup, self.backed_up)
        return {**told, "kept": self.kept.as_json() if self.kept else None, "left": self.left}


def told_by_plan(plan: Mapping[str, Any], backup: Path | None, backed_up: Sequence[str]) -> dict[str, Any]:
    """Return what a removal tells, from its plan as journals keep it: all that a run which was killed has left."""
    exclusive = [file["path"] for file in plan["exclusive"]]
    return {
        "worktreeRemoved": True,
        "path": plan["path"],
        "missing": plan["missing"],
        "unlinked": plan["unlinked"],
        "replicatedInRoot": [file["path"] for file in plan["replicatedInRoot"]],
        "discardedIgnored": [*plan["discardedIgnored"], *(exclusive if plan["discardIgnored"] else [])],
        "ignoredBackup": str(backup) if backup else None,
        "backedUp": list(backed_up),
        "alreadyDeregistered": not plan["registered"],
        "kept": None,
        "left": None,
    }


def recover(repo: Repo) -> list[str]:
    """Put back or finish what killed runs left; return a line for each removal. Raises Refusal `busy` (3)."""
    from morph_tasks.fleet.torn import sweep_torn

    sweep_torn(repo)
    return aside.recover(repo)


def plan_removal(
    repo: Repo,
    tree: Path,
    *,
    discard_ignored: bool = False,
    even_anchored: bool = False,
    without: Sequence[str] = (),
) -> RemovalPlan:
    """Find out what removing a tree would do; changes nothing.

    `even_anchored` leaves it to the caller to ask whether somebody works in it; `without`: paths that the caller will
    have taken away before the tree goes. Raises Refusal `main-worktree`, `not-a-worktree` (2),
    `worktree-moved`, `worktree-broken`, `worktree-locked`, `operation-in-progress`, `index-locked`
    (3), `worktree-dirty`, `worktree-inside`, `worktree-busy`, `exclusive-commits`, `submodule-unproved`,
    `cwd-inside-worktree`, `session-anchored-in-worktree`, `ignored-unreadable`, or what keeps git from looking.
    """
    path = Path(os.path.realpath(tree))
    admin = registration.admin_of(repo, path)
    if admin is None:
        return _unregistered(repo, path)
    if not os.path.lexists(path):
        return _missing(repo, path, admin)
    _refuse_broken(path, admin)
    if not even_anchored:
        obstacles.refuse_anchored(path)
    obstacles.refuse_locked(admin, path)
    obstacles.refuse_under_way(admin, path)
    obstacles.refuse_mounts(path)
    obstacles.refuse_trees_inside(repo, path)
    seen = look(path, admin)
    obstacles.refuse_dirty(_without(seen, [*without, *derived_graph(path, seen.dirty)]), path)
    branch = _branch_of(repo, admin)
    obstacles.refuse_exclusive_commits(repo, admin, None if branch else seen.head)
    obstacles.refuse_submodules(repo, path, admin, seen)
    found = sort_ignored(seen, path, primary_root(repo))
    return RemovalPlan(path, admin, branch, seen.head, found, discard_ignored=discard_ignored)


def remove_tree(repo: Repo, plan: RemovalPlan, *, stamp: str, name: str, namespace: str = "") -> RemovedTree:
    """Remove a tree as planned; raises Refusal `backup-failed`, `changed-meanwhile`, `worktree-busy`, ...

    After a refusal all is as it was, except that a backup that was complete stays.
    """
    with fleet_lock(repo):
        if plan.admin is None:
            _remove_empty(plan.path)
            return RemovedTree(plan)
        if plan.missing:
            kept = registration.keep_staged(repo, plan.admin, backups.plain_name(name), stamp) if plan.staged else None
            registration.retire(repo, plan.admin)
            registration.deregister(repo, plan.path)
            return RemovedTree(plan, kept=kept)
        saved = _back_up(repo, plan, stamp, name, namespace)
        drop_lent_rules(plan.path)
        moved = aside.move_aside(
            repo, plan.path, plan.admin, stamp=stamp, links=plan.unlinked, about={"backup": str(saved or "")}
        )
        try:
            proved = _prove_again(repo, plan, moved, saved)
            moved.save(aside.PROVED)
            for link in plan.unlinked:
                os.unlink(moved.place / link.path)
            registration.deregister(repo, plan.path)
        except BaseException as error:
            if moved.state == aside.PROVED and not plan.admin.is_dir():
                raise  # broken off after git had forgotten the tree: the next run deletes it
            aside.put_back(moved)
            if isinstance(error, OSError):
                raise _busy(plan.path, error) from error
            raise
        with suppress(Refusal):  # without it the next run sees as much from the registration
            moved.save(aside.GONE)
        names = tuple(file["path"] for file in backups.read_manifest(saved)["files"]) if saved else ()
        return RemovedTree(proved, saved, names, left=aside.finish_deleting(moved))


def _without(seen: Look, paths: Sequence[str]) -> Look:
    left = (name for name in seen.dirty if not any(name == one or name.startswith(f"{one}/") for one in paths))
    return replace(seen, dirty=tuple(left))


def lenient_config(repo: Repo) -> Config:
    """Return the configuration of the main tree; an empty one where it is not valid: a removal can do without."""
    from morph_tasks.model.load import Config, load_config

    try:
        return load_config(open_repo(primary_root(repo)))
    except Refusal:
        return Config({}, "")


def _unregistered(repo: Repo, path: Path) -> RemovalPlan:
    """Plan for a folder that git does not know; only one that is empty may go."""
    if os.path.realpath(path) == os.path.realpath(primary_root(repo)):
        raise Refusal("main-worktree", f"{path} is the main work tree", fix="git worktree list")
    what = f"{path} is no work tree of this repository"
    gone = Refusal("not-a-worktree", what, fix="git worktree list", exit_code=2)
    if path.is_symlink() or not path.is_dir():
        raise gone
    mine = git_dir_of(path)
    if mine is not None and mine.parent == Path(os.path.realpath(repo.common_dir / "worktrees")):
        known = registration.place_of(mine)
        what = f"{path} is not where git knows that work tree to be: {known}"
        fix = f"git worktree repair {shlex.quote(str(path))}"
        if known is not None and git_dir_of(known) == mine:
            what = (
                f"{path} is a copy of the work tree {known}, or that one came to its place: both have one registration"
            )
            fix = f"{fix} (then {path} is the work tree), or if it is a mere copy: rm -r {shlex.quote(str(path))}"
        raise Refusal("worktree-moved", what, fix=fix, worktree=str(path))
    names = os.listdir(path)
    if not (_was_ours(repo, path) if names == [".git"] else not names and _is_ours(repo, path)):
        raise gone
    obstacles.refuse_anchored(path)
    obstacles.refuse_mounts(path)
    return RemovalPlan(path, None, None, None, registered=False)


def _missing(repo: Repo, path: Path, admin: Path) -> RemovalPlan:
    """Plan for a registration whose folder is gone."""
    obstacles.refuse_locked(admin, path)
    refuse_moved(repo, path, admin)
    obstacles.refuse_under_way(admin, path)
    branch = _branch_of(repo, admin)
    head = (
        repo.text("--git-dir", str(admin), "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)) or None
    )
    obstacles.refuse_exclusive_commits(repo, admin, None if branch else head)
    obstacles.refuse_submodules(repo, path, admin, Look(head, (), (), (), ()))
    return RemovalPlan(path, admin, branch, head, missing=True, staged=registration.staged_only(repo, admin))


def refuse_moved(repo: Repo, path: Path, admin: Path) -> None:
    """Raise Refusal `worktree-moved` when a tree that is not at its place is found where trees are usually moved to."""
    moved_to = _moved_to(path, admin) or _moved_along(repo, path, admin)
    if moved_to:
        what = f"the work tree {path} was moved to {moved_to}"
        fix = f"git worktree repair {shlex.quote(str(moved_to))}"
        raise Refusal("worktree-moved", what, fix=fix, worktree=str(moved_to))


def _refuse_broken(path: Path, admin: Path) -> None:
    if git_dir_of(path) != Path(os.path.realpath(admin)):
        what = f"{path} is registered as a work tree, but its .git does not lead to the registration"
        raise Refusal("worktree-broken", what, fix="git worktree repair", worktree=str(path))


def _moved_to(path: Path, admin: Path) -> Path | None:
    """Return the folder beside a missing tree that still names its registration; None when there is none."""
    try:
        beside = [Path(entry.path) for entry in os.scandir(path.parent) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return None
    real = Path(os.path.realpath(admin))
    return next((one for one in sorted(beside) if (one / ".git").is_file() and git_dir_of(one) == real), None)


def _moved_along(repo: Repo, path: Path, admin: Path) -> Path | None:
    """Return where a missing tree lies in a repository that was moved as a whole: its `.git` leads to the old place."""
    from morph_tasks.fleet.layout import tree_path

    usual = tree_path(repo, lenient_config(repo), path.name)
    for one in (usual, primary_root(repo) / path.parent.name / path.name):
        try:
            said = os.fsdecode((one / ".git").read_bytes())
        except OSError:
            continue
        pointer = Path(os.path.join(one, said.removeprefix("gitdir:").strip()))
        if pointer.parts[-2:] == admin.parts[-2:] and not os.path.lexists(pointer):
            return one
    return None


def _is_ours(repo: Repo, path: Path) -> bool:
    from morph_tasks.fleet.layout import is_ours

    return is_ours(repo, lenient_config(repo), path)


def _was_ours(repo: Repo, path: Path) -> bool:
    """Tell whether the `.git` of a folder leads to a registration that this repository no longer has."""
    try:
        said = os.fsdecode((path / ".git").read_bytes())
    except OSError:
        return False
    pointer = Path(os.path.realpath(path / said.removeprefix("gitdir:").strip()))
    ours = Path(os.path.realpath(repo.common_dir / "worktrees"))
    return said.startswith("gitdir:") and pointer.parent == ours and not pointer.exists()


def _branch_of(repo: Repo, admin: Path) -> str | None:
    return Repo(admin, admin, repo.common_dir, light=repo.light).branch()


def _back_up(repo: Repo, plan: RemovalPlan, stamp: str, name: str, namespace: str) -> Path | None:
    """Copy what exists only in the tree; None when nothing does, or when it was said that it may go."""
    found = plan.found
    main = primary_root(repo)
    # A link to the same path of the main tree can be made again without being told.
    own = [link for link in found.links if not _is_shared(plan.path, main, link)]
    if plan.discard_ignored or not (found.exclusive or own):
        return None
    about = {
        "kind": backups.IGNORED,
        "name": name,
        "stamp": stamp,
        "branch": plan.branch,
        "head": plan.head,
        "links": [link.as_json() for link in found.links],
        "excludedCaches": list(found.excluded_caches),
        "replicated": [file.as_json() for file in found.replicated],
    }
    names = [*(file.path for file in found.exclusive), *found.empty_folders]
    folder = backups.folder(repo, name, stamp, namespace, backups.IGNORED)
    try:
        return backups.back_up_files(repo, plan.path, names, folder=folder, about=about)
    except Refusal as refusal:
        if refusal.code != "backup-failed":
            raise
        exclusive = [file.path for file in found.exclusive]
        replicated = [file.path for file in found.replicated]
        hint = f"only there: {_named(exclusive)}; the main tree has the same: {_named(replicated)}"
        fix = f"{refusal.fix}, or pass --discard-ignored to go without copies"
        told = {**refusal.payload, "exclusive": exclusive, "replicated": replicated}
        told["hint"] = f"{hint}; the copies were to go to {folder}"
        raise Refusal(refusal.code, f"{refusal.what} ({hint})", fix=fix, **told) from refusal


def _prove_again(repo: Repo, plan: RemovalPlan, moved: Aside, saved: Path | None) -> RemovalPlan:
    """Look at the tree where nobody finds it any more; raises Refusal `changed-meanwhile`, or what a plan raises."""
    obstacles.refuse_locked(moved.admin, plan.path)
    obstacles.refuse_under_way(moved.admin, plan.path)
    obstacles.refuse_mounts(moved.place)
    seen = look(moved.place, moved.admin, home=plan.path)
    left = _without(seen, derived_graph(moved.place, seen.dirty)).dirty
    if left:
        raise _changed(plan.path, left)
    branch = _branch_of(repo, moved.admin)
    obstacles.refuse_exclusive_commits(repo, moved.admin, None if branch else seen.head)
    obstacles.refuse_submodules(repo, moved.place, moved.admin, seen)
    found = sort_ignored(seen, moved.place, primary_root(repo), home=plan.path)
    if not plan.discard_ignored:
        copied = backups.read_manifest(saved) if saved else {}
        held = {(file["path"], file["sha256"]) for file in copied.get("files", ())}
        more = [file.path for file in found.exclusive if (file.path, file.sha256) not in held]
        more += [link.path for link in found.links if link not in plan.found.links]
        if more:
            raise _changed(plan.path, more)
    return replace(plan, branch=branch, head=seen.head, found=replace(found, links=plan.found.links))


def _changed(path: Path, names: Sequence[str]) -> Refusal:
    what = f"{path} changed while it was being removed ({_named(names)}), so it was put back"
    return Refusal("changed-meanwhile", what, fix="end what works there and try again", paths=list(names), exit_code=3)


def _is_shared(tree: Path, main: Path, link: Link) -> bool:
    target = os.path.realpath(os.path.join(os.path.dirname(tree / link.path), link.target))
    return target == os.path.realpath(main / link.path)


def _remove_empty(path: Path) -> None:
    try:
        if os.listdir(path) == [".git"]:
            os.unlink(path / ".git")
        os.rmdir(path)
    except OSError as error:
        raise _busy(path, error) from error


def _busy(path: Path, error: OSError) -> Refusal:
    what = f"{path} cannot be removed: {error.strerror or error}"
    return Refusal("worktree-busy", what, fix=f"end what holds {path}", worktree=str(path))


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) or "nothing"
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
