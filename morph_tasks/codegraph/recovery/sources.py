"""Read the files that the graph knows: inside the tree, of a language that is read, not too large and not generated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from morph_tasks.codegraph.recovery import languages
from morph_tasks.codegraph.recovery.model import Facts

_LARGEST = 1024 * 1024
_LONGEST_LINE = 20_000  # only machines write such lines


def read(
    root: Path, paths: Iterable[str], watched: Mapping[str, Collection[int]] | None = None
) -> tuple[list[Facts], list[str]]:
    """Return what each file says, and those that could not be read; `watched`: lines whose names are asked for."""
    found, failed = [], []
    for path in sorted(paths):
        reader = languages.reader(path)
        if reader is None:
            continue
        try:
            source = _source(root, path)
            if source is None:
                continue
            found.append(reader(path, source, frozenset((watched or {}).get(path, ()))))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            failed.append(path)
    return found, failed


def _source(root: Path, path: str) -> bytes | None:
    """Return a file's bytes; None for what is outside of the tree, gone, too large or minified; raises OSError."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import confined

    try:
        place = confined(root, path)
        if not place.is_file() or place.stat().st_size > _LARGEST:
            return None
    except (ValueError, Refusal):
        return None
    try:
        source = place.read_bytes()
    except FileNotFoundError:
        return None
    return None if max(map(len, source.split(b"\n")), default=0) > _LONGEST_LINE else source
