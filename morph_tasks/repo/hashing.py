"""Digests of single files, and the cache that spares reading them again."""

from __future__ import annotations

import errno
import os
import stat
import time

from morph_tasks.repo import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hashlib
    from collections.abc import Callable

_TRUSTED_AFTER_NS = 50_000_000  # longer than the tick of any file system's clock that has fractions of a second
_MOST_UNUSED = 4096
_CHUNK = 1 << 20
_WORTH_OPENSSL = 1 << 19


class StatCache:
    """Values that hold for a file as long as its mode, size, times and inode are the same.

    `about` names all else that the values depend on: a file written under another one is forgotten.
    """

    __slots__ = ("_about", "_dirty", "_file", "_known", "_used")

    def __init__(self, file: str, about: bytes = b"") -> None:
        self._file = file
        self._about = private.digest(b"stat cache 1 " + about).encode()
        self._known: dict[bytes, tuple[bytes, bytes]] = {}
        self._used: dict[bytes, tuple[bytes, bytes]] = {}
        self._dirty = False
        head, *records = private.read_sealed(file) or [b""]
        if head == self._about:
            for record in records:
                seen, value, path = record.split(b" ", 2)
                self._known[path] = (seen, value)

    def get(self, path: bytes, about: os.stat_result) -> bytes | None:
        """Return the value kept for this state of the file."""
        kept = self._known.get(path)
        if kept is None or kept[0] != private.text_of(about):
            return None
        self._used[path] = kept
        return kept[1]

    def put(self, path: bytes, before: os.stat_result, after: os.stat_result, value: bytes, when: int) -> None:
        """Keep a value, a word, read between two looks at the file, the first at `when` (`time.time_ns`).

        A file that was touched just then is not kept: it could change again within one tick of the clock.
        """
        seen = private.text_of(before)
        if seen == private.text_of(after) and max(before.st_mtime_ns, before.st_ctime_ns) + _TRUSTED_AFTER_NS < when:
            self._used[path] = (seen, value)
            self._dirty = True

    def save(self) -> None:
        """Write what is new; raises OSError."""
        unused = [path for path in self._known if path not in self._used]
        if not self._dirty and len(unused) <= _MOST_UNUSED:
            return
        kept = {path: self._known[path] for path in unused[-_MOST_UNUSED:]} | self._used
        records = [b" ".join((*pair, path)) for path, pair in kept.items()]
        private.write_sealed(self._file, [self._about, *records])
        self._dirty = False


def digest_path(path: str, cache: StatCache | None = None) -> str:
    """Return the SHA-256 of a file's content, links followed, as 64 hex digits.

    With a cache, an untouched file is not read again; `cache.save()` is the caller's. Raises
    FileNotFoundError when there is no such file, and Refusal `unreadable-file` when it cannot be read.
    """
    name = os.fsencode(os.path.abspath(path))
    try:
        when = time.time_ns()
        before = os.stat(name)
        known = cache.get(name, before) if cache else None
        if known is not None:
            return known.decode()
        found = _sha256_of(name)
        if cache:
            cache.put(name, before, os.stat(name), found.encode(), when)
    except FileNotFoundError:
        raise
    except OSError as error:
        from morph_tasks.errors import Refusal

        raise Refusal("unreadable-file", f"{path} cannot be read: {error.strerror or error}") from None
    return found


def blob_id(data: bytes, digits: int) -> str:
    """Return the id of a git blob that holds these very bytes; `digits` tells SHA-1 (40) from SHA-256 (64)."""
    return git_hash(b"blob %d\0" % len(data) + data, digits, len(data)).hexdigest()


def file_blob_id(path: bytes, size: int, digits: int) -> str:
    """Return the id of a git blob with the bytes of a file as they are; raises OSError."""
    with open(path, "rb", opener=_open_plain) as file:
        running = git_hash(b"blob %d\0" % size, digits, size)
        while chunk := file.read(_CHUNK):
            running.update(chunk)
    return running.hexdigest()


def git_hash(data: bytes, digits: int, size: int) -> hashlib._Hash:
    """Start git's hash, SHA-1 for ids of 40 digits, else SHA-256, over `size` bytes in the end."""
    if digits == 40 and size < _WORTH_OPENSSL:
        sha1 = _light_sha1()
        if sha1:
            return sha1(data, usedforsecurity=False)
    import hashlib

    return hashlib.sha1(data, usedforsecurity=False) if digits == 40 else hashlib.sha256(data)


def _light_sha1() -> Callable[..., hashlib._Hash] | None:
    """Return the C function that needs no OpenSSL, which takes longer to load than a small file to hash."""
    try:
        return vars(__import__("_sha1"))["sha1"]  # type: ignore[no-any-return]
    except ImportError:
        return None


def _sha256_of(path: bytes) -> str:
    from hashlib import sha256

    running = sha256()
    with open(path, "rb", opener=_open_plain) as file:
        while chunk := file.read(_CHUNK):
            running.update(chunk)
    return running.hexdigest()


def _open_plain(path: str | bytes, flags: int) -> int:
    """Open a regular file; anything else could block, or never end."""
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return fd
