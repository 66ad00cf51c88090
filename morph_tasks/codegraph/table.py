"""The graph as rows of numbers: what the sanitising works on and the index stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.naming import kind_of, line_of
from morph_tasks.codegraph.raw import RawGraph, RawLink, RawNode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RAW, SANE = 1, 2  # the layers that an edge belongs to
BOTH = RAW | SANE
VIAS = ("direct", "coalesced", "language-disambiguated", "recovered-dispatch", "recovered-call")

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
    kinds: list[str] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    external: set[int] = field(default_factory=set)
    undecided: dict[int, tuple[int, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    multigraph: bool = False

    def links_of(self, *relations: str) -> list[tuple[int, int]]:
        """Return the ends of the sane edges with one of these relations."""
        wanted = {self.relations[name] for name in relations if name in self.relations}
        return [(row[0], row[1]) for row in self.rows if row[2] in wanted and row[5] & SANE]


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
    nodes += [RawNode(id=key) for key in list(ids)[len(nodes) :]]
    table = Table(nodes, ids, links, rows, files, relations, lines, multigraph=bool(graph.multigraph))
    _describe(table)
    return table


def _merge(node: RawNode, again: RawNode) -> None:
    """Let a second record of the same node win, key by key, as it does where graphify reads the file."""
    for name in RawNode.__struct_fields__:
        if (value := getattr(again, name)) is not None:
            setattr(node, name, value)


def _describe(table: Table) -> None:
    """Find out what each node is, and the type that a member belongs to."""
    method = table.relations.get("method", -1)
    inside = {method, table.relations.get("contains", -1), table.relations.get("defines", -1)}
    methods = {row[1] for row in table.rows if row[2] == method}
    parents = {row[0] for row in table.rows if row[2] in inside}
    nodes = table.nodes
    table.kinds = kinds = [
        kind_of(node, is_method=number in methods, is_parent=number in parents) for number, node in enumerate(nodes)
    ]
    table.owners = {
        row[1]: row[0] for row in reversed(table.rows) if row[2] in inside and kinds[row[0]] in ("type", "other")
    }
