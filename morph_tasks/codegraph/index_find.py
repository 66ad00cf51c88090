"""What a text can mean: a key, a path, a name with what stands before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.codegraph.naming import bare, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from morph_tasks.codegraph.index_read import Index, Symbol

_STEPS = re.compile(r"::|[.#]")


def find(index: Index, query: str) -> list[Symbol]:
    """Return the symbols of the first reading of the query that there is one for."""
    text = query.strip()
    if not text:
        return []
    for reading in (_by_key, _by_path, _in_path, _by_name):
        if found := reading(index, text):
            return found
    return []


def _by_key(index: Index, text: str) -> list[Symbol]:
    return index.where("n.key IN ({})", [text])


def _by_path(index: Index, text: str) -> list[Symbol]:
    """Find the node of a file by its path, or by the end of it."""
    if "." not in text and "/" not in text:
        return []
    path = _tidy(text)
    exact = [found for found in index.where("p.path IN ({})", [path]) if found.kind == "file"]
    if exact or "/" not in path:
        return exact
    ends = index.rows("SELECT path FROM path WHERE substr(path, -?) = ?", [len(path) + 1, f"/{path}"])
    return [found for found in index.where("p.path IN ({})", [row[0] for row in ends]) if found.kind == "file"]


def _in_path(index: Index, text: str) -> list[Symbol]:
    """Find `path:Name`; the name may have its owner before it."""
    path, colon, name = text.rpartition(":")
    if not colon or not name or path.endswith(":"):
        return []
    path = _tidy(path)
    inside = index.in_file(path)
    if not inside:
        inside = [found for file in _by_path(index, path) if file.file for found in index.in_file(file.file)]
    return _matching(inside, name)


def _by_name(index: Index, text: str) -> list[Symbol]:
    last = _split(text)[-1]
    known = index.where("n.name IN ({})", {fold(bare(text)), fold(last)})
    return _matching(known, text)


def _matching(known: Sequence[Symbol], text: str) -> list[Symbol]:
    """Return those that the text names, capitals included; without the difference of capitals when there are none."""
    for change in (str, fold):
        wanted = {change(text), change(bare(text))}
        if whole := [found for found in known if not wanted.isdisjoint((change(found.label), change(found.name)))]:
            return _the_defined(whole)
        steps = [change(step) for step in _split(text)]
        if len(steps) > 1 and (ends := [found for found in known if _ends(found, steps, change)]):
            return _the_defined(ends)
    return []


def _the_defined(found: list[Symbol]) -> list[Symbol]:
    """Leave out what comes from outside the tree when something in the tree has the name."""
    return [symbol for symbol in found if symbol.file] or found


def _ends(found: Symbol, steps: Sequence[str], change: Callable[[str], str]) -> bool:
    """Tell whether the steps are the end of the way to a symbol: namespace or module, owner, name."""
    *before, last = steps
    if change(found.name) != last:
        return False
    if found.owner:
        if before[-1] != change(found.owner):
            return False
        before = before[:-1]
    module = (found.file or "").rpartition(".")[0].removesuffix("/__init__").removesuffix("/index")
    ways = (found.namespace.split("."), module.split("/"), (found.file or "").rpartition("/")[0].split("/"))
    return not before or any([change(step) for step in way][-len(before) :] == before for way in ways)


def _split(text: str) -> list[str]:
    return [step for step in _STEPS.split(bare(text)) if step] or [text]


def _tidy(path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)
