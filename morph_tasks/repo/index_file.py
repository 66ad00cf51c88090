"""The bytes of an index file: whether it is whole, and which of its entries cannot be trusted yet."""

from __future__ import annotations

from morph_tasks.repo.hashing import git_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = 12
_HASH_SIZES = (20, 32)
# Where an entry keeps what, from its start: ctime first.
_MODE, _SIZE, _END_OF_SIZE = 24, 36, 40
_FILES_AND_LINKS = tuple(mode.to_bytes(4, "big") for mode in (0o100644, 0o100755, 0o120000))


def is_whole(data: bytes) -> bool:
    """Check the checksum at the end; all zeros stand for none (`index.skipHash`)."""
    return data[:4] == b"DIRC" and (data.endswith(bytes(_HASH_SIZES[0])) or _hash_size(data) > 0)


def doubted(data: bytes, seconds: range) -> bytes | None:
    """Return the index with a closer look ordered at all whose inode changed in those seconds.

    Git compares whole seconds, and its own rule against that looks at the mtime alone: what was looked
    at, then changed with its mtime put back, all within one second, would pass for unchanged. An entry
    without a size is one that git reads again; an extension it does not know is one that it makes again.
    None when there is nothing to doubt.
    """
    words = [second.to_bytes(4, "big") for second in seconds]
    found = [at for word in words for at in _entries_of(data, word)]
    folders = _folders_of(data, words)
    if not found and not folders:
        return None
    changed = bytearray(data)
    for at in found:
        changed[at + _SIZE : at + _END_OF_SIZE] = bytes(4)
    if folders:
        changed[folders : folders + 4] = b"DROP"
    size = _hash_size(data)
    if size:
        changed[-size:] = git_hash(bytes(changed[:-size]), 2 * size, len(data)).digest()
    return bytes(changed)


def _entries_of(data: bytes, ctime: bytes) -> Iterator[int]:
    """Yield where the entries start that begin with these bytes: each follows a NUL and has a mode in its place."""
    at = data.find(ctime, _HEADER)
    while at >= 0:
        if (at == _HEADER or data[at - 1] == 0) and data[at + _MODE : at + _MODE + 4] in _FILES_AND_LINKS:
            yield at
        at = data.find(ctime, at + 1)


def _folders_of(data: bytes, ctimes: list[bytes]) -> int:
    """Return where the untracked cache starts if it holds a folder that changed then and has an older mtime; else 0."""
    start = data.find(b"UNTR", _HEADER)
    while start >= 0:
        end = start + 8 + int.from_bytes(data[start + 4 : start + 8], "big")
        if end <= len(data) - _HASH_SIZES[0]:
            break
        start = data.find(b"UNTR", start + 1)
    else:
        return 0
    for word in ctimes:
        at = data.find(word, start, end)
        while at >= 0:
            # Each looks like ctime and mtime, seconds and fraction: this is the one with the other beside it, or alone.
            if data[at + 8 : at + 12] not in ctimes and data[at - 8 : at - 4] not in ctimes:
                return start
            at = data.find(word, at + 1, end)
    return 0


def _hash_size(data: bytes) -> int:
    for size in _HASH_SIZES:
        if git_hash(data[:-size], 2 * size, len(data)).digest() == data[-size:]:
            return size
    return 0
