"""What graphify itself answers to `affected`, from the rows of its links that the index keeps as they were."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.naming import bare, fold, names_its_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from morph_tasks.codegraph.index_read import Index

RELATIONS = frozenset({
    "calls", "indirect_call", "references", "imports", "imports_from", "dynamic_import", "re_exports", "inherits",
    "extends", "implements", "uses", "mixes_in", "embeds", "defines", "requires",
})  # fmt: skip
_SUPERTYPE = frozenset({"inherits", "extends", "implements"})
_MEMBER = frozenset({"method", "contains"})
_NODES = "SELECT n.id, n.key, n.label, p.path, n.line FROM node n LEFT JOIN path p ON p.id = n.file"
_LINK = (
    "SELECT e.source, e.target, r.name, p.path, e.line FROM edge e"
    " JOIN relation r ON r.id = e.relation LEFT JOIN path p ON p.id = e.file"
)
_LINKS = {end: _LINK + f" WHERE e.{end} IN ({{}}) AND e.layers & 1 ORDER BY e.rowid" for end in ("source", "target")}


class RawHit(NamedTuple):
    """A node that graphify reports: its number and label, how far it is, and the link that leads to it."""

    id: int
    label: str
    depth: int
    relation: str
    file: str | None
    line: int | None


class _Node(NamedTuple):
    id: int
    key: str
    label: str | None
    file: str | None
    line: int | None


class _Link(NamedTuple):
    source: int
    target: int
    relation: str
    file: str | None
    line: int | None


def raw_affected(index: Index, seed: int, *, depth: int = 2, relations: Collection[str] = RELATIONS) -> list[RawHit]:
    """Return the nodes that depend on one, the members of a type and the supertype members it overrides included."""
    walk = _Walk(index)
    seen, hits = {seed}, []
    queue = deque([(seed, 0)])
    for link in walk.out_of(seed):
        if link.relation in _MEMBER and link.target not in seen:
            seen.add(link.target)
            queue.append((link.target, 0))
    stones: set[int] = set()  # overridden members: walked, and reported only when a link of their own leads there
    while queue:
        current, far = queue.popleft()
        if far >= depth:
            continue
        walk.prepare(current, (node for node, away in queue if away == far))
        for overridden in walk.overridden(current):
            if overridden not in seen:
                seen.add(overridden)
                stones.add(overridden)
                queue.appendleft((overridden, far))
        for link in walk.into(current):
            if link.relation not in relations or (link.source in seen and link.source not in stones):
                continue
            if link.source in stones:
                stones.discard(link.source)
            else:
                queue.append((link.source, far + 1))
            seen.add(link.source)
            hits.append((link, far + 1))
    nodes = walk.nodes(link.source for link, _ in hits)
    return [
        RawHit(
            link.source, nodes[link.source].label or nodes[link.source].key, far, link.relation, link.file, link.line
        )
        for link, far in hits
    ]


class _Walk:
    """The raw links, read for a whole level at a time."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._in: dict[int, list[_Link]] = {}
        self._out: dict[int, list[_Link]] = {}
        self._labels: dict[int, str | None] = {}
        self._supertypes: dict[int, list[int]] = {}

    def prepare(self, node: int, others: Iterable[int]) -> None:
        """Read the links into a node, and into those that will be asked for next."""
        if node not in self._in:
            self._read(self._in, "target", dict.fromkeys([node, *others]))

    def into(self, node: int) -> list[_Link]:
        self.prepare(node, ())
        return self._in[node]

    def out_of(self, node: int) -> list[_Link]:
        if node not in self._out:
            self._read(self._out, "source", [node])
        return self._out[node]

    def overridden(self, node: int) -> list[int]:
        """Return the members of the same name of the types that the owner of a method derives from."""
        owners = [link.source for link in self.into(node) if link.relation == "method"]
        return [
            link.target
            for owner in owners
            for base in self._bases(owner)
            for link in self.out_of(base)
            if link.relation == "method" and link.target != node and self._label(link.target) == self._label(node)
        ]

    def nodes(self, numbers: Iterable[int]) -> dict[int, _Node]:
        return {node.id: node for node in _nodes(self._index, "id", numbers)}

    def _bases(self, owner: int) -> list[int]:
        if owner not in self._supertypes:
            found: dict[int, None] = {}
            level = [owner]
            while level:
                links = [link for node in level for link in self.out_of(node) if link.relation in _SUPERTYPE]
                level = list(dict.fromkeys(x.target for x in links if x.target not in found and x.target != owner))
                found.update(dict.fromkeys(level))
            self._supertypes[owner] = list(found)
        return self._supertypes[owner]

    def _label(self, node: int) -> str | None:
        if node not in self._labels:
            self._labels |= {number: known.label for number, known in self.nodes([node]).items()}
        return self._labels[node]

    def _read(self, into: dict[int, list[_Link]], end: str, nodes: Collection[int]) -> None:
        into.update((node, []) for node in nodes)
        for link in map(_Link._make, self._index.by(_LINKS[end], nodes)):
            into[link.target if end == "target" else link.source].append(link)


def resolve_seed(index: Index, query: str, root: Path) -> int | None:
    """Return the one node that graphify takes a text for: a key, a label, a bare name, a path, a part of a label."""
    query = query.rstrip("/\\") or query
    if exact := list(_nodes(index, "key", [query])):
        return exact[0].id
    folded = fold(query)
    named = list(_nodes(index, "name", [fold(bare(query))]))
    for matching in (
        [node for node in named if fold(node.label or "") == folded],
        [node for node in named if _undecorated(node.label or "") == _undecorated(query)],
    ):
        if len(matching) == 1:
            return matching[0].id
    path = _relative(query, root)
    paths = [number for number, known in index.rows("SELECT id, path FROM path") if fold(known) in (folded, fold(path))]
    inside = list(_nodes(index, "file", paths))
    if (found := inside[0].id if len(inside) == 1 else _file_node(inside, path)) is not None:
        return found
    holding = [row[0] for row in index.rows("SELECT id, label FROM node") if folded in fold(row[1] or "")]
    return holding[0] if len(holding) == 1 else None


def _file_node(inside: list[_Node], path: str) -> int | None:
    """Return the node that stands for the file itself among those that lie in it."""
    name = fold(Path(path).name)
    first = [node for node in inside if node.line == 1]
    called = [node for node in inside if fold(node.label or "") == name]
    for matching in (
        [node for node in first if node in called],
        [node for node in first if node.label and names_its_file(node.label, node.file or "")],
        first,
        called,
    ):
        if len(matching) == 1:
            return matching[0].id
    return None


def _relative(query: str, root: Path) -> str:
    path = Path(query)
    if not path.is_absolute():
        return path.as_posix()
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return query


def _undecorated(label: str) -> str:
    return fold(label).removesuffix("()")


def _nodes(index: Index, column: str, values: Iterable[object]) -> Iterable[_Node]:
    return map(_Node._make, index.by(f"{_NODES} WHERE n.{column} IN ({{}})", values))
