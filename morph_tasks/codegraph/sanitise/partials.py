"""Parts of one C# type that were taken for several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.table import COALESCED, SANE

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table


def join_partials(table: Table) -> None:
    """Let the first part of a partial type stand for all: one name, namespace and number of type arguments."""
    parts: dict[tuple[str, str], list[int]] = {}
    for number in [at for at, node in enumerate(table.nodes) if node.metadata and node.metadata.is_partial]:
        node, kind = table.nodes[number], table.kinds[number]
        meta = node.metadata
        if kind == "type" and meta and meta.is_partial and node.source_file and node.source_file.endswith(".cs"):
            # Its key ends with the name as it is written in keys, the number of type arguments included.
            name = meta.type_path or node.label or ""
            arguments = node.id.rpartition("_")[2] if node.id.rpartition("_")[2].isdigit() else ""
            parts.setdefault((f"{meta.namespace or ''}.{name}", arguments), []).append(number)
    stands = {part: first for first, *others in parts.values() for part in others}
    if not stands:
        return
    for position, row in enumerate(list(table.rows)):
        source, target = stands.get(row[0], row[0]), stands.get(row[1], row[1])
        if (source, target) != row[:2] and row[5] & SANE:
            table.move(position, source, target, COALESCED)
    table.hidden |= stands.keys()
