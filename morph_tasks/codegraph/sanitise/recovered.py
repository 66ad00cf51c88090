"""Edges that were found in the sources beside graphify's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovered import decode
from morph_tasks.codegraph.sanitise.dispatch import RELATION
from morph_tasks.codegraph.table import CALL, DISPATCH, SANE

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table


def add(table: Table, data: bytes) -> tuple[int, int]:
    """Add what is recovered and return how many dispatches and calls; without both ends, or known, it is left out."""
    found = decode(data)
    if found is None:
        return 0, 0
    known = {row[:3] for row in table.rows if row[5] & SANE}
    numbers = [-1 if (number := table.ids.get(one, -1)) in table.hidden else number for one in found.ids]
    relations = [table.relations[name] for name in found.relations]
    files = [table.files[path] for path in found.files]
    vias = [DISPATCH if name == RELATION else CALL for name in found.relations]
    counts = {DISPATCH: 0, CALL: 0}
    rows = zip(found.sources, found.targets, found.kinds, found.at, found.lines, strict=True)
    for source, target, kind, at, line in rows:
        ends = (numbers[source], numbers[target], relations[kind])
        if ends[0] < 0 or ends[1] < 0 or ends[0] == ends[1] or ends in known:
            continue
        known.add(ends)
        table.add((*ends, files[at], line, SANE, vias[kind]))
        counts[vias[kind]] += 1
    return counts[DISPATCH], counts[CALL]
