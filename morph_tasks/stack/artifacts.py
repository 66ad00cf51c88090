"""Keep what failed specs left (traces, screenshots, videos) beside the evidence: private, bounded, no link followed."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_FILES = 60
LARGEST_FILE = 50 << 20  # bytes
LARGEST_SUM = 200 << 20  # bytes
_CHUNK = 1 << 20
_MOST_SEEN = 5_000
_LONGEST_NAME = 120
# What the reporter keeps for itself.
_NOT_KEPT = frozenset({".last-run.json"})


@dataclass(frozen=True)
class Wanted:
    """A file to keep, and the test that left it ("" when nobody knows)."""

    path: Path
    test: str = ""


@dataclass(frozen=True)
class Kept:
    """What was kept, as absolute paths, and what was not, and why."""

    paths: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


class _LeftOutError(Exception):
    """Why one file is not kept."""


def keep(wanted: Sequence[Wanted], within: Sequence[Path], beside: Path) -> Kept:
    """Copy files that lie below one of the folders `within` to `<beside>.artifact-01-<test>-<name>`, mode 0600.

    A file is read only if no part of its path below the folder is a link. What is too large, too many or not a plain
    file is named in the warnings.
    """
    kept: list[Path] = []
    left: list[str] = []
    total = 0
    tops = [Path(os.path.realpath(folder)) for folder in within]
    for one in _each_once(wanted):
        try:
            if len(kept) >= MOST_FILES:
                raise _LeftOutError(f"{MOST_FILES} files are kept already")
            target = beside.with_name(f"{beside.name}.artifact-{len(kept) + 1:02}-{_label(one)}")
            total += _copy(one.path, tops, target, LARGEST_SUM - total)
        except _LeftOutError as reason:
            left.append(f"{one.path.name}: {reason}")
            continue
        kept.append(target)
    return Kept(tuple(kept), tuple(_said(left)))


def whatever_is_in(folder: Path) -> list[Wanted]:
    """Return the plain files below a folder, for a run that did not come to telling which test left what."""
    found: list[Wanted] = []
    for top, folders, files in os.walk(folder):
        folders.sort()
        found += [Wanted(Path(top, name), Path(top).name) for name in sorted(files) if name not in _NOT_KEPT]
        if len(found) > _MOST_SEEN:
            break
    return found


def _each_once(wanted: Sequence[Wanted]) -> Iterator[Wanted]:
    seen: set[str] = set()
    for one in wanted:
        if str(one.path) not in seen:
            seen.add(str(one.path))
            yield one


def _label(one: Wanted) -> str:
    stem, ending = os.path.splitext(one.path.name)
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{one.test} {stem}").strip("-")[-_LONGEST_NAME:].strip("-")
    return (name or "file").lower() + re.sub(r"[^A-Za-z0-9.]", "", ending)[:12]


def _said(left: list[str]) -> list[str]:
    if not left:
        return []
    more = f", and {len(left) - 5} more" if len(left) > 5 else ""
    return [f"not kept with the evidence: {'; '.join(left[:5])}{more}"]


def _copy(path: Path, tops: Sequence[Path], target: Path, room: int) -> int:
    """Copy one file; returns its size in bytes."""
    source = _opened(path, tops)
    try:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode):
            raise _LeftOutError("it is no plain file")
        if status.st_size > LARGEST_FILE:
            raise _LeftOutError(f"it is larger than {LARGEST_FILE >> 20} MiB")
        if status.st_size > room:
            raise _LeftOutError(f"all files together are larger than {LARGEST_SUM >> 20} MiB")
        return _write(source, target, min(LARGEST_FILE, room))
    finally:
        os.close(source)


def _write(source: int, target: Path, most: int) -> int:
    """Write beside and rename; a file that grows while it is read is cut off by `most`, and then not kept."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    done = 0
    try:
        out = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with open(out, "wb") as file:
            while chunk := os.read(source, _CHUNK):
                done += len(chunk)
                if done > most:
                    raise _LeftOutError("it grows while it is read")
                file.write(chunk)
        os.replace(temporary, target)
    except OSError as error:
        raise _LeftOutError(f"it could not be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
    return done


def _opened(path: Path, tops: Sequence[Path]) -> int:
    """Open a file below one of the folders, step by step, so that no link is followed, not even one put there now."""
    parts = _below(path, tops)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        at = os.open(parts[0], flags | os.O_DIRECTORY)
        for place, name in enumerate(parts[1:], 1):
            last = place == len(parts) - 1
            try:
                inner = os.open(name, flags | (os.O_NONBLOCK if last else os.O_DIRECTORY), dir_fd=at)
            finally:
                os.close(at)
            at = inner
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR)
        raise _LeftOutError("it is, or lies behind, a link" if link else f"{error.strerror}".lower()) from None
    return at


def _below(path: Path, tops: Sequence[Path]) -> list[str]:
    """Return a folder of `tops`, then the names that lead from it to the file."""
    # The folders above may be reached through links (/tmp on a Mac); those below may not.
    plain = os.path.normpath(path)
    for top in tops:
        for spelled in _spellings(plain, top):
            rest = os.path.relpath(spelled, top)
            if not rest.startswith(os.pardir) and rest != os.curdir:
                return [str(top), *rest.split(os.sep)]
    raise _LeftOutError("it lies outside of the folders of this run")


def _spellings(plain: str, top: Path) -> Iterator[str]:
    yield plain
    for above in Path(plain).parents:
        if os.path.realpath(above) == str(top):
            yield str(top / os.path.relpath(plain, above))
