"""What an index was made from: the content of two files, and how to see cheaply that it is still the same."""

from __future__ import annotations

import os
import time

from morph_tasks.codegraph import layout
from morph_tasks.errors import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from threading import Thread

_TRUSTED_AFTER_NS = 50_000_000  # longer than the tick of any file system's clock that has fractions of a second
_ATTEMPTS = 3
ABSENT = "absent"


class Input:
    """One file as it was read: how it looked (`seen`, empty when it could change unnoticed), and its bytes."""

    __slots__ = ("_digest", "_thread", "data", "seen")

    def __init__(self, seen: str, data: bytes) -> None:
        self.seen = seen
        self.data = data
        self._digest = ABSENT
        self._thread: Thread | None = None
        if data:
            from threading import Thread

            # Beside the parsing: the digest of a large graph takes a third of the time of that, and another core.
            self._thread = Thread(target=self._compute)
            self._thread.start()

    def _compute(self) -> None:
        from hashlib import sha256

        self._digest = sha256(self.data).hexdigest()

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the bytes in hex; `absent` for an empty or absent file."""
        if self._thread is not None:
            self._thread.join()
        return self._digest


def look(path: Path | str) -> str:
    """Return size, times and inode of a file as one word, `absent` when there is none; raises OSError."""
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    return f"{about.st_size}-{about.st_mtime_ns}-{about.st_ctime_ns}-{about.st_ino}-{about.st_dev}"


def read(path: Path | str) -> Input:
    """Read a file whole, between two looks that agree; an absent one is empty. Raises Refusal `unreadable-file`."""
    from pathlib import Path

    from morph_tasks.repo.files import read_file

    for _ in range(_ATTEMPTS):
        when = time.time_ns()
        before = look(path)
        try:
            data = b"" if before == ABSENT else read_file(Path(path))
        except FileNotFoundError:
            continue
        if look(path) == before:
            return Input(before if settled(before, when) else "", data)
    fix = "wait until graphify has ended, then ask again"
    raise Refusal("graph-changing", f"{path} changes while it is read", fix=fix, exit_code=3)


def read_if_possible(path: Path | str) -> Input:
    """Read a file that can be done without; one that cannot be read is as good as absent."""
    try:
        return read(path)
    except (Refusal, OSError):
        return Input("", b"")


def settled(seen: str, when: int) -> bool:
    """Tell whether a file that is touched after `when` (nanoseconds) is sure to look different from this."""
    if seen == ABSENT:
        return True
    _, written, changed, *_ = seen.split("-")
    return max(int(written), int(changed)) + _TRUSTED_AFTER_NS < when


def inputs(root: Path | str) -> tuple[str, str]:
    """Return the files that an index is made from."""
    return f"{root}/{layout.GRAPH}", f"{root}/{layout.RECOVERED}"
