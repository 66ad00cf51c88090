"""The tree as a tar stream, made while it is sent: nothing of it is held in memory or written to the host."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from morph_tasks.verify.linux.listing import LINK, Entry

_CHUNK = 1 << 18
# What is sent at a time: tens of thousands of small files in pieces of their own cost three times as much.
_BATCH = 1 << 20
_BLOCK = tarfile.BLOCKSIZE


def tar_of(root: Path, entries: Iterable[Entry], prefix: str) -> Iterator[bytes]:
    """Yield a tar archive of the entries below `prefix`, in pieces of some size: owned by root, modes and links kept.

    What is gone, is no file, or lies behind a link that took the place of a folder is left out: whoever compares the
    tree before and after finds out. A file that shrinks or grows meanwhile keeps the size it had at first.
    """
    batch = bytearray()
    for piece in _pieces(root, entries, prefix):
        batch += piece
        if len(batch) >= _BATCH:
            yield bytes(batch)
            batch.clear()
    yield bytes(batch)


def _pieces(root: Path, entries: Iterable[Entry], prefix: str) -> Iterator[bytes]:
    top = os.fsencode(root)
    folders = _Folders(top, os.fsencode(prefix))
    yield from folders.up_to(b"")
    for entry in entries:
        parent, _, _ = entry.path.rpartition(b"/")
        if not folders.real(parent):
            continue
        yield from folders.up_to(parent)
        yield from _one(top + b"/" + entry.path, folders.prefix + b"/" + entry.path, entry.mode)
    yield bytes(2 * _BLOCK)


def tar_of_files(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a tar archive of small files: path in the container and content."""
    made: set[str] = set()
    for path, data in files:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in made:
                made.add(folder)
                yield _header(os.fsencode(folder), tarfile.DIRTYPE, 0o755, 0, 0)
        yield _header(os.fsencode(path), tarfile.REGTYPE, 0o644, len(data), 0) + data + bytes(-len(data) % _BLOCK)
    yield bytes(2 * _BLOCK)


class _Folders:
    """The folders on the way to the files: which are real, and which the archive has already."""

    def __init__(self, top: bytes, prefix: bytes) -> None:
        self.prefix = prefix
        self._top = top
        self._real: dict[bytes, bool] = {b"": True}
        self._sent: set[bytes] = set()

    def real(self, folder: bytes) -> bool:
        known = self._real.get(folder)
        if known is None:
            above = folder.rpartition(b"/")[0]
            known = self._real[folder] = self.real(above) and _is_folder(self._top + b"/" + folder)
        return known

    def up_to(self, folder: bytes) -> Iterator[bytes]:
        """Yield the headers of a folder and of those above it, as far as the archive does not have them."""
        if folder in self._sent:
            return
        if folder:
            yield from self.up_to(folder.rpartition(b"/")[0])
        self._sent.add(folder)
        try:
            info = os.lstat(self._top + b"/" + folder)
        except OSError:
            return
        path = self.prefix + b"/" + folder if folder else self.prefix
        # Others than the owner may be shut out on the host; in the container a suite may change its user.
        yield _header(path, tarfile.DIRTYPE, stat.S_IMODE(info.st_mode) | 0o755, 0, info.st_mtime)


def _one(place: bytes, path: bytes, mode: int | None) -> Iterator[bytes]:
    try:
        info = os.lstat(place)
        if stat.S_ISLNK(info.st_mode):
            yield _header(path, tarfile.SYMTYPE, 0o777, 0, info.st_mtime, os.readlink(place))
            return
        if not stat.S_ISREG(info.st_mode):
            return
        # Not waiting: a pipe may have taken the place of the file.
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        info = os.fstat(handle)
        if mode == LINK:
            yield _header(path, tarfile.SYMTYPE, 0o777, 0, info.st_mtime, os.read(handle, 1 << 16))
        elif stat.S_ISREG(info.st_mode):
            bits = stat.S_IMODE(mode or info.st_mode)
            yield _header(path, tarfile.REGTYPE, bits, info.st_size, info.st_mtime)
            yield from _content(handle, info.st_size)
    finally:
        os.close(handle)


def _content(handle: int, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = os.read(handle, min(_CHUNK, left))
        if not chunk:
            yield bytes(left)
            break
        left -= len(chunk)
        yield chunk
    if size % _BLOCK:
        yield bytes(-size % _BLOCK)


def _is_folder(path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _header(path: bytes, kind: bytes, mode: int, size: int, mtime: float, target: bytes = b"") -> bytes:
    info = tarfile.TarInfo(path.decode("utf-8", "surrogateescape"))
    info.type, info.mode, info.size, info.mtime = kind, mode, size, max(0, int(mtime))
    info.linkname = target.decode("utf-8", "surrogateescape")
    # GNU's form keeps names as bytes: those that are no UTF-8 too.
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
