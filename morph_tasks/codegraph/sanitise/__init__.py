"""Putting right what graphify gets wrong: names without a definition, lost dispatch, mixed languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table


def put_right(table: Table, recovered: bytes) -> None:
    """Change the rows of a table to what the code says, and count what was changed; the raw layer stays as it was."""
    from morph_tasks.codegraph.recovered import decode
    from morph_tasks.codegraph.sanitise import coalesce, dispatch, judged, languages, partials
    from morph_tasks.codegraph.sanitise import recovered as beside
    from morph_tasks.codegraph.sanitise.names import HOLDING

    found = decode(recovered) if recovered else None
    judged.apply(table, found)
    partials.join_partials(table)
    coalesce.coalesce(table)
    languages.disambiguate(table)
    if any(table.rows[at][6] for at in table.at(*HOLDING)):
        table.find_owners()
    dispatches = dispatch.recover(table)
    more, calls = beside.add(table, found)
    packages = [number for number, kind in enumerate(table.kinds) if kind == "package"]
    table.external |= {number for number in packages if table.nodes[number].type != "package" or not table.home[number]}
    table.counts = {
        "nodes": len(table.nodes),
        "testNodes": sum(map(table.tests.__getitem__, table.home)),
        "links": len(table.links),
        "coalescible": len(table.hidden),
        "external": len(table.external - table.hidden),
        "ambiguous": len({table.rows[position][1] for position in table.undecided}),
        "recoveredDispatch": dispatches + more,
        "recoveredCalls": calls,
    }
