"""The index of a code graph: opened in a moment, made when there is none or another graph was written."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from morph_tasks.codegraph import layout, sqlite
from morph_tasks.codegraph.index_key import ABSENT, inputs, look, read, read_if_possible
from morph_tasks.codegraph.index_read import Edge, Index, Symbol
from morph_tasks.codegraph.index_schema import APPLICATION, SCHEMA
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from morph_tasks.codegraph.index_key import Input
    from morph_tasks.codegraph.table import Table

__all__ = ["Edge", "Index", "Symbol", "build", "open_index"]


def open_index(root: Path | str) -> Index:
    """Return the index of the graph of a tree, to be closed by `with`.

    It is made when it is absent, torn, of another version or of another graph; where it cannot be written it is made in
    memory, with a line in `warnings`. A path as text spares the import of `pathlib`, which costs as much as the look.
    Raises Refusal `no-graph`, `corrupt-graph`, `unreadable-file`, `graph-changing`.
    """
    _must_exist(root)
    connection = _stored(root)
    if connection is None:
        connection, warnings = _made(root)
        return Index(connection, warnings=warnings, remake=lambda: _in_memory(*_assembled(root)))
    return Index(connection, remake=lambda: _made(root)[0])


def build(root: Path) -> None:
    """Make the index anew beside the graph; raises as `open_index` does, and Refusal `index-not-written`."""
    from morph_tasks.codegraph import index_write

    _must_exist(root)
    path = layout.index_file(root)
    try:
        with _without_looking_for_garbage():
            index_write.write(path, *_assembled(root))
    except (OSError, sqlite.Error) as error:
        what = f"the index {path} could not be written: {error}"
        fix = f"make room, and get the right to write, in {path.parent}"
        raise Refusal("index-not-written", what, fix=fix, path=str(path)) from error


def _must_exist(root: Path | str) -> None:
    graph = f"{root}/{layout.GRAPH}"
    try:
        absent = look(graph) == ABSENT
    except OSError as error:
        from morph_tasks.codegraph.unreadable import unreadable

        raise unreadable(str(root), error.strerror or str(error)) from None
    if absent:
        what = f"there is no code graph of {root}"
        raise Refusal("no-graph", what, fix="morph-spec graph build", path=graph)


def _made(root: Path | str) -> tuple[sqlite.Connection, list[str]]:
    """Make the index and open it; in memory, with a warning, where it cannot be kept."""
    from pathlib import Path

    from morph_tasks.codegraph import index_write

    path = Path(f"{root}/{layout.INDEX}")
    with _without_looking_for_garbage():
        table, meta = _assembled(root)
        try:
            index_write.write(path, table, meta)
            return sqlite.open_fixed(path), []
        except (OSError, sqlite.Error) as error:
            warning = f"the index {path} cannot be kept ({error}); it is made for each question, which takes longer"
            return _in_memory(table, meta), [warning]


@contextmanager
def _without_looking_for_garbage() -> Iterator[None]:
    """Spare the walks over hundreds of thousands of records that live until the end: they take a third of the time."""
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _in_memory(table: Table, meta: Mapping[str, Any]) -> sqlite.Connection:
    from morph_tasks.codegraph import index_write

    connection = sqlite.connect(":memory:", isolation_level=None)
    index_write.fill(connection, table, meta)
    return connection


def _stored(root: Path | str) -> sqlite.Connection | None:
    """Open the index that is there; None when it does not belong to the graph that is there."""
    try:
        connection = sqlite.open_fixed(f"{root}/{layout.INDEX}")
    except sqlite.Error:
        return None
    try:
        if _belongs(connection, root):
            return connection
    except (sqlite.Error, ValueError, LookupError):
        pass
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _belongs(connection: sqlite.Connection, root: Path | str) -> bool:
    """Tell whether an index was made, by these rules, from the files that are there; raises sqlite3.Error."""
    versions = "SELECT * FROM pragma_application_id, pragma_user_version"
    if connection.execute(versions).fetchone() != (APPLICATION, SCHEMA):
        return False
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    seen: dict[str, str] = {}
    for role, path in zip(("graph", "recovered"), inputs(root), strict=True):
        if look(path) != meta[f"{role}_seen"]:
            again = _read_graph(root, path) if role == "graph" else read_if_possible(path)
            if again.digest != meta[f"{role}_digest"]:
                return False
            seen[f"{role}_seen"] = again.seen
    if any(seen.values()):
        _restamp(f"{root}/{layout.INDEX}", seen)
    return True


def _restamp(name: str, seen: Mapping[str, str]) -> None:
    """Note how the same content looks now, in a copy that takes the place of the index."""
    import os
    import shutil
    from contextlib import suppress
    from pathlib import Path

    from morph_tasks.codegraph.index_write import beside_of

    path = Path(name)
    beside = beside_of(path)
    with suppress(OSError, sqlite.Error):
        try:
            shutil.copyfile(path, beside)
            with closing(sqlite.connect(beside, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = OFF")
                connection.executemany(
                    "UPDATE meta SET value = ? WHERE name = ?", [(v, k) for k, v in seen.items() if v]
                )
            os.replace(beside, path)
        finally:
            with suppress(OSError):
                os.unlink(beside)


def _assembled(root: Path | str) -> tuple[Table, dict[str, Any]]:
    """Read the graph and put it right; raises Refusal."""
    from pathlib import Path

    from morph_tasks.codegraph import raw, sanitise
    from morph_tasks.codegraph.table import tabulate

    graph_path, recovered_path = inputs(root)
    graph, recovered = _read_graph(root, graph_path), read_if_possible(recovered_path)
    parsed = raw.parse(graph.data, Path(graph_path))
    table = tabulate(parsed)
    sanitise.put_right(table, recovered.data)
    meta = {
        "built_at": parsed.built_at_commit,
        "recovery": int(recovered.digest != ABSENT),
        **{f"count_{name}": count for name, count in table.counts.items()},
        **_stamp("graph", graph, graph_path),
        **_stamp("recovered", recovered, recovered_path),
    }
    return table, meta


def _read_graph(root: Path | str, path: str) -> Input:
    """Read the graph; a refusal says how it can be read."""
    try:
        return read(path)
    except Refusal as refusal:
        if refusal.code == "unreadable-file":
            from morph_tasks.codegraph.unreadable import unreadable

            raise unreadable(str(root), refusal.what.rpartition("cannot be read: ")[2]) from None
        raise


def _stamp(role: str, known: Input, path: str) -> dict[str, str]:
    """Return what the index notes of a file; one that was written just before is looked at again."""
    seen = known.seen
    if not seen:
        again = read_if_possible(path)
        seen = again.seen if again.digest == known.digest else ""
    return {f"{role}_seen": seen, f"{role}_digest": known.digest}
