"""Files that are whole or absent, and locks between processes."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal

_LOCK_POLL_S = 0.02


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write beside, sync, then rename: a reader sees the old file or the new one.

    Keeps the mode of a file that exists. Raises Refusal `write-failed` and leaves nothing behind.
    """
    import tempfile

    temporary = None
    try:
        # A link to the real place (a shared folder) stays a link.
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            mode = target.stat().st_mode & 0o777
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        what = f"{path} could not be written: {error.strerror or error}"
        raise Refusal("write-failed", what, fix=f"make room, and get the right to write, in {path.parent}") from error
    finally:
        if temporary:
            with suppress(OSError):  # gone already when the rename took place
                os.unlink(temporary)


def to_json(obj: Any) -> bytes:
    """Return the JSON form that this tool writes: two spaces, UTF-8, a final newline."""
    try:
        return (json.dumps(obj, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # a path that is not UTF-8: its bytes survive as escapes
        return (json.dumps(obj, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def write_json(path: Path, obj: Any, *, mode: int = 0o644) -> None:
    """Write a JSON file that is whole or absent."""
    write_atomic(path, to_json(obj), mode=mode)


def read_json(path: Path) -> Any:
    """Read a JSON file; raises FileNotFoundError, or Refusal `corrupt-file` with line and column, `unreadable-file`."""
    return parse_json(read_file(path), path)


def read_file(path: Path, *, shown: str = "") -> bytes:
    """Read a regular file; raises FileNotFoundError, or Refusal `unreadable-file` that calls it `shown`."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            # A pipe or a device would be read for ever.
            raise Refusal("unreadable-file", f"{shown or path} cannot be read: it is not a file")
        return path.read_bytes()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise FileNotFoundError(error.errno, error.strerror, str(path)) from None
        raise Refusal("unreadable-file", f"{shown or path} cannot be read: {error.strerror}") from error


def parse_json(data: bytes, path: Path, *, unique: bool = False) -> Any:
    """Parse JSON bytes (a BOM is allowed); raises Refusal `corrupt-file` naming the place.

    `unique`: refuse an object with the same key twice, of which a parser would keep the last without a word.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_doubles if unique else None)
    except json.JSONDecodeError as error:
        where, why = f"{path}:{error.lineno}:{error.colno}", error.msg
    except UnicodeDecodeError:
        where, why = str(path), "not UTF-8 text"
    except RecursionError:
        where, why = str(path), "nested too deeply"
    except ValueError as error:  # a number with thousands of digits, a key that is there twice
        where, why = str(path), str(error).partition(";")[0]
    raise Refusal("corrupt-file", f"{where}: not valid JSON ({why})", fix="repair the file, or restore it from git")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {max(names, key=names.count)!r} is there twice")
    return found


@contextmanager
def locked(path: Path, *, wait_s: float, what: str) -> Iterator[None]:
    """Hold a lock between processes; raises Refusal `busy` (exit 3) when it is not free in time.

    The kernel gives it back when its holder dies. The file stays: whoever deletes it would split the lock in two.
    """
    fd, taken = open_lock(path, wait_s)
    try:
        if not taken:
            raise Refusal(
                "busy", f"{what} is in use by another process", fix="wait for it to end and try again", exit_code=3
            )
        yield
    finally:
        _release(fd)


def open_lock(path: Path, wait_s: float) -> tuple[int, bool]:
    """Open a lock file and take it; returns the open file and whether it was free in time.

    Raises Refusal `state-unwritable`.
    """
    fd = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return fd, try_lock(fd, wait_s)
    except OSError as error:
        if fd is not None:
            os.close(fd)
        what = f"the lock {path} cannot be taken: {error.strerror or error}"
        raise Refusal("state-unwritable", what, fix=f"make {path.parent} a folder that you can write") from None


def _release(fd: int) -> None:
    import fcntl

    # Not by closing alone: a process that was forked meanwhile holds the file, too.
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def try_lock(fd: int, wait_s: float) -> bool:
    """Take the kernel's lock of an open file; tells whether it was free in time."""
    import fcntl
    import time

    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOCK_POLL_S)
        else:
            return True


def confined(root: Path, relative: str) -> Path:
    """Return the path inside `root`; raises Refusal `path-outside-tree` when it leads out, links followed."""
    top = Path(os.path.realpath(root))
    path = Path(os.path.realpath(top / relative))
    if path != top and top not in path.parents:
        raise Refusal("path-outside-tree", f"{relative!r} leads outside {root}", fix="name a path inside the tree")
    return path
