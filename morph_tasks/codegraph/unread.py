"""Files of code that could not be read: what they use is not in the graph, and graphify does not say so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from morph_tasks.codegraph import extracted
from morph_tasks.codegraph.ask import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 5


def all_of(root: str, git_dir: str, common_dir: str, failed: Iterable[str]) -> list[str]:
    """Return what could not be read: files that recovery met, and files and folders that graphify left out."""
    return sorted({*failed, *_left_out(root, git_dir, common_dir)})


def words(paths: Sequence[str]) -> list[str]:
    """Return a warning that names the first of them; none when there are none."""
    if not paths:
        return []
    named = ", ".join(map(printable, paths[:_SHOWN]))
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    many = "1 file or folder of code" if len(paths) == 1 else f"{len(paths)} files or folders of code"
    return [f"{many} could not be read or parsed, so uses in there may be missing: {named}{more}"]


def _left_out(root: str, git_dir: str, common_dir: str) -> list[str]:
    read = extracted.read(root)
    if read is None:
        return []
    kept = read[0]
    suffixes = {*extracted.CODE, *kept["suffixes"]}
    beside = [(folder, name) for folder, names in kept["others"].items() for name in names]
    paths = [f"{folder}/{name}" if folder else name for folder, name in beside if extracted.is_code(name, suffixes)]
    shut = [path for path in paths if not os.access(f"{root}/{path}", os.R_OK)]
    shut += [f"{path}/" for path in kept["folders"] if not os.access(f"{root}/{path}", os.R_OK | os.X_OK)]
    if not shut:
        return []
    ignored = extracted.ignored(root, git_dir, common_dir, shut)
    return [path for path in shut if path not in ignored]
