"""Files that only this tool reads: whole or absent, readable by their owner alone, rebuilt when they are not right."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:  # the C module spares the import of `hashlib` and of OpenSSL
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

TEMPORARY = ".tmp"


def digest(data: bytes) -> str:
    """Return 64 hex digits that stand for the bytes."""
    return blake2b(data, digest_size=32).hexdigest()


def wide_hash(data: bytes) -> int:
    """Return a number of 512 bits that stands for the bytes."""
    return int.from_bytes(blake2b(data).digest(), "little")


def make_folder(path: str) -> None:
    """Make a folder, and the one above it, for the owner alone."""
    if os.path.isdir(path):
        return
    for folder in (os.path.dirname(path), path):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if os.stat(folder).st_uid == os.geteuid():
                os.chmod(folder, 0o700)


def opener(path: str, flags: int) -> int:
    """Open for `open`: new files belong to their owner alone."""
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def temporary(path: str) -> str:
    """Return a name beside `path` that no other process uses."""
    return f"{path}-{os.getpid()}-{os.urandom(6).hex()}{TEMPORARY}"


def read(path: str) -> bytes:
    """Return the content, empty when there is none to be had."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def write(path: str, data: bytes, *, when: int = 0) -> None:
    """Replace a file; no reader ever sees a part of it. `when` gives it a time, in nanoseconds."""
    beside = temporary(path)
    try:
        with open(beside, "wb", opener=opener) as file:
            file.write(data)
        if when:
            os.utime(beside, ns=(when, when))
        os.replace(beside, path)
    except BaseException:
        remove(beside)
        raise


def read_sealed(path: str) -> list[bytes]:
    """Return the fields of a file that `write_sealed` wrote; none when it is torn, garbled or absent."""
    seal, _, body = read(path).partition(b"\n")
    return body.split(b"\0") if seal == digest(body).encode() else []


def write_sealed(path: str, fields: list[bytes]) -> None:
    """Write fields below a digest of them: without a sync, a crash may leave anything."""
    body = b"\0".join(fields)
    write(path, digest(body).encode() + b"\n" + body)


def remove(path: str) -> None:
    """Remove a file that may be gone already."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def stat_text(path: str) -> bytes:
    """Return what tells one state of a file from another without reading it; `none` when it is absent."""
    try:
        return text_of(os.stat(path))
    except OSError:
        return b"none"


def text_of(about: os.stat_result) -> bytes:
    """Return mode, size, times and inode as text."""
    return b"%o:%d:%d:%d:%d" % (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
