"""Move a work tree from one commit to another, never over local changes; a move that was killed is taken up.

Git's own `reset --keep`, `switch` and `merge --ff-only` leave a lock and half of the files when they are killed, and
then refuse to go on.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError, tail
from morph_tasks.repo.branching import refuse_under_way
from morph_tasks.repo.index_lock import beside, held_index, index_copy, refuse_held
from morph_tasks.repo.overwrite import Known, changed_here, in_the_way, refuse_overwrite
from morph_tasks.repo.ref_lock import ref_moves

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_AGAIN = "run the same command again"
_ABSENT = b"000000"
_NONE = (_ABSENT, b"")


def refuse_move(repo: Repo, old: str, new: str, *, partly: bool = False, fix: str = "") -> None:
    """Raise the Refusal that `move_tree` would: `operation-in-progress`, `index-locked` (3), `would-overwrite`.

    Changes nothing.
    """
    refuse_held(repo.git_dir, repo.root)
    with index_copy(repo) as copy:
        move = _looked_at(repo, copy, old, new)
        if not move.arrived:
            _clear(repo, copy, move, partly=partly, act=False, fix=fix)


def move_tree(
    repo: Repo, old: str, new: str, *, to: str, message: str, partly: bool = False, again: str = _AGAIN
) -> None:
    """Bring files, index and HEAD of a tree from commit `old` to commit `new`, which the branch `to` is to hold.

    A branch that is checked out here moves along; another one has to be at `new` already, and HEAD goes to it.
    `partly`: an earlier run was killed in the middle, so a file that holds the beginning of its new content is no work
    of a person. `again`: the command that goes on from here. Raises Refusal `reference-refused`, `would-overwrite` and
    what `refuse_move` raises, before anything has changed.
    """
    with held_index(repo) as index:
        move = _looked_at(repo, index, old, new)
        if not move.arrived:
            _clear(repo, index, move, partly=partly, act=True, fix="")
        # The reference first: a hook that refuses it stops the move before any file changes.
        back = _move_head(repo, old, new, to, message, again)
        if move.arrived:
            return
        done = beside(repo, index, "read-tree", "-m", "-u", old, new)
        if done.code:
            repo.run(*back, ok=range(256))
            _refuse(repo, index, move, "")
            said = " ".join(done.stderr.decode("utf-8", "replace").split())
            raise Refusal("move-failed", f"{repo.root} could not be moved: {said}", fix=f"settle that, then {again}")


def adopted(repo: Repo, old: str, new: str) -> list[dict[str, Any]]:
    """Return the local files that a move from `old` to `new` takes over, since they hold what it brings.

    `{path, mode, staged}` each; a move back would take them away. Changes nothing.
    """
    with index_copy(repo) as copy:
        move = _looked_at(repo, copy, old, new)
        brought = {path: change for path, change in move.changes.items() if change.after != _NONE}
        staged = {path for path, change in brought.items() if move.staged.get(path, _NONE) == change.after}
        touched = set(beside(repo, copy, "diff-files", "-z", "--name-only").stdout.split(b"\0"))
        found = {
            path
            for path, change in brought.items()
            if path in touched or (change.before == _NONE and os.path.lexists(_at(repo, path)))
        }
        if found := found - staged:
            found &= set(_ready(repo, copy, old, new, partly=False))
    there = [path for path in sorted(found | staged) if os.path.lexists(_at(repo, path))]
    modes = [stat.S_IMODE(os.lstat(_at(repo, path)).st_mode) for path in there]
    return [
        {"path": os.fsdecode(path), "mode": mode, "staged": path in staged}
        for path, mode in zip(there, modes, strict=True)
    ]


class _Change(NamedTuple):
    """What two commits have at a path: mode and object id each."""

    before: tuple[bytes, bytes]
    after: tuple[bytes, bytes]


@dataclass(frozen=True)
class _Move:
    """A move and what git says of it before it begins.

    `arrived`: the index has; then a killed run had brought all files. `hides`: it keeps files from git's eyes.
    """

    old: str
    new: str
    changes: dict[bytes, _Change]
    staged: dict[bytes, tuple[bytes, bytes]]
    hides: bool

    @property
    def arrived(self) -> bool:
        return all(self.staged.get(path, _NONE) == change.after for path, change in self.changes.items())

    @property
    def known(self) -> Known:
        added = [os.fsdecode(path) for path, change in self.changes.items() if change.before == _NONE]
        return Known(added, self.staged, self.hides)


def _looked_at(repo: Repo, index: str, old: str, new: str) -> _Move:
    """Return a move as it stands; raises Refusal `operation-in-progress`."""
    listed = beside(repo, index, "ls-files", "-s", "-v", "-z").stdout.split(b"\0")[:-1]
    refuse_under_way(repo, unmerged=any(line.partition(b"\t")[0][-1:] not in (b"0", b"") for line in listed))
    # `H` is an ordinary entry; in lower case git takes it for unchanged, `S` it never looks at.
    hides = any(line[:1] == b"S" or line[:1].islower() for line in listed)
    staged = _entries(b"\0".join(line[2:] for line in listed))
    return _Move(old, new, _between(repo, old, new), staged, hides)


def _clear(repo: Repo, index: str, move: _Move, *, partly: bool, act: bool, fix: str) -> None:
    """Raise Refusal `would-overwrite` unless the tree can move.

    Files that hold content of `new` are no obstacle; with `act` they are removed, since git would not go over them.
    """
    old, new = move.old, move.new
    try:
        _refuse_refreshed(repo, index, move, fix)
    except Refusal as refusal:
        env = {"GIT_INDEX_FILE": index}
        ready = _ready(repo, index, old, new, partly=partly)
        left = {*in_the_way(repo, old, new, env=env), *changed_here(repo, old, new, env=env)}
        left -= {os.fsdecode(path) for path in ready}
        if left or not ready:
            refusal.payload["paths"] = sorted(left) or refusal.payload["paths"]
            raise
        if act:
            for path in ready:
                _unlink(repo, path)
            _refuse(repo, index, move, fix)


def _refuse_refreshed(repo: Repo, index: str, move: _Move, fix: str) -> None:
    """Refuse a move that cannot be made even once git has looked at the files that only seem to have changed."""
    with suppress(Refusal):
        return _refuse(repo, index, move, fix)
    beside(repo, index, "update-index", "-q", "--refresh")
    _refuse(repo, index, move, fix)


def _refuse(repo: Repo, index: str, move: _Move, fix: str) -> None:
    fix, env = fix or f"commit them in {repo.root}, or move them out of the way", {"GIT_INDEX_FILE": index}
    what = f"moving {repo.root}"
    refuse_overwrite(repo, move.old, move.new, what=what, fix=fix, env=env, known=move.known)


def _move_head(repo: Repo, old: str, new: str, to: str, message: str, again: str) -> tuple[str, ...]:
    """Move HEAD and return the words for git that take it back; raises Refusal `reference-refused`."""
    branch = repo.branch()
    back: tuple[str, ...] = ("update-ref", f"refs/heads/{to}", old, new)
    if branch != to:
        back = ("symbolic-ref", "HEAD", f"refs/heads/{branch}") if branch else ("update-ref", "--no-deref", "HEAD", old)
    try:
        with ref_moves(repo, to) as git:
            if branch != to:
                git.git("symbolic-ref", "-m", message, "HEAD", f"refs/heads/{to}")
            else:
                try:
                    git.git("update-ref", "-m", message, f"refs/heads/{to}", new, old)
                except ProcError:
                    if repo.head() != new:  # else a killed run had come so far
                        raise
        return back
    except ProcError as error:
        raise reference_refused(to, error, again) from error


def reference_refused(branch: str, error: ProcError, again: str) -> Refusal:
    """Return the refusal of a branch that git did not move; `again`: the command that goes on once that is settled.

    To move the branch by hand is no way out: a tree that has it checked out would stay behind.
    """
    said = tail(error.done) if error.done else error.what
    return Refusal("reference-refused", f"git did not move {branch}: {said}", fix=f"settle that, then {again}")


def _ready(repo: Repo, index: str, old: str, new: str, *, partly: bool) -> list[bytes]:
    """Return the paths that the index has as `old` and the disk as `new`, cut off files included where `partly`."""
    changes = _between(repo, old, new)
    staged = _entries(beside(repo, index, "ls-files", "-s", "-z").stdout)
    changes = {path: change for path, change in changes.items() if staged.get(path, _NONE) == change.before}
    lines = [b"%s %s\t%s\0" % (*change.after, path) for path, change in changes.items() if change.after != _NONE]
    with tempfile.TemporaryDirectory(prefix="morph-index-") as folder:
        scratch = os.path.join(folder, "index")
        beside(repo, scratch, "update-index", "-z", "--index-info", stdin=b"".join(lines))
        beside(repo, scratch, "update-index", "-q", "--refresh")
        differing = set(beside(repo, scratch, "diff-files", "-z", "--name-only").stdout.split(b"\0"))
    return [
        path
        for path, change in changes.items()
        if (_is_gone(repo, path) if change.after == _NONE else path not in differing)
        or (partly and _is_beginning(repo, path, change.after))
    ]


def _is_gone(repo: Repo, path: bytes) -> bool:
    """Tell whether no file is at a path; a folder can have come in its place."""
    place = _at(repo, path)
    return not os.path.lexists(place) or (os.path.isdir(place) and not os.path.islink(place))


def _unlink(repo: Repo, path: bytes) -> None:
    """Remove a file and the folders that are empty then: a folder may lie where a file has to be."""
    place = _at(repo, path)
    if not _is_gone(repo, path):
        os.unlink(place)
    with suppress(OSError):
        while (place := os.path.dirname(place)) != str(repo.root):
            os.rmdir(place)


def _between(repo: Repo, old: str, new: str) -> dict[bytes, _Change]:
    fields = repo.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new).split(b"\0")
    found = {}
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        words = about.removeprefix(b":").split()
        found[path] = _Change(_entry(words[0], words[2]), _entry(words[1], words[3]))
    return found


def _entries(listed: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    found = {}
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path:
            mode, oid, _ = about.split()
            found[path] = _entry(mode, oid)
    return found


def _entry(mode: bytes, oid: bytes) -> tuple[bytes, bytes]:
    return _NONE if mode == _ABSENT else (mode, oid)


def _is_beginning(repo: Repo, path: bytes, entry: tuple[bytes, bytes]) -> bool:
    """Tell whether a file holds the first bytes of its new content and no other."""
    place, (mode, oid) = _at(repo, path), entry
    if mode not in (b"100644", b"100755") or os.path.islink(place) or not os.path.isfile(place):
        return False
    asked = ("cat-file", "--filters", f"--path={os.fsdecode(path)}", oid.decode())
    done = repo.run(*asked, ok=range(256))
    return done.code == 0 and done.stdout.startswith(Path(place).read_bytes())


def _at(repo: Repo, path: bytes) -> str:
    return os.path.join(str(repo.root), os.fsdecode(path))
