"""The line of an import that graphify knows without one, such as `import('./report')`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.codegraph.affected import IMPORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from morph_tasks.codegraph.affected import Hit
    from morph_tasks.codegraph.index import Symbol

_LARGEST = 1 << 20
_SAYS = re.compile(r"\b(?:import|require|from)\b")


def with_lines(root: str, hits: Iterable[Hit], symbol_of: Callable[[int], Symbol | None]) -> list[Hit]:
    """Return hits whose imports have the line that says so, as far as the source shows one."""
    return [
        hit._replace(line=line_of_import(root, hit.file, symbol_of(hit.target)))
        if hit.line is None and hit.relation in IMPORTS
        else hit
        for hit in hits
    ]


def line_of_import(root: str, path: str | None, target: Symbol | None) -> int | None:
    """Return the first line of a file that imports another one by its name; None when none does, or it is not read."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import confined

    if not path or target is None or not target.file:
        return None
    stem = target.file.rpartition("/")[2].split(".", 1)[0]
    if stem in ("index", "__init__"):
        stem = target.file.rpartition("/")[0].rpartition("/")[2]
    if not stem:
        return None
    try:
        with open(confined(Path(root), path), encoding="utf-8", errors="replace") as file:
            lines = file.read(_LARGEST).split("\n")
    except (OSError, Refusal, ValueError):
        return None
    named = re.compile(rf"""(?:['"`/.]|\bimport\s+){re.escape(stem)}(?:\.\w+)*(?:['"`\s;]|$)""")
    return next((at for at, line in enumerate(lines, 1) if _SAYS.search(line) and named.search(line)), None)
