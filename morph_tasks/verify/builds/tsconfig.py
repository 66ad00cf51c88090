"""What a `tsconfig.json` covers: its own files, or only references to configurations that do."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Strings are matched first, so that what looks like a comment inside them stays.
_NOT_JSON = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.S)
_MOST = 50


@dataclass(frozen=True)
class Covered:
    """The configurations that hold files, relative to the folder; `chained` names one that needs another's output."""

    configs: tuple[str, ...]
    chained: str | None = None


def covered(folder: Path) -> Covered:
    """Return what a folder's `tsconfig.json` covers, references followed.

    A configuration with `files: []` and references checks nothing by itself: `tsc` would be green for no file at all.
    """
    start = str(folder / "tsconfig.json")
    found, chained, waiting, seen = [], None, [start], {start}
    while waiting and len(seen) <= _MOST:
        path = waiting.pop(0)
        data = read_tsconfig(Path(path))
        below = [where for where in _references(path, data) if os.path.isfile(where)]
        if data.get("files") != [] or "include" in data:
            found.append(os.path.relpath(path, folder))
            if below and path != start:
                chained = chained or os.path.relpath(path, folder)
        waiting += [where for where in dict.fromkeys(below) if where not in seen]
        seen.update(below)
    return Covered(tuple(found), chained)


def read_tsconfig(path: Path) -> dict[str, Any]:
    """Return a configuration, its comments and last commas left out; {} when it cannot be read (tsc says why)."""
    try:
        text = path.read_text("utf-8-sig")
        data = json.loads(_LAST_COMMA.sub(_kept, _NOT_JSON.sub(_kept, text)))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _kept(hit: re.Match[str]) -> str:
    return hit[1] or ""


def _references(path: str, data: dict[str, Any]) -> list[str]:
    listed = data.get("references")
    found = []
    for item in listed if isinstance(listed, list) else []:
        named = item.get("path") if isinstance(item, dict) else None
        if isinstance(named, str):
            where = os.path.normpath(os.path.join(os.path.dirname(path), named))
            found.append(os.path.join(where, "tsconfig.json") if os.path.isdir(where) else where)
    return found
