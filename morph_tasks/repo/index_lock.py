"""The index of a tree, held as git holds it, in a way that a killed run cannot block the tree for ever.

Git tells only from the file `index.lock` that somebody writes the index. Ours says so inside, and a lock of the kernel
tells whether its writer still lives.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import try_lock

if TYPE_CHECKING:
    from morph_tasks.proc import Completed
    from morph_tasks.repo.git import Repo

OURS = b"morph-spec holds this index\n"
_COPY, _LOCK = "morph-index", "morph-lock"
WAIT_S = 5.0


@contextmanager
def held_index(repo: Repo, *, wait_s: float = WAIT_S) -> Iterator[str]:
    """Hold the index as git does and yield the path of a copy to work on, with `beside`.

    The copy takes the index's place when the block ends well. Raises Refusal `index-locked` (exit 3), `write-failed`.
    """
    lock = repo.git_dir / "index.lock"
    with _guard(repo, wait_s) as alone:
        _take(repo, lock, alone=alone)
        copy = str(repo.git_dir / _COPY)
        try:
            _copy_index(repo, copy)
            yield copy
            if os.path.exists(copy):
                os.replace(copy, repo.git_dir / "index")
        finally:
            _remove(copy)
            lock.unlink(missing_ok=True)


@contextmanager
def index_copy(repo: Repo) -> Iterator[str]:
    """Yield the path of a copy of the index to try something on, with `beside`; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="morph-index-") as folder:
        copy = os.path.join(folder, "index")
        _copy_index(repo, copy)
        yield copy


def beside(repo: Repo, index: str, *args: str, stdin: bytes = b"") -> Completed:
    """Run git on another index, whatever its exit code is.

    Without the watcher of file systems: git would start it, and it would keep what it inherits for ever.
    """
    words = ("-c", "core.fsmonitor=false", *args)
    return repo.lightly().run(*words, ok=range(256), stdin=stdin, env={"GIT_INDEX_FILE": index})


def refuse_held(git_dir: Path, tree: Path) -> None:
    """Raise Refusal `index-locked` (exit 3) while another program holds the index of a tree.

    What a killed run of ours left is no obstacle: whoever holds the index next takes it over.
    """
    lock = git_dir / "index.lock"
    if os.path.lexists(lock) and not is_ours(lock):
        raise locked(lock, tree)


def is_ours(lock: Path) -> bool:
    """Tell whether an `index.lock` was made by this tool."""
    with suppress(OSError):
        return lock.read_bytes() == OURS
    return False


def locked(lock: Path, tree: Path) -> Refusal:
    """Return the refusal of a tree whose index is held."""
    what = f"another git command works on {tree} ({lock} exists)"
    return Refusal("index-locked", what, fix=f"let it end; if none runs: rm {shlex.quote(str(lock))}", exit_code=3)


@contextmanager
def _guard(repo: Repo, wait_s: float) -> Iterator[bool]:
    """Hold the lock that tells a living writer from a dead one; the git that it starts holds it, too.

    Yields whether it is held: something that a hook left running may have inherited it. Only what is in doubt is
    waited for.
    """
    import fcntl

    path, lock = repo.tree_state / "index.guard", repo.git_dir / "index.lock"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Refusal("write-failed", f"{path} could not be written: {error.strerror or error}") from error
    held = False
    try:
        held = try_lock(fd, wait_s if os.path.lexists(lock) else 0)
        os.set_inheritable(fd, held)
        yield held
    finally:
        if held:
            fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def _take(repo: Repo, lock: Path, *, alone: bool) -> None:
    """Make `index.lock`; `alone`: one of ours that lies there is that of a dead run."""
    named = repo.git_dir / f"{_LOCK}-{os.getpid()}"
    try:
        named.write_bytes(OURS)
        try:
            if alone and is_ours(lock):
                lock.unlink()
            # By a link, so that the lock never is there without the words that tell whose it is.
            os.link(named, lock)
        finally:
            named.unlink()
    except FileExistsError:
        raise locked(lock, repo.root) from None
    except OSError as error:
        raise Refusal("write-failed", f"{lock} could not be written: {error.strerror or error}") from error


def _copy_index(repo: Repo, copy: str) -> None:
    """Copy the index with its time, by which git knows files that changed right after it was written."""
    _remove(copy)
    with suppress(FileNotFoundError):
        shutil.copy2(repo.git_dir / "index", copy)


def _remove(copy: str) -> None:
    for left in (copy, f"{copy}.lock"):
        with suppress(FileNotFoundError):
            os.unlink(left)
