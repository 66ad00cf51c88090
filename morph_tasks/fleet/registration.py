"""What git keeps of a linked work tree in `<common>/worktrees/<id>/`: found by its path, and given up for it alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError, tail
from morph_tasks.repo.halfmade import admin_folders

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

KEPT = "refs/morph-spec/kept"
RETIRED = "retired-ids"


@dataclass(frozen=True)
class Kept:
    """A reference that was made so that something survives, and its commit."""

    ref: str
    commit: str

    def as_json(self) -> dict[str, str]:
        return {"ref": self.ref, "commit": self.commit}


def admin_of(repo: Repo, path: Path) -> Path | None:
    """Return the folder in which git keeps the registration of a tree; None when it has none."""
    wanted = os.path.realpath(path)
    return next((folder for folder in admin_folders(repo) if _is_place(place_of(folder), wanted)), None)


def place_of(admin: Path) -> Path | None:
    """Return where a registration says its tree is; None when it does not say."""
    try:
        pointer = os.fsdecode((admin / "gitdir").read_bytes()).rstrip("\r\n")
    except OSError:
        return None
    return Path(os.path.join(admin, pointer)).parent


def correct_place(admin: Path, tree: Path) -> None:
    """Have a registration name a tree again: git corrects it by itself to wherever it meets the tree."""
    from morph_tasks.repo.files import write_atomic

    if not _is_place(place_of(admin), os.path.realpath(tree)):
        write_atomic(admin / "gitdir", os.fsencode(tree / ".git") + b"\n")


def deregister(repo: Repo, path: Path) -> None:
    """Have git forget one tree whose folder is not there; raises Refusal `deregistration-failed`.

    Not by `prune`, which forgets all whose folders are not there, the ones that were moved included.
    """
    if os.path.lexists(path):
        raise Refusal("deregistration-failed", f"{path} is there again", fix=f"look at {path}")
    wanted = os.path.realpath(path)
    named = next((tree.path for tree in repo.worktrees() if os.path.realpath(tree.path) == wanted), path)
    done = repo.run("worktree", "remove", str(named), ok=range(256))
    if admin_of(repo, path) is None:
        return
    what = f"git did not forget the work tree {path}: {tail(done)}"
    raise Refusal("deregistration-failed", what, fix=f"git worktree remove {path}")


def missing(path: Path, admin: Path) -> Refusal:
    """Return the refusal `worktree-missing` of a registration in the way: a moved tree looks like a deleted one."""
    place = shlex.quote(str(path))
    return Refusal(
        "worktree-missing",
        f"git knows a work tree at {path}, and nothing is there: it was moved or deleted, and what it holds that is "
        "not committed cannot be seen from here",
        fix=f"git worktree repair <where it is now>, or if it was deleted: morph-spec worktree remove --target {place}",
        worktree=str(path),
        registration=str(admin),
    )


def retire(repo: Repo, admin: Path) -> None:
    """Note that an id must not be used again: a tree that was moved still has it, and would show another one's work.

    Raises Refusal `write-failed`.
    """
    folder = repo.store / RETIRED
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / admin.name).touch(mode=0o600)
    except OSError as error:
        raise Refusal("write-failed", f"{folder} could not be written: {error.strerror or error}") from error


@contextmanager
def without_retired(repo: Repo) -> Iterator[None]:
    """Keep git from using an id again: it takes the next one where a folder of that name is there."""
    held = []
    try:
        for name in os.listdir(repo.store / RETIRED) if (repo.store / RETIRED).is_dir() else ():
            place = repo.common_dir / "worktrees" / name
            with suppress(FileExistsError):
                place.mkdir(parents=True)
            held.append(place)
        yield
    finally:
        for place in held:
            with suppress(OSError):  # not empty: it is a registration that somebody made
                place.rmdir()
        with suppress(OSError):
            (repo.common_dir / "worktrees").rmdir()


def staged_only(repo: Repo, admin: Path) -> bool:
    """Tell whether the index of a tree without a folder holds what its HEAD does not; raises Refusal `git-failed`."""
    if not (admin / "index").exists():
        return False
    head = _ask(repo, admin, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", fails=True)
    base = head or _ask(repo, admin, "hash-object", "-t", "tree", "/dev/null")
    return bool(_ask(repo, admin, "diff-index", "--cached", "--raw", base))


def keep_staged(repo: Repo, admin: Path, name: str, stamp: str) -> Kept:
    """Commit what the index of a tree holds under a reference of its own; raises Refusal `staged-unkept`."""
    from morph_tasks.repo.merging import commit_tree

    head = _ask(repo, admin, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", fails=True)
    try:
        tree = _ask(repo, admin, "write-tree")
        said = f"Staged in the work tree {name} when its folder was gone"
        commit = commit_tree(repo, tree, [head] if head else [], said)
        ref = f"{KEPT}/{name}-{stamp}"
        repo.git("update-ref", "-m", said, ref, commit)
    except Refusal as error:
        what = f"what was staged in that work tree could not be kept: {error.what}"
        raise Refusal("staged-unkept", what, fix="git worktree repair, or restore the folder") from error
    return Kept(ref, commit)


def _is_place(place: Path | None, wanted: str) -> bool:
    return place is not None and os.path.realpath(place) == wanted


def _ask(repo: Repo, admin: Path, *args: str, fails: bool = False) -> str:
    try:
        return repo.text("--git-dir", str(admin), *args, ok=(0, 1, 128) if fails else (0,))
    except ProcError as error:
        said = tail(error.done) if error.done else error.what
        raise Refusal("git-failed", f"git cannot look into {admin}: {said}", fix="git worktree repair") from error
