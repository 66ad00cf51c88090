"""The rules of the main tree, lent to a work tree that has none of its own for as long as graphify runs there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from morph_tasks.codegraph.ignore_rules import NAME, drop_leftover, leftover, lend
from morph_tasks.repo.files import write_atomic

_BOM = b"\xef\xbb\xbf"


@contextmanager
def lent(root: Path, main: Path | None) -> Iterator[bool]:
    """Put the rules of the main tree into a work tree and take them away again; tells whether it was needed.

    Never over a file of its own. A copy that a killed run left is replaced, but for one that was committed since or
    edited. Raises Refusal `write-failed`.
    """
    place = root / NAME
    own = main is None or main == root or (os.path.lexists(place) and (not leftover(root) or _is_tracked(root)))
    data = None if own else _rules_of(main)
    if data is None:
        if not own:
            drop_leftover(root)
        yield False
        return
    write_atomic(place, lend(data.removeprefix(_BOM)))
    try:
        yield True
    finally:
        drop_leftover(root)


def _is_tracked(root: Path) -> bool:
    """Tell whether somebody committed the copy with all else: to take it away would be a change of the tree."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.git import open_repo

    try:
        return bool(open_repo(root).lightly().git("ls-files", "-z", "--", f":(literal){NAME}"))
    except Refusal:
        return False


def _rules_of(main: Path | None) -> bytes | None:
    try:
        return (main / NAME).read_bytes() if main else None
    except OSError:
        return None
