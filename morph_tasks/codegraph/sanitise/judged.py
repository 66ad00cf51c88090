"""Links that graphify inferred from a name alone: those that the source refutes go, those left open are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.table import GUESSED, SANE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.recovered import Link, Recovered
    from morph_tasks.codegraph.table import Table


def apply(table: Table, found: Recovered | None) -> None:
    """Leave out what is refuted and mark what is guessed; the raw layer keeps all."""
    if found is None or not (found.refuted or found.guessed):
        return
    refuted, guessed = _rows(table, found.refuted), _rows(table, found.guessed)
    for position in table.at(*{link[2] for link in (*found.refuted, *found.guessed)}):
        row = table.rows[position]
        key = (row[0], row[1], row[2], row[4])
        if not row[5] & SANE:
            continue
        if key in refuted:
            table.leave_out(position)
        elif key in guessed:
            table.rows[position] = (*row[:6], GUESSED)


def _rows(table: Table, links: Iterable[Link]) -> set[tuple[int, int, int, int | None]]:
    ids, relations = table.ids, table.relations
    return {
        (ids[source], ids[target], relations[relation], line)
        for source, target, relation, line in links
        if source in ids and target in ids and relation in relations
    }
