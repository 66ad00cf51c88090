"""Delete a folder with all in it: links are unlinked and never followed, other file systems are never entered."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

# Each level costs an open file: what lies deeper is moved up first.
_DEEPEST = 64
MOUNTS = "/proc/self/mountinfo"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def delete(folder: Path) -> None:
    """Delete a folder, as much of it as can be; one that is gone already is fine. Raises the first OSError."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            os.unlink(folder)
            return
    except FileNotFoundError:
        return
    failed: list[OSError] = []
    top = _opened(str(folder), None)
    try:
        device = os.fstat(top).st_dev
        # Again and again: what was moved up is new there.
        while os.listdir(top) and not failed:
            _empty(top, top, device, 1, failed)
    finally:
        os.close(top)
    if failed:
        raise failed[0]
    os.rmdir(folder)


def mounts_below(folder: Path) -> list[Path]:
    """Return the places at and below a folder where something else is mounted; the kernel's list, where it has one."""
    top = os.path.realpath(folder)
    try:
        with open(MOUNTS, "rb") as file:
            places = [_unescaped(line.split(b" ")[4]) for line in file]
    except (OSError, IndexError):
        places = [top] if os.path.ismount(top) else []
    return sorted({Path(place) for place in places if place == top or place.startswith(top.rstrip(os.sep) + os.sep)})


def _empty(fd: int, top: int, device: int, depth: int, failed: list[OSError]) -> None:
    with os.scandir(fd) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        try:
            if not is_folder:
                os.unlink(name, dir_fd=fd)
            elif depth >= _DEEPEST:
                os.rename(name, f".deep-{os.urandom(12).hex()}", src_dir_fd=fd, dst_dir_fd=top)
            else:
                _empty_one(name, fd, top, device, depth, failed)
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append(error)


def _empty_one(name: str, fd: int, top: int, device: int, depth: int, failed: list[OSError]) -> None:
    inner = _opened(name, fd)
    try:
        if os.fstat(inner).st_dev != device:
            raise OSError(errno.EXDEV, "another file system is mounted there", name)
        before = len(failed)
        _empty(inner, top, device, depth + 1, failed)
    finally:
        os.close(inner)
    if len(failed) == before:
        os.rmdir(name, dir_fd=fd)


def _opened(name: str, fd: int | None) -> int:
    """Open a folder that may be read and written from now on: read-only ones belong to whoever may delete them."""
    try:
        handle = os.open(name, _OPEN, dir_fd=fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=fd)
        handle = os.open(name, _OPEN, dir_fd=fd)
    mode = os.fstat(handle).st_mode
    if mode & 0o700 != 0o700 and os.fstat(handle).st_uid == os.geteuid():
        os.fchmod(handle, 0o700)
    return handle


def _unescaped(place: bytes) -> str:
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), place))
