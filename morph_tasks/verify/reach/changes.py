"""What the work of a feature changed: the hunks of each file against its base, removed lines included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.added import HUNK, diff_since, path_of

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_PROSE = re.compile(rb"\s*(?:#(?![!\[])|//|/\*|\*)")


@dataclass(frozen=True)
class Hunk:
    """Lines of a file as it is now, `count` of them from `first` on; with none, what went stood behind `first`.

    `removed` is how many lines went that were neither blank nor a comment.
    """

    first: int
    count: int
    removed: int

    @property
    def lines(self) -> range:
        return range(self.first, self.first + self.count)


@dataclass(frozen=True)
class Change:
    """One changed file; one that is gone has no hunks."""

    path: str
    hunks: tuple[Hunk, ...]
    gone: bool = False


def changes(repo: Repo, base: str) -> list[Change]:
    """Return what differs from the tree `base`; a file that only moved does not. Raises ProcError."""
    return list(parse_changes(diff_since(repo, base, deleted=True)))


def parse_changes(diff: bytes) -> Iterator[Change]:
    """Yield the files of a diff without context."""
    for part in _files(diff.split(b"\n")):
        old = new = first = count = removed = 0
        path: str | None = None
        before: str | None = None
        hunks: list[Hunk] = []
        for line in part:
            if old > 0 and line.startswith(b"-"):
                old -= 1
                removed += bool(line[1:].strip()) and not _PROSE.match(line[1:])
            elif new > 0 and line.startswith(b"+"):
                new -= 1
            elif hit := HUNK.match(line):
                if count or removed:
                    hunks.append(Hunk(first, count, removed))
                old, first, new, removed = int(hit[1] or 1), int(hit[2]), int(hit[3] or 1), 0
                count = new
            elif line.startswith(b"--- "):
                before = path_of(line[4:], b"a/")
            elif line.startswith(b"+++ "):
                path = path_of(line[4:])
        if count or removed:
            hunks.append(Hunk(first, count, removed))
        if path is not None and hunks:
            yield Change(path, tuple(hunks))
        elif path is None and before is not None:
            yield Change(before, (), gone=True)


def _files(lines: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of each file; a line of content never begins like a header, for its sign comes first."""
    part: list[bytes] = []
    for line in lines:
        if line.startswith(b"diff --git "):
            yield part
            part = []
        part.append(line)
    yield part
