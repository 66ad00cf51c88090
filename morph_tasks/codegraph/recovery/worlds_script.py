"""How TypeScript and JavaScript find modules: relative paths, `paths` of tsconfig.json, packages of the tree."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from morph_tasks.codegraph.recovery.model import Expr, Facts
from morph_tasks.codegraph.recovery.program import NOTHING, Found, Program, Value, Values

_SUFFIXES = ("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_INDEX = tuple(f"/index{suffix}" for suffix in _SUFFIXES[1:])
_SAME = frozenset({"filter", "slice", "concat", "reverse", "sort", "values", "toSorted", "splice"})
_ONE = frozenset({"find", "pop", "shift", "at", "findLast"})
_LARGEST = 200_000


class ScriptWorld:
    """The modules of a tree; a key is the path of a file."""

    pairs = True  # iterating a Map gives pairs

    def __init__(self, program: Program, root: Path) -> None:
        self.program, self.root, self.files = program, root, program.files
        self._aliases = _Aliases(root, self.files)
        self._found: dict[tuple[str, str], str | None] = {}
        self._given: dict[tuple[str, str], Values] = {}

    def outside(self, facts: Facts, scope: int, name: str) -> Values:
        return NOTHING

    def module(self, facts: Facts, expr: Expr) -> Values:
        folder = posixpath.dirname(facts.path)
        if (folder, expr[1]) not in self._found:
            self._found[folder, expr[1]] = self._find(folder, expr[1])
        found = self._found[folder, expr[1]]
        return (("mod", "script", found),) if found is not None else NOTHING

    def attribute(self, key: Any, name: str) -> Values:
        known = self._given.get((key, name))
        if known is None:
            self._given[key, name] = NOTHING  # modules that export each other in a circle
            known = self._given[key, name] = self._attribute(key, name)
        return known

    def _attribute(self, key: str, name: str) -> Values:
        facts = self.files[key]
        held = facts.exports.get(name)
        if held is not None:
            return tuple(v for one in held for v in self.program.value(facts, 0, one))
        if name == "default":
            return NOTHING
        stars = [value for star in facts.stars for value in self.module(facts, star)]
        return tuple(v for one in stars for v in self.attribute(one[2], name))

    def extension(self, facts: Facts, scope: int, value: Value, name: str) -> list[Found]:
        return []

    def foreign(self, expr: Expr) -> Values:
        return NOTHING

    def builtin(self, value: Value, name: str, program: Program) -> Values:
        if value[0] == "seq":
            if name in _SAME:
                return (("fn", (value,)),)
            return (("fn", tuple(value[1])),) if name in _ONE else NOTHING
        if value[0] == "map":
            if name == "get":
                return (("fn", tuple(value[2])),)
            return (("fn", (("seq", value[2]),)),) if name == "values" else tuple(value[2])
        return NOTHING

    def _find(self, folder: str, spec: str) -> str | None:
        if spec.startswith("."):
            return self._file(posixpath.normpath(posixpath.join(folder, spec)))
        for place in self._aliases.places(folder, spec):
            found = self._file(place)
            if found is not None:
                return found
        return None

    def _file(self, place: str) -> str | None:
        place = "" if place == "." else place
        stem = re.sub(r"\.(js|jsx|mjs|cjs)$", "", place)
        for base in dict.fromkeys((place, stem)):
            for suffix in (*_SUFFIXES, *_INDEX):
                if (base + suffix).strip("/") in self.files:
                    return (base + suffix).strip("/")
        return None


class _Aliases:
    """What the configuration of a tree calls its folders: `paths` and `baseUrl`, and the names of its packages."""

    def __init__(self, root: Path, files: dict[str, Facts]) -> None:
        self._paths: dict[str, tuple[str | None, dict[str, list[str]]]] = {}
        self._packages: dict[str, str] = {}
        folders = {folder for path in files for folder in _above(path)}
        for folder in sorted(folders):
            for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
                options = _json(root, f"{folder}/{name}".strip("/")).get("compilerOptions")
                if isinstance(options, dict) and folder not in self._paths:
                    base, paths = options.get("baseUrl"), options.get("paths")
                    at = posixpath.normpath(posixpath.join(folder, base if isinstance(base, str) else "."))
                    kept = {
                        key: [posixpath.normpath(posixpath.join(at, one)) for one in value if isinstance(one, str)]
                        for key, value in (paths.items() if isinstance(paths, dict) else ())
                        if isinstance(value, list)
                    }
                    self._paths[folder] = (at if isinstance(base, str) else None, kept)
            package = _json(root, f"{folder}/package.json".strip("/")).get("name")
            if isinstance(package, str):
                self._packages.setdefault(package, folder)

    def places(self, folder: str, spec: str) -> list[str]:
        """Return where a module that is not relative may lie."""
        found: list[str] = []
        for above in [*_above(f"{folder}/x"), ""] if folder else [""]:
            if above in self._paths:
                base, paths = self._paths[above]
                for key, targets in paths.items():
                    start, star, end = key.partition("*")
                    if star and spec.startswith(start) and spec.endswith(end) and len(spec) >= len(start) + len(end):
                        middle = spec[len(start) : len(spec) - len(end)]
                        found += [one.replace("*", middle) for one in targets]
                    elif spec == key:
                        found += targets
                if base is not None:
                    found.append(posixpath.normpath(posixpath.join(base, spec)))
        for name, place in self._packages.items():
            if spec == name or spec.startswith(name + "/"):
                rest = spec[len(name) :].strip("/")
                found += [f"{place}/{rest}", f"{place}/src/{rest or 'index'}", f"{place}/src"]
        return [one.strip("/") for one in found]


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]


def _json(root: Path, path: str) -> dict[str, Any]:
    """Return a file of JSON with comments; nothing when there is none that can be read."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import confined

    try:
        place = confined(root, path)
        if not place.is_file() or place.stat().st_size > _LARGEST:
            return {}
        source = place.read_text(encoding="utf-8")
        try:
            found = json.loads(source)
        except ValueError:
            bare = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", source, flags=re.S)
            found = json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))
    except (OSError, ValueError, Refusal):
        return {}
    return found if isinstance(found, dict) else {}
