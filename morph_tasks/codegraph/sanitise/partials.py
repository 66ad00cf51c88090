"""Parts of one C# type that were taken for several."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from morph_tasks.codegraph.table import COALESCED, SANE

if TYPE_CHECKING:
    from collections.abc import Set

    from morph_tasks.codegraph.table import Table

_PROJECTS = (".csproj", ".fsproj", ".vbproj")


def join_partials(table: Table) -> None:
    """Let the first part of a partial type stand for all: one project, namespace and name, outer types included."""
    partial = [at for at, node in enumerate(table.nodes) if node.metadata and node.metadata.is_partial]
    if not partial:
        return
    projects = {posixpath.dirname(path) for path in table.files if path and path.lower().endswith(_PROJECTS)}
    parts: dict[tuple[str, str, str], list[int]] = {}
    for number in partial:
        node, meta = table.nodes[number], table.nodes[number].metadata
        if table.kinds[number] != "type" or not meta or not (node.source_file or "").endswith(".cs"):
            continue
        if name := meta.type_path or (not meta.is_nested_type and node.label):
            project = _project(node.source_file or "", projects)
            parts.setdefault((project, meta.namespace or "", name), []).append(number)
    stands = {part: first for first, *others in parts.values() for part in others}
    for position, row in enumerate(list(table.rows) if stands else []):
        source, target = stands.get(row[0], row[0]), stands.get(row[1], row[1])
        if (source, target) != row[:2] and row[5] & SANE:
            table.move(position, source, target, COALESCED)
    table.hidden |= stands.keys()


def _project(file: str, projects: Set[str]) -> str:
    """Return the nearest folder around a file that has a project; types of two projects are two types."""
    folder = posixpath.dirname(file)
    while folder and folder not in projects:
        folder = posixpath.dirname(folder)
    return folder
