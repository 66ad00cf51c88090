"""Putting right what graphify gets wrong: names without a definition, lost dispatch, mixed languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.table import SANE

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table


def put_right(table: Table, recovered: bytes) -> None:
    """Change the rows of a table to what the code says, and count what was changed."""
    from morph_tasks.codegraph.marks import is_test

    tests = {path for path in table.files if path and is_test(path)}
    table.counts = {
        "nodes": len(table.nodes) - len(table.hidden),
        "testNodes": sum(node.source_file in tests for node in table.nodes),
        "links": sum(1 for row in table.rows if row[5] & SANE),
        "coalescible": len(table.hidden),
        "external": len(table.external),
        "ambiguous": len(table.undecided),
        "recoveredDispatch": 0,
        "recoveredCalls": 0,
    }
