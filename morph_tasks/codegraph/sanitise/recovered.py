"""Edges that were found in the sources beside graphify's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.dispatch import RELATION
from morph_tasks.codegraph.table import CALL, DISPATCH, SANE, Row

if TYPE_CHECKING:
    from morph_tasks.codegraph.recovered import Recovered
    from morph_tasks.codegraph.table import Table

_NOWHERE = -1


def add(table: Table, found: Recovered | None) -> tuple[int, int]:
    """Add what is recovered and return how many dispatches and calls; without both ends, or known, it is left out."""
    if found is None:
        return 0, 0
    numbers = [_NOWHERE if (number := table.ids.get(one, _NOWHERE)) in table.hidden else number for one in found.ids]
    ends = ((table.ids.get(owner), table.ids.get(made)) for owner, made in found.built)
    table.built = [(owner, made) for owner, made in ends if owner is not None and made is not None]
    relations = [table.relations[name] for name in found.relations]
    files = [table.files[path] for path in found.files]
    vias = [DISPATCH if name == RELATION else CALL for name in found.relations]
    columns = zip(found.sources, found.targets, found.kinds, found.at, found.lines, strict=True)
    rows: list[Row] = [
        (numbers[source], numbers[target], relations[kind], files[at], line, SANE, vias[kind])
        for source, target, kind, at, line in columns
    ]
    new = {row[:3]: row for row in reversed(rows) if row[0] != row[1] and row[0] >= 0 and row[1] >= 0}
    for row in table.rows:
        if row[5] & SANE:
            new.pop(row[:3], None)
    table.extend(list(new.values()))
    dispatches = sum(row[6] == DISPATCH for row in new.values())
    return dispatches, len(new) - dispatches
