"""Writing the index: one SQLite file, made under a temporary name and renamed when it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph import sqlite
from morph_tasks.codegraph.index_schema import EXTERNAL, HIDDEN, INDICES, KINDS, REMARK, TABLES, TEST
from morph_tasks.codegraph.naming import fold

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table

TEMPORARY = ".morph-index-"
_STALE_S = 3600
_TOGETHER = 40  # rows; ten columns each stay below the fewest variables that any SQLite takes
_CODE = ("code", "concept", None)


def fill(connection: sqlite.Connection, table: Table, meta: Mapping[str, Any]) -> None:
    """Write the whole index into an empty database; raises sqlite3.Error."""
    connection.executescript(TABLES)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    many = connection.executemany
    _insert(connection, "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", list(_nodes(table)))
    _insert(connection, "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?)", table.rows)
    many("INSERT INTO built VALUES (?, ?)", table.built)
    choices = {options: number for number, options in enumerate(dict.fromkeys(table.undecided.values()))}
    many(
        "INSERT INTO choice VALUES (?, ?)", [(number, option) for found, number in choices.items() for option in found]
    )
    many("INSERT INTO undecided VALUES (?, ?)", [(at + 1, choices[found]) for at, found in table.undecided.items()])
    many("INSERT INTO path VALUES (?, ?)", [(number, path) for path, number in table.files.items() if path])
    many("INSERT INTO relation VALUES (?, ?)", [(number, name) for name, number in table.relations.items()])
    for statement in INDICES.split(";"):
        connection.execute(statement)
    connection.execute("COMMIT")


def _insert(connection: sqlite.Connection, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows in their order, many with one statement: that takes half of the time."""
    head, _, values = statement.rpartition(" VALUES ")
    whole = len(rows) // _TOGETHER * _TOGETHER
    several = f"{head} VALUES {','.join([values] * _TOGETHER)}"
    groups = (rows[start : start + _TOGETHER] for start in range(0, whole, _TOGETHER))
    connection.executemany(several, (list(chain.from_iterable(group)) for group in groups))
    connection.executemany(statement, rows[whole:])


def write(path: Path, table: Table, meta: Mapping[str, Any]) -> None:
    """Put a whole index in the place of the old one; raises OSError and sqlite3.Error, and leaves nothing behind."""
    beside = beside_of(path)
    try:
        with closing(sqlite.connect(beside, isolation_level=None)) as connection:
            fill(connection, table, meta)
        os.replace(beside, path)
    finally:
        with suppress(OSError):  # gone already when the rename took place
            os.unlink(beside)


def beside_of(path: Path) -> Path:
    """Return a name in the same folder that no other process uses, and sweep what killed processes left there."""
    import time

    for left in path.parent.glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_S:
                left.unlink()
    return path.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"


def _nodes(table: Table) -> Iterable[tuple[Any, ...]]:
    """Return the rows of the nodes, in the order of the columns."""
    lines, nodes, names = table.lines, table.nodes, table.names
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    flags = [
        table.tests[file] * TEST | (0 if node.file_type in _CODE else REMARK)
        for node, file in zip(nodes, table.home, strict=True)
    ]
    for flag, marked in ((EXTERNAL, table.external), (HIDDEN, table.hidden)):
        for number in marked:
            flags[number] |= flag
    owners = [""] * len(nodes)
    for member, owner in table.owners.items():
        owners[member] = names[owner]
    return zip(
        range(len(nodes)),
        [node.id for node in nodes],
        [node.label for node in nodes],
        [fold(name) for name in names],
        owners,
        table.home,
        [lines[node.source_location] for node in nodes],
        [kinds[kind] for kind in table.kinds],
        flags,
        [node.metadata.namespace or "" if node.metadata else "" for node in nodes],
        strict=True,
    )
