"""The graph as rows of numbers: what the sanitising works on and the index stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.marks import is_test
from morph_tasks.codegraph.naming import bare, kind_of, line_of
from morph_tasks.codegraph.raw import RawGraph, RawLink, RawNode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RAW, SANE = 1, 2  # the layers that an edge belongs to
BOTH = RAW | SANE
DIRECT, COALESCED, LANGUAGE, DISPATCH, CALL, GUESSED = range(6)  # how an edge came to be known: positions in `VIAS`

# source, target, relation, file, line, layers, via: positions in the lists of the table; file 0 is none
Row = tuple[int, int, int, int, int | None, int, int]


class Numbers(dict[Any, int]):
    """Number what is looked up, in the order of the first look."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class _Cached(dict[Any, Any]):
    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __missing__(self, key: Any) -> Any:
        self[key] = value = self._make(key)
        return value


@dataclass(slots=True)
class Table:
    """Nodes by their number; rows of links in the order of the file, then what was added."""

    nodes: list[RawNode]
    ids: Numbers
    links: list[RawLink]
    rows: list[Row]
    files: Numbers
    relations: Numbers
    lines: Mapping[str | None, int | None]
    positions: dict[int, list[int]] = field(default_factory=dict)  # of the rows, by relation
    home: list[int] = field(default_factory=list)  # the file of each node
    tests: list[bool] = field(default_factory=list)  # whether a file is test code, by its number
    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    external: set[int] = field(default_factory=set)
    undecided: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by the position of the row
    paths: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    built: list[tuple[int, int]] = field(default_factory=list)  # a type and the constructor that a call of it runs

    def move(self, position: int, source: int, target: int, via: int) -> None:
        """Put the ends of a link on other nodes; the link as it was stays in the raw layer."""
        _, _, relation, file, line, layers, _ = self.rows[position]
        moved = (source, target, relation, file, line, SANE, via)
        if layers & RAW:
            self.leave_out(position)
            self.add(moved)
        else:
            self.rows[position] = moved

    def leave_out(self, position: int) -> None:
        """Take a link out of the sane layer."""
        row = self.rows[position]
        self.rows[position] = (*row[:5], row[5] & RAW, row[6])

    def add(self, row: Row) -> None:
        """Add an edge that graphify does not have."""
        self.positions.setdefault(row[2], []).append(len(self.rows))
        self.rows.append(row)

    def extend(self, rows: list[Row]) -> None:
        """Add edges that graphify does not have."""
        for position, row in enumerate(rows, len(self.rows)):
            self.positions.setdefault(row[2], []).append(position)
        self.rows += rows

    def find_owners(self) -> None:
        """Find the type that each member belongs to."""
        kinds = self.kinds
        links = self.links_of("contains", "defines", "method")
        self.owners = {held: holder for holder, held in links if kinds[holder] in ("type", "other")}

    def path_of(self, file: int) -> str | None:
        """Return the path that a number of `files` stands for."""
        if len(self.paths) != len(self.files):
            self.paths = ["" if path is None else path for path in self.files]
        return self.paths[file] or None

    def links_of(self, *relations: str) -> list[tuple[int, int]]:
        """Return the ends of the sane edges with one of these relations."""
        rows = self.rows
        return [rows[at][:2] for at in self.at(*relations) if rows[at][5] & SANE]

    def at(self, *relations: str) -> list[int]:
        """Return the positions of the rows with one of these relations, one relation after the other."""
        found = [self.positions.get(self.relations[name], []) for name in relations if name in self.relations]
        return found[0] if len(found) == 1 else [position for part in found for position in part]


def tabulate(graph: RawGraph) -> Table:
    """Number the nodes and links of a graph. An end of a link that no node describes becomes a node without a label."""
    ids = Numbers()
    nodes: list[RawNode] = []
    for node in graph.nodes:
        number = ids[node.id]
        if number == len(nodes):
            nodes.append(node)
        else:
            _merge(nodes[number], node)
    files, relations, lines = Numbers(), Numbers(), _Cached(line_of)
    files[None], files[""] = 0, 0
    links = graph.all_links()
    rows: list[Row] = [
        (
            ids[link.source],
            ids[link.target],
            relations[link.relation or ""],
            files[link.source_file],
            lines[link.source_location],
            BOTH,
            0,
        )
        for link in links
    ]
    if not graph.multigraph:
        _merge_parallel(rows, links)
    nodes += [RawNode(id=key) for key in list(ids)[len(nodes) :]]
    positions: dict[int, list[int]] = {number: [] for number in relations.values()}
    table = Table(nodes, ids, links, rows, files, relations, lines, positions)
    _describe(table)
    return table


def _merge_parallel(rows: list[Row], links: list[RawLink]) -> None:
    """Let the last of several links between two nodes win in the raw layer, key by key, as in graphify."""
    if len({row[0] << 32 | row[1] for row in rows}) == len(rows):
        return
    first: dict[tuple[int, int], list[int]] = {}
    for position, row in enumerate(rows):
        first.setdefault(row[:2], []).append(position)
    for (source, target), positions in first.items():
        if len(positions) == 1:
            continue
        said: list[int | None] = [rows[positions[0]][at] for at in (2, 3, 4)]
        for position in positions:
            row, link = rows[position], links[position]
            given = (link.relation, link.source_file, link.source_location)
            said = [old if value is None else row[at] for at, old, value in zip((2, 3, 4), said, given, strict=True)]
            rows[position] = (*row[:5], SANE, row[6])
        rows.append((source, target, said[0] or 0, said[1] or 0, said[2], RAW, DIRECT))


def _merge(node: RawNode, again: RawNode) -> None:
    """Let a second record of the same node win, key by key, as it does where graphify reads the file."""
    for name in RawNode.__struct_fields__:
        if (value := getattr(again, name)) is not None:
            setattr(node, name, value)


def _describe(table: Table) -> None:
    """Find out what each node is called, what it is, and what it belongs to."""
    for position, row in enumerate(table.rows):
        table.positions[row[2]].append(position)
    rows = table.rows
    methods = {rows[at][1] for at in table.at("method")}
    parents = {rows[at][0] for at in table.at("contains", "defines", "method")}
    table.home = [table.files[node.source_file] for node in table.nodes]
    table.tests = [bool(path and is_test(path)) for path in table.files]
    table.names = [bare(node.label or "") for node in table.nodes]
    table.kinds = [
        kind_of(node, is_method=number in methods, is_parent=number in parents)
        for number, node in enumerate(table.nodes)
    ]
    table.find_owners()
