"""What somebody may have meant by a text that names no symbol of the graph."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from morph_tasks.codegraph.naming import fold

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index, Symbol

_MOST = 10
_STEPS = re.compile(r"::|[.#:]")
_PLACE = re.compile(r"(?P<path>.+?):L?(?P<line>\d+)(:\d+)?")


def at_place(index: Index, text: str) -> Symbol | None:
    """Return the last definition that begins at or above the line of `path:line`, or the file."""
    found = _PLACE.fullmatch(text.strip())
    if not found or not (file := _file(index, found["path"])):
        return None
    above = [one for one in index.in_file(file.file or "") if one.line and one.line <= int(found["line"])]
    return above[-1] if above else file


def _file(index: Index, path: str) -> Symbol | None:
    files = [one for one in index.find(path) if one.kind == "file"]
    return files[0] if len(files) == 1 else None


def in_folder(index: Index, text: str) -> list[Symbol]:
    """Return the files of the graph below a folder, by path; none when the text is no folder."""
    folder = text.strip().removeprefix("./").rstrip("/")
    if not folder:
        return []
    rows = index.rows(
        "SELECT path FROM path WHERE substr(path, 1, ?) = ? ORDER BY path", [len(folder) + 1, f"{folder}/"]
    )
    files = [one for one in index.where("p.path IN ({})", [row[0] for row in rows]) if one.kind == "file"]
    return sorted(files, key=lambda one: one.file or "")


def similar(index: Index, text: str, name: str) -> list[Symbol]:
    """Return symbols of the last name of a text; where there are none, those that are spelled nearly so.

    What has the owner, or lies in the file, that the text says comes first.
    """
    same = index.names([name])
    before = [fold(step) for step in _STEPS.split(text.rstrip("()").removesuffix(name)) if step]
    found = same or [one for one in _spelled_like(index, name) if one.file]
    return sorted(found, key=lambda one: (not before or fold(one.owner) != before[-1], one.test))[:_MOST]


def _spelled_like(index: Index, name: str) -> list[Symbol]:
    wanted = fold(name)
    if len(wanted) < 3:
        return []
    sizes = [len(wanted) - 2, len(wanted) + 2]
    known = [row[0] for row in index.rows("SELECT DISTINCT name FROM node WHERE length(name) BETWEEN ? AND ?", sizes)]
    close = get_close_matches(wanted, known, n=5, cutoff=0.75)
    found = index.names(close)
    return sorted(found, key=lambda one: close.index(fold(one.name)) if fold(one.name) in close else len(close))
