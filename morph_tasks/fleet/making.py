"""Make a work tree and its branch: every refusal first, then steps that are taken back when a later one fails."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet import marker
from morph_tasks.fleet.obstacles import refuse_locked
from morph_tasks.fleet.registration import admin_of, missing, retire, without_retired
from morph_tasks.proc import tail
from morph_tasks.repo.halfmade import admin_folders
from morph_tasks.repo.ref_lock import ref_moves
from morph_tasks.repo.trees import TASK, checked_out, feature_branch, live_owners

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

INITIALIZING = "initializing"


@dataclass(frozen=True)
class TreePlan:
    """A work tree to make. `start`: the commit that a new branch begins at, empty when the branch is there already.

    `track`: the branch of origin that the new one follows; `commit`: what will be checked out; `half`: the marker of a
    run that was killed; `whole`: that run had come past git's part.
    """

    key: str
    path: Path
    branch: str
    commit: str
    start: str = ""
    base_name: str = ""
    track: str = ""
    half: dict[str, Any] | None = None
    whole: bool = False


def plan_tree(
    primary: Repo, *, key: str, path: Path, branch: str, top: Path, start: Callable[[], tuple[str, str]]
) -> TreePlan:
    """Compute how to make a tree at a path; changes nothing.

    `top`: the container; `start` is asked for name and commit only when the branch has to be made. Raises Refusal
    `feature-in-use` or `task-in-use` (both 3), `path-taken`, `branch-blocked`, `busy` (3), what `start` raises, and
    of a registration whose tree is gone: `worktree-locked`, `worktree-moved`, `worktree-missing`.
    """
    half = marker.read(primary, key)
    if half:
        path = Path(half["path"])
    _refuse_in_use(primary, branch, key, half)
    whole = bool(half) and is_whole(primary, path)
    if half and not whole:
        from morph_tasks.features.store import lock_wait

        marker.wait_for_git(primary, key, wait_s=lock_wait.get())
        whole = is_whole(primary, path)
    if not whole:
        _refuse_missing(primary, path, branch, half=bool(half))
    if whole and os.path.realpath(path) not in map(os.path.realpath, live_owners(primary, branch)):
        raise _taken(path, "a work tree that is on another branch by now")
    if not whole:
        _refuse_feature_tree(primary, path, key)
        _refuse_path(path, top, half=half)
    tips = _tips(primary, branch)
    local, remote = tips.get(f"refs/heads/{branch}", ""), tips.get(f"refs/remotes/origin/{branch}", "")
    plan = TreePlan(key, path, branch, local, base_name=branch, half=half, whole=whole)
    if local:
        return plan
    if remote:
        track = f"origin/{branch}"
        return replace(plan, commit=remote, start=remote, base_name=track, track=track)
    from morph_tasks.repo.branching import refuse_taken

    name, commit = start()
    refuse_taken(primary, branch, remotes=False)
    return replace(plan, commit=commit, start=commit, base_name=name)


def make_tree(primary: Repo, plan: TreePlan, undo: ExitStack, **facts: Any) -> list[str]:
    """Make the tree, register with `undo` how it is taken back, return warnings; raises Refusal `worktree-failed`."""
    if plan.whole:
        return []
    before = [path.name for path in admin_folders(primary)]
    known = plan.half.get("before", before) if plan.half else before
    told = {"path": str(plan.path), "branch": plan.branch, "start": plan.start, "before": known, **facts}
    marker.put(primary, plan.key, **told)
    undo.callback(_take_back, primary, plan)
    aside = _clear_half(primary, plan, known) if plan.half else None
    _make_folder(plan.path.parent)
    warnings = _add(primary, plan)
    return warnings + (_judge(aside, plan.path) if aside else [])


def is_whole(primary: Repo, path: Path) -> bool:
    """Tell whether git has finished making a tree."""
    admin = admin_of(primary, path)
    if admin is None or not (path / ".git").is_file() or not (admin / "index").exists():
        return False
    return not _is_initializing(admin)


def _refuse_in_use(primary: Repo, branch: str, key: str, half: dict[str, Any] | None) -> None:
    for owner in live_owners(primary, branch):
        if half and os.path.realpath(owner) == os.path.realpath(half["path"]):
            continue
        what, code = f"feature {key!r}", "feature-in-use"
        if key.startswith(TASK):
            what, code = f"task {key.removeprefix(TASK)!r}", "task-in-use"
        said, fix = f"{what} has its work tree already: {owner}", f"cd {shlex.quote(str(owner))}"
        default = primary.default_branch()
        is_main = primary.git_dir == primary.common_dir and os.path.realpath(owner) == os.path.realpath(primary.root)
        if is_main and default and default != branch:
            said = f"{branch} is checked out in the main work tree, {owner}, and no second tree can have it"
            fix = f"git -C {shlex.quote(str(owner))} switch {shlex.quote(default)}"
            fix += "" if key.startswith(TASK) else f" && morph-spec worktree setup {shlex.quote(key)}"
        raise Refusal(
            code,
            said,
            fix=fix,
            exit_code=3,
            worktree={"path": str(owner), "branch": branch},
            claims=_claims(primary, key),
        )


def _claims(primary: Repo, key: str) -> list[dict[str, Any]]:
    from morph_tasks.fleet.claims import of

    return [claim.as_json() for claim in of(primary, key)]


def _refuse_feature_tree(primary: Repo, path: Path, key: str) -> None:
    """Refuse a task that is called as a feature which has its work tree there."""
    for tree, branch in checked_out(primary) if key.startswith(TASK) else ():
        if branch == feature_branch(path.name) and os.path.realpath(tree) == os.path.realpath(path):
            what = f"{path} is the work tree of feature {path.name!r}, which `worktree setup` makes, not `provision`"
            raise Refusal("path-taken", what, fix=f"cd {shlex.quote(str(path))}", path=str(path), branch=branch)


def _refuse_path(path: Path, top: Path, *, half: dict[str, Any] | None) -> None:
    for above in (one for one in path.parents if top in one.parents):
        if os.path.lexists(above / ".git"):
            raise _taken(path, f"a place inside of the work tree {above}")
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not path.is_dir():
        raise _taken(path, "a link" if os.path.islink(path) else "a file")
    if os.listdir(path) and not (half and (path / ".git").is_file()):
        raise _taken(path, "another work tree" if (path / ".git").exists() else "a folder that is not ours")


def _taken(path: Path, what: str) -> Refusal:
    fix = f"move it away, or look into it: ls -la {shlex.quote(str(path))}"
    return Refusal("path-taken", f"the work tree cannot be made at {path}: there is {what}", fix=fix, path=str(path))


def _tips(primary: Repo, branch: str) -> dict[str, str]:
    said = primary.git(
        "for-each-ref", "--format=%(refname) %(objectname)", f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"
    )
    pairs = (line.rpartition(" ") for line in said.decode("utf-8", "surrogateescape").splitlines())
    return {name: commit for name, _, commit in pairs}


def _refuse_missing(primary: Repo, path: Path, branch: str, *, half: bool) -> None:
    """Refuse while a registration stands in the way whose tree is gone: maybe it was moved, with work in it.

    Only what a killed run of ours began, and git never finished, holds nothing of anybody's.
    """
    if not admin_folders(primary):
        return
    for tree in primary.worktrees()[1:]:
        here = os.path.realpath(tree.path) == os.path.realpath(path)
        if tree.bare or not (here or tree.branch == branch) or os.path.lexists(tree.path / ".git"):
            continue
        admin = admin_of(primary, tree.path)
        if admin is None or (half and here and (_is_initializing(admin) or not (admin / "index").exists())):
            continue
        from morph_tasks.fleet.removal import refuse_moved

        refuse_locked(admin, tree.path)
        refuse_moved(primary, tree.path, admin)
        raise missing(tree.path, admin)


def _clear_half(primary: Repo, plan: TreePlan, before: list[str]) -> Path | None:
    """Put what a killed git left out of the way, and forget its registration; return where the files are now."""
    aside = None
    if os.path.lexists(plan.path):
        from morph_tasks.fleet.stamps import new_stamp

        aside = plan.path.with_name(f".half-{plan.path.name[:40]}-{new_stamp()}")
        os.rename(plan.path, aside)
    for admin in admin_folders(primary):
        # Killed before git wrote whose it is: told by its name, and by having appeared since.
        mine = admin.name not in before and admin.name.startswith(plan.path.name) and not _reads(admin / "gitdir")
        begun = _is_initializing(admin) or not _reads(admin / "locked")
        if admin == admin_of(primary, plan.path) or (mine and begun):
            if aside is None and (admin / "index").exists():
                retire(primary, admin)
            shutil.rmtree(admin)
    return aside


def _judge(aside: Path, tree: Path) -> list[str]:
    """Delete what a killed git had checked out; what is not in the new tree stays, and is told."""
    for parent, folders, files in os.walk(aside):
        for name in (*files, *(one for one in folders if os.path.islink(os.path.join(parent, one)))):
            old = Path(parent, name)
            inside = old.relative_to(aside)
            if str(inside) != ".git" and not _is_begun(old, tree / inside):
                return [f"{aside} holds {inside}, which no run of ours can have written: it is left there"]
    shutil.rmtree(aside)
    return []


def _is_begun(old: Path, new: Path) -> bool:
    """Tell whether a file is the beginning of another one, as a kill leaves it."""
    try:
        if old.is_symlink() or new.is_symlink():
            return os.readlink(old) == os.readlink(new)
        with open(old, "rb") as one, open(new, "rb") as other:
            while part := one.read(1 << 20):
                if other.read(len(part)) != part:
                    return False
    except OSError:
        return False
    return True


def _add(primary: Repo, plan: TreePlan) -> list[str]:
    if plan.track:
        words = ["--track", "-b", plan.branch, str(plan.path), f"refs/remotes/{plan.track}"]
    elif plan.start:
        words = ["--no-track", "-b", plan.branch, str(plan.path), plan.start]
    else:
        words = [str(plan.path), plan.branch]
    heard, moves = marker.heard(primary, plan.key), ref_moves(primary, plan.branch, config=bool(plan.track))
    with without_retired(primary), heard, moves as git:
        done = git.run("worktree", "add", "-q", *words, ok=range(256))
    if done.code == 0:
        return []
    said = tail(done)
    # A post-checkout hook that fails gives git its exit code although the tree is there.
    if is_whole(primary, plan.path):
        return [f"the work tree is there, but git ended with an error: {said}"]
    what = f"git could not make the work tree {plan.path}: {said}"
    raise Refusal("worktree-failed", what, fix="settle what git says, then run the same command again")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal("write-failed", f"{path} could not be made: {error.strerror or error}") from error


def _take_back(primary: Repo, plan: TreePlan) -> None:
    """Remove what this run made; of a tree that an earlier run began, nothing."""
    if plan.half:
        return
    if os.path.lexists(plan.path):
        done = primary.run("worktree", "remove", "--force", str(plan.path), ok=range(256))
        if done.code and os.path.lexists(plan.path / ".git"):
            return  # the marker stays: a second run takes it up
    if plan.start:
        primary.run("update-ref", "-d", f"refs/heads/{plan.branch}", plan.start, ok=range(256))
    if plan.track:
        primary.run("config", "--remove-section", f"branch.{plan.branch}", ok=range(256))
    with suppress(OSError):  # not empty: it was there before
        plan.path.parent.rmdir()
    marker.drop(primary, plan.key)


def _reads(path: Path) -> bytes:
    """Return the content of a small file; empty when it is torn or not there."""
    with suppress(OSError):
        return path.read_bytes().strip()
    return b""


def _is_initializing(admin: Path) -> bool:
    with suppress(OSError):
        return (admin / "locked").read_bytes().strip() == INITIALIZING.encode()
    return False
