"""Imports of a package of several files: graphify has an edge to each of them, and one is meant by what is used of it.

So it is in Go, where an import names a folder. Imports are few: each walk asks it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from morph_tasks.codegraph.index import Edge, Index, Symbol

_IMPORTS = frozenset({"imports", "imports_from", "dynamic_import"})
_WHOLE = ".go"
_INSIDE = frozenset({"contains", "method", "defines"})


def meant(index: Index, edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges without the imports of files of a package of which the importing file uses nothing.

    An import stays where that cannot be told: when no symbol of the package is used, as with constants alone, which
    the graph has not, or when the graph has no symbol of the file.
    """
    asked = [edge for edge in edges if edge.relation in _IMPORTS and (edge.file or "").endswith(_WHOLE)]
    if not asked:
        return [*edges]
    unused = _unused(index, asked)
    return [edge for edge in edges if edge not in unused]


def _unused(index: Index, asked: Sequence[Edge]) -> set[Edge]:
    importers = {one.id: one for one in index.where("p.path IN ({})", {edge.file for edge in asked})}
    outward = index.out_of(importers)
    known = importers | index.symbols({edge.target for edge in [*outward, *asked]} - importers.keys())
    uses = {
        (edge.file or importers[edge.source].file, known[edge.target].file)
        for edge in outward
        if edge.relation not in _IMPORTS | _INSIDE and edge.target in known
    }
    groups: dict[tuple[str | None, int | None], set[str]] = {}  # the files that one line imports
    for edge in outward:
        if edge.relation in _IMPORTS and edge.target in known:
            groups.setdefault((edge.file, edge.line), set()).add(known[edge.target].file or "")
    told = {key for key, files in groups.items() if any((key[0], path) in uses for path in files)}
    found = {edge for edge in asked if (edge.file, edge.line) in told}
    targets = {edge.target: known[edge.target] for edge in found if edge.target in known}
    empty = _without_symbols(index, targets.values())
    return {
        edge
        for edge in found
        if (one := targets.get(edge.target))
        and one.kind == "file"
        and one.file not in empty
        and (edge.file, one.file) not in uses
    }


def _without_symbols(index: Index, files: Iterable[Symbol]) -> set[str | None]:
    paths = {one.file for one in files}
    return paths - {one.file for one in index.where("p.path IN ({})", paths) if one.kind != "file"}
