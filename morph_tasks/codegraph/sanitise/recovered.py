"""Edges that were found in the sources beside graphify's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from morph_tasks.codegraph.sanitise.dispatch import RELATION
from morph_tasks.codegraph.table import CALL, DISPATCH, SANE

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table


class Found(msgspec.Struct):
    """An edge by graphify's ids; `file` and `line` are the site."""

    source: str
    target: str
    relation: str
    file: str | None = None
    line: int | None = None


class Recovered(msgspec.Struct):
    """The file as it was written; an unknown version is read as far as it is understood."""

    edges: list[Found]
    version: int = 1


def add(table: Table, data: bytes) -> tuple[int, int]:
    """Add what is recovered and return how many dispatches and calls; without both ends, or known, it is left out."""
    if not data:
        return 0, 0
    try:
        found = msgspec.json.decode(data, type=Recovered)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0, 0
    known = {row[:3] for row in table.rows if row[5] & SANE}
    counts = {DISPATCH: 0, CALL: 0}
    for edge in found.edges:
        source, target = table.ids.get(edge.source), table.ids.get(edge.target)
        if source is None or target is None or {source, target} & table.hidden or source == target:
            continue
        row = (source, target, table.relations[edge.relation])
        if row in known:
            continue
        known.add(row)
        via = DISPATCH if edge.relation == RELATION else CALL
        table.add((*row, table.files[edge.file], edge.line, SANE, via))
        counts[via] += 1
    return counts[DISPATCH], counts[CALL]
