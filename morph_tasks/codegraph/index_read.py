"""What can be asked of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph import sqlite
from morph_tasks.codegraph.index_schema import EXTERNAL, HIDDEN, KINDS, REMARK, TEST
from morph_tasks.codegraph.naming import bare, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any

VIAS = ("direct", "coalesced", "language-disambiguated", "recovered-dispatch", "recovered-call", "guessed")
_SANE = 2
_MANY = 500  # below the most variables that any SQLite takes
_NODE = (
    "SELECT n.id, n.key, n.label, n.owner, p.path, n.line, n.kind, n.flags, n.namespace"
    " FROM node n LEFT JOIN path p ON p.id = n.file"
)
_EDGE = (
    "SELECT e.source, e.target, r.name, p.path, e.line, e.via FROM edge e"
    " JOIN relation r ON r.id = e.relation LEFT JOIN path p ON p.id = e.file"
)
_ASKED = "WITH asked AS MATERIALIZED (SELECT id FROM node WHERE id IN ({}))"
# A call of a type is one of the constructor that runs as well: that is kept once, not for each caller.
_BUILT = (
    "SELECT e.source, b.constructor, r.name, p.path, e.line, 4, e.rowid FROM"  # 4: a recovered call
    " {} JOIN relation r ON r.id = e.relation LEFT JOIN path p ON p.id = e.file"
    " WHERE {} IN asked AND r.name = 'calls' AND e.layers & 2 ORDER BY 7"
)
_FOUND = f"{_EDGE.replace('e.via', 'e.via, e.rowid')} WHERE e.{{}} IN asked AND e.layers & {_SANE} UNION ALL"
_INTO = " ".join([
    _ASKED, _FOUND.format("target"), _BUILT.format("built b CROSS JOIN edge e ON e.target = b.type", "b.constructor")
])  # fmt: skip
_OUT_OF = " ".join([
    _ASKED, _FOUND.format("source"), _BUILT.format("edge e CROSS JOIN built b ON b.type = e.target", "e.source")
])  # fmt: skip


# Not dataclasses: their import takes longer than the whole answer.
class Symbol(NamedTuple):
    """A node of the graph: a file, a type, a member. `key` is graphify's id, `file` a path from the root."""

    id: int
    key: str
    label: str
    name: str
    owner: str
    file: str | None
    line: int | None
    kind: str
    test: bool
    external: bool
    namespace: str


class Edge(NamedTuple):
    """`source` depends on `target`; `file` and `line` are the site, `via` says how the edge came to be known."""

    source: int
    target: int
    relation: str
    file: str | None
    line: int | None
    via: str


class Index:
    """An open index; `warnings` are lines that its user should see."""

    def __init__(
        self,
        connection: sqlite.Connection,
        *,
        warnings: Collection[str] = (),
        remake: Callable[[], sqlite.Connection] | None = None,
    ) -> None:
        self._connection = connection
        self._remake = remake
        self._known: dict[str, Any] | None = None
        self.warnings = list(warnings)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @property
    def built_at(self) -> str | None:
        """Return the commit that the graph says it was built at."""
        return self._meta().get("built_at")

    @property
    def recovery(self) -> bool:
        """Tell whether edges that graphify lost had been looked for when the index was made."""
        return bool(self._meta().get("recovery"))

    def counts(self) -> dict[str, int]:
        """Return how much there is of what: nodes, links, and what the sanitising found."""
        known = self._meta()
        return {name.removeprefix("count_"): known[name] for name in sorted(known) if name.startswith("count_")}

    def symbol(self, id: int) -> Symbol:
        """Return one symbol; raises KeyError."""
        return self.symbols([id])[id]

    def symbols(self, ids: Iterable[int]) -> dict[int, Symbol]:
        """Return symbols by their number; numbers that there are not are left out."""
        return {found.id: found for found in self._symbols("n.id IN ({})", ids)}

    def in_file(self, path: str) -> list[Symbol]:
        """Return what a file declares, by line, the parts of partial types included; the file itself is left out."""
        known = {found.id: found for found in self.where("p.path IN ({})", [path])}
        files = [found.id for found in known.values() if found.kind == "file"]
        parts = {edge.target: edge for edge in self.out_of(files) if edge.relation == "contains" and edge.file == path}
        for part in self.symbols(id for id in parts if id not in known).values():
            if part.kind == "type":
                known[part.id] = part._replace(file=path, line=parts[part.id].line)
        declared = [found for found in known.values() if found.kind not in ("file", "namespace", "package")]
        return sorted(declared, key=lambda found: (found.line or 0, found.id))

    def into(self, ids: Iterable[int]) -> list[Edge]:
        """Return the edges of what depends on these symbols."""
        return [_edge(row[:-1]) for row in self.by(_INTO, ids)]

    def out_of(self, ids: Iterable[int]) -> list[Edge]:
        """Return the edges to what these symbols depend on."""
        return [_edge(row[:-1]) for row in self.by(_OUT_OF, ids)]

    def members(self, id: int) -> list[Symbol]:
        """Return what a type, or a file, holds."""
        inside = dict.fromkeys(edge.target for edge in self.out_of([id]) if edge.relation in ("method", "contains"))
        known = self.symbols(inside)
        return [known[member] for member in inside if member in known]

    def names(self, words: Collection[str]) -> list[Symbol]:
        """Return the types, functions and methods of the tree with one of these bare names, capitals or not."""
        found = self.where("n.name IN ({})", {fold(word) for word in words})
        return [symbol for symbol in found if symbol.file and symbol.kind in ("type", "function", "method", "other")]

    def undecided(self, ids: Iterable[int]) -> list[tuple[Edge, tuple[int, ...]]]:
        """Return the references that may mean one of these symbols or another of the name, with all candidates."""
        choices = {row[0] for row in self.by("SELECT DISTINCT id FROM choice WHERE option IN ({})", ids)}
        options: dict[int, list[int]] = {}
        for choice, option in self.by("SELECT id, option FROM choice WHERE id IN ({})", choices):
            options.setdefault(choice, []).append(option)
        known = {choice: tuple(found) for choice, found in options.items()}
        of_edge = dict(self.by("SELECT edge, choice FROM undecided WHERE choice IN ({})", choices))
        found = self.by(f"{_EDGE.replace('SELECT', 'SELECT e.rowid,')} WHERE e.rowid IN ({{}})", of_edge)
        return [(_edge(edge), known[of_edge[row]]) for row, *edge in found]

    def find(self, query: str) -> list[Symbol]:
        """Return what a text can mean, by the first of these that there is: a key, a path, `path:Name`, a name.

        A name is a label, a bare name, or one with its owner, namespace or module before it. Stubs that stand for
        another symbol are never found.
        """
        from morph_tasks.codegraph.index_find import find

        return find(self, query)

    def where(self, condition: str, values: Iterable[Any]) -> list[Symbol]:
        """Return code for which `condition`, with `{}` for the values, holds (columns of `n` and `p`)."""
        return list(self._symbols(f"{condition} AND NOT n.flags & {REMARK}", values))

    def rows(self, sql: str, values: Collection[Any] = ()) -> list[Any]:
        """Return the rows of a question. An index that turns out to be torn is made anew, once."""
        try:
            return self._connection.execute(sql, tuple(values)).fetchall()
        except UnicodeEncodeError:  # bytes that are no UTF-8, in a path or in what somebody typed
            return self.rows(sql, [_storable(value) for value in values])
        except sqlite.DatabaseError:
            if self._remake is None:
                raise
        self._connection.close()
        self._connection, self._remake = self._remake(), None
        return self._connection.execute(sql, tuple(values)).fetchall()

    def _meta(self) -> dict[str, Any]:
        if self._known is None:
            self._known = dict(self.rows("SELECT name, value FROM meta"))
        return self._known

    def by(self, sql: str, values: Iterable[Any]) -> Iterator[Any]:
        """Return the rows of a question about many values, which take the place of `{}` in it."""
        given = list(dict.fromkeys(values))
        for start in range(0, len(given), _MANY):
            part = given[start : start + _MANY]
            yield from self.rows(sql.format(",".join("?" * len(part))), part)

    def _symbols(self, condition: str, values: Iterable[Any]) -> Iterator[Symbol]:
        for row in self.by(f"{_NODE} WHERE {condition} AND NOT n.flags & {HIDDEN} ORDER BY n.id", values):
            yield _symbol(row)


def _storable(value: Any) -> Any:
    """Return a value as the index holds it: what is no UTF-8 was spelled out when the graph was read."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _edge(row: Sequence[Any]) -> Edge:
    source, target, relation, file, line, via = row
    return Edge(source, target, relation, file, line, VIAS[via])


def _symbol(row: tuple[Any, ...]) -> Symbol:
    number, key, label, owner, file, line, kind, flags, namespace = row
    label = label or key
    test, external = bool(flags & TEST), bool(flags & EXTERNAL)
    return Symbol(number, key, label, bare(label), owner, file, line, KINDS[kind], test, external, namespace)
