"""Which definition a name means in a language where the imports of the file decide."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.families import BY_FOLDER, STRICT, given
from morph_tasks.codegraph.sanitise.verdict import OUTSIDE, Reference, Verdict, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.table import Table

_PACKAGES = (
    "__init__.py",
    "__init__.pyi",
    "index.ts",
    "index.tsx",
    "index.js",
    "index.jsx",
    "index.mjs",
    "mod.rs",
    "lib.rs",
)
_FURTHEST = 8  # re-exports in a row


class Imports:
    """What each file imports, by the links of the graph."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._of: dict[str, list[tuple[int, str]]] = {}
        paths = {number: path for path, number in table.files.items() if path}
        for relation in ("imports", "imports_from", "re_exports", "dynamic_import", "requires"):
            for position in table.at(relation):
                _, target, _, file, *_ = table.rows[position]
                if file:
                    self._of.setdefault(paths[file], []).append((target, relation))

    def decide(self, reference: Reference, candidates: list[int]) -> Verdict:
        """Return what the reference means: what is imported, then its own file, then what the imported modules give."""
        file = reference.file or ""
        nodes, owners = self._table.nodes, self._table.owners
        candidates = [found for found in candidates if found not in owners or nodes[found].source_file == file]
        imported = self._of.get(file, [])
        targets = {target for target, _ in imported}
        for near in (
            [found for found in candidates if found in targets],
            [found for found in candidates if nodes[found].source_file == file],
            self._given_by(imported, reference, candidates),
            self._beside(reference, candidates),
            self._of_whole_package(targets, reference, candidates),
        ):
            if near:
                return one_of(near)
        if not candidates or given(reference.family, reference.name):
            return OUTSIDE
        if len(candidates) == 1 and not (imported and reference.family in STRICT):
            return Verdict(candidates[0])  # nothing is known of the imports of the file
        return Verdict(options=tuple(candidates))

    def _beside(self, reference: Reference, candidates: list[int]) -> list[int]:
        if reference.family not in BY_FOLDER:
            return []
        folder = posixpath.dirname(reference.file or "")
        return [c for c in candidates if posixpath.dirname(self._table.nodes[c].source_file or "") == folder]

    def _of_whole_package(self, targets: set[int], reference: Reference, candidates: list[int]) -> list[int]:
        """Return the candidates from folders that are imported whole: graphify keeps the last step of `com.shop.*`."""
        if reference.family != "jvm":
            return []
        nodes, kinds = self._table.nodes, self._table.kinds
        steps = {(nodes[target].label or "").rpartition(".")[2] for target in targets if kinds[target] == "package"}
        return [c for c in candidates if posixpath.dirname(nodes[c].source_file or "").rpartition("/")[2] in steps]

    def _given_by(self, imported: Iterable[tuple[int, str]], reference: Reference, candidates: list[int]) -> list[int]:
        """Return the candidates that the modules a file imports define, or pass on."""
        nodes, kinds = self._table.nodes, self._table.kinds
        modules = dict.fromkeys(nodes[t].source_file or "" for t, _ in imported if kinds[t] == "file")
        found: dict[int, None] = {}
        seen = set(modules)
        for _ in range(_FURTHEST):
            found.update(dict.fromkeys(self._defined_in(modules, reference, candidates)))
            following: dict[str, None] = {}
            for module in modules:
                package = module.rpartition("/")[2] in _PACKAGES
                for target, relation in self._of.get(module, ()):
                    passed_on = relation == "re_exports" or package or reference.family == "native"
                    if target in candidates and passed_on:
                        found[target] = None
                    elif (
                        passed_on and kinds[target] == "file" and (path := nodes[target].source_file or "") not in seen
                    ):
                        seen.add(path)
                        following[path] = None
            if found or not following:
                break
            modules = following
        return list(found)

    def _defined_in(self, modules: Iterable[str], reference: Reference, candidates: list[int]) -> list[int]:
        nodes = self._table.nodes
        if reference.family in BY_FOLDER:  # a package is a folder, of which one file stands for all
            folders = {posixpath.dirname(module) for module in modules}
            return [c for c in candidates if posixpath.dirname(nodes[c].source_file or "") in folders]
        files = set(modules)
        return [c for c in candidates if nodes[c].source_file in files]
