"""Links that land on a symbol of another language: the name is the same, the symbol is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.coalesce import Judge
from morph_tasks.codegraph.sanitise.families import family_of
from morph_tasks.codegraph.sanitise.names import HOLDING, SUPERTYPE, Definitions
from morph_tasks.codegraph.sanitise.verdict import Reference
from morph_tasks.codegraph.table import LANGUAGE, SANE

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table

# Whole files are imported across languages (a template, a native module); a symbol is referred to in its own.
_REFERRING = frozenset(
    {"calls", "indirect_call", "references", "uses", "imports", "re_exports", *SUPERTYPE} - {*HOLDING}
)
_SYMBOLS = frozenset({"type", "function", "method", "other"})


def disambiguate(table: Table) -> None:
    """Put such links on the symbol of the same name in the language of the file, or take them out of the graph."""
    wrong = _crossing(table)
    if not wrong:
        return
    judge = Judge(table, Definitions(table, {table.rows[position][1] for position in wrong}))
    for position in wrong:
        row, link = table.rows[position], table.links[position]
        file = table.path_of(row[3])
        name = table.names[row[1]]
        reference = Reference(
            position, row[0], row[1], name, file, family_of(file), link.relation or "", link.context, None
        )
        verdict = judge.verdict(reference)
        if verdict.meant is not None:
            table.move(position, row[0], verdict.meant, LANGUAGE)
        else:
            table.leave_out(position)


def _crossing(table: Table) -> list[int]:
    """Return the positions of the links from a file of one family of languages to a symbol of another."""
    families = [family_of(path) for path in table.files]
    if len({family for family in families if family}) < 2:
        return []
    own = [families[file] if kind in _SYMBOLS else None for file, kind in zip(table.home, table.kinds, strict=True)]
    rows, links = table.rows, len(table.links)
    crossing = [at for at in table.at(*_REFERRING) if own[rows[at][1]] != families[rows[at][3]]]
    return [at for at in crossing if at < links and own[rows[at][1]] and families[rows[at][3]] and rows[at][5] & SANE]
