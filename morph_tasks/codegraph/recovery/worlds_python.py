"""How Python finds modules: packages from their roots, relative imports, what a package gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.codegraph.recovery import protocols
from morph_tasks.codegraph.recovery.model import Expr, Facts
from morph_tasks.codegraph.recovery.program import NOTHING, Found, Program, Value, Values

_SAME = frozenset({"copy", "pop", "get", "setdefault", "popleft", "__getitem__", "__iter__", "values"})


class PythonWorld:
    """The modules of a tree; a key is the path of a file, or of a folder that is a package without `__init__.py`."""

    pairs = False  # iterating a dict gives its keys

    def __init__(self, program: Program, root: Path) -> None:
        self.program = program
        self.files = program.files
        self.folders = {folder for path in self.files for folder in _above(path)}
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._given: dict[tuple[str, str], Values] = {}

    def outside(self, facts: Facts, scope: int, name: str) -> Values:
        return self._starred(facts, name)

    def _starred(self, facts: Facts, name: str) -> Values:
        if name.startswith("_"):
            return NOTHING
        found: list[Value] = []
        for star in facts.stars:
            for value in self.module(facts, star):
                if value[0] == "mod":
                    found += self.attribute(value[2], name)
        return tuple(found)

    def module(self, facts: Facts, expr: Expr) -> Values:
        key = self._find(facts.path, expr[1], expr[2])
        return (("mod", "python", key),) if key is not None else NOTHING

    def attribute(self, key: Any, name: str) -> Values:
        known = self._given.get((key, name))
        if known is not None:
            return known
        self._given[key, name] = NOTHING  # modules that import each other in a circle
        found = self._attribute(key, name)
        self._given[key, name] = found
        return found

    def _attribute(self, key: str, name: str) -> Values:
        facts = self.files.get(key)
        if facts is not None:
            if name in facts.scopes[0].names:
                return self.program.name(facts, 0, name)
            starred = self._starred(facts, name)
            if starred:
                return starred
        folder = key.removesuffix("/__init__.py") if key.endswith("__init__.py") else ("" if facts else key)
        below = self._at(f"{folder}/{name}") if folder else None
        return (("mod", "python", below),) if below is not None else NOTHING

    def extension(self, facts: Facts, scope: int, value: Value, name: str) -> list[Found]:
        return []

    def foreign(self, expr: Expr) -> Values:
        return NOTHING

    def builtin(self, value: Value, name: str, program: Program) -> Values:
        if value[0] == "map":
            if name == "items":
                return (("fn", (("seq", (("tuple", (value[1], value[2])),)),)),)
            if name == "values":
                return (("fn", (("seq", value[2]),)),)
            if name in ("get", "pop", "setdefault"):
                return (("fn", tuple(value[2])),)
            return (("fn", (("seq", value[1]),)),) if name == "keys" else NOTHING
        if value[0] == "seq" and name in _SAME:
            return (("fn", (value,) if name == "copy" else tuple(value[1])),)
        if value[0] == "inst" and name == "__class__":
            return (("cls", value[1], value[2]),)
        # What a class of this tree enters: itself, unless it says otherwise.
        return NOTHING

    def extra(self, edges: Any) -> None:
        """Note what no file says: which classes satisfy which protocols."""
        protocols.note(edges)

    def _find(self, path: str, dotted: str, level: int) -> str | None:
        """Return the file or folder of a module that a file imports; nearest root first, as Python would."""
        memo = (path.rpartition("/")[0], f"{level} {dotted}")
        if memo not in self._resolved:
            self._resolved[memo] = self._search(path, dotted, level)
        return self._resolved[memo]

    def _search(self, path: str, dotted: str, level: int) -> str | None:
        inside = dotted.replace(".", "/")
        if level:
            folder = path.rpartition("/")[0]
            for _ in range(level - 1):
                folder = folder.rpartition("/")[0]
            return self._at(f"{folder}/{inside}".strip("/"))
        for folder in [*_above(path), ""]:
            if folder and f"{folder}/__init__.py" in self.files:
                continue  # a package's own folder is not on the path
            for root in (folder, f"{folder}/src".strip("/"), f"{folder}/lib".strip("/")):
                found = self._at(f"{root}/{inside}".strip("/"))
                if found is not None and (found in self.files or root == folder):
                    return found
        return None

    def _at(self, place: str) -> str | None:
        for candidate in (f"{place}/__init__.py", f"{place}.py", f"{place}.pyi"):
            if candidate in self.files:
                return candidate
        return place if place in self.folders else None


def _above(path: str) -> list[str]:
    """Return the folders of a path, the nearest first, without the root."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
