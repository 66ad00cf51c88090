"""The graph of the main tree, copied to a new work tree: it is that of the commit which the tree begins at, or near."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.codegraph import layout, record

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# The one holds the absolute path of the main tree, the other how its files look; the cache is big and made again.
_NOT_COPIED = frozenset({".graphify_root", ".graphify_build_state.json"})
_LAST = "graph.json"  # until it is there, there is no graph


def seed(primary: Repo, tree: Repo) -> tuple[bool, str | None]:
    """Copy the graph of the main tree to a work tree that has none; tells whether it did, and why it could not.

    Only files of the folder itself, each whole or not at all. The record of the main tree comes along, so that the
    copy is known to be of the same commit and the same rules.
    """
    source, target = layout.graph_folder(primary.root), layout.graph_folder(tree.root)
    if tree.git_dir == primary.git_dir or not (source / _LAST).is_file() or os.path.lexists(target / _LAST):
        return False, None
    if target.is_symlink():  # a shared folder
        return False, None
    known = record.current(str(primary.root), str(primary.git_dir))
    try:
        target.mkdir(exist_ok=True)
        names = sorted(entry.name for entry in os.scandir(source) if entry.is_file(follow_symlinks=False))
        # What belongs to a graph comes before the graph: of two that do not fit, the older is looked at again.
        for name in names:
            if _goes(name):
                _copy(source / name, target / name)
        # It names its graph by size and time, which the copy keeps: one that a refresh put there meanwhile is not its.
        record.write(tree, current=known, last=None)
        _copy(source / _LAST, target / _LAST)
    except OSError as error:
        where = f"{error.filename or target}: {error.strerror or error}"
        return False, f"the code graph was not copied ({where}): morph-spec graph build makes one there"
    return True, None


def _copy(source: Path, target: Path) -> None:
    from morph_tasks.fleet.copies import copy_file

    about = os.lstat(source)
    if stat.S_ISREG(about.st_mode):
        copy_file(source, target, about)


def _goes(name: str) -> bool:
    return name != _LAST and name not in _NOT_COPIED and not name.endswith((".tmp", ".lock", ".log"))
