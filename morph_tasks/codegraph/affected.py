"""What depends on a symbol, by distance: the edges of the graph walked backwards, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.packages import meant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from morph_tasks.codegraph.index import Edge, Index, Symbol

INHERITANCE = frozenset({"inherits", "implements", "extends"})
IMPORTS = frozenset({"imports", "imports_from", "re_exports", "dynamic_import"})
# By these a symbol hangs on another one; where a thing lies, and what its comments say, is none of it.
DEPENDS = INHERITANCE | IMPORTS | {
    "calls", "indirect_call", "references", "uses", "mixes_in", "embeds", "requires",
}  # fmt: skip
CONTAINS = frozenset({"method", "contains", "defines"})
HOLDS = frozenset({"type", "file", "other"})  # what a question means with all that is in it
DISPATCH = "dispatches_to"


# Not dataclasses: their import takes as long as the walk.
class Hit(NamedTuple):
    """One symbol that depends on a seed.

    `file` and `line` are the site of the edge, `target` what the edge names there (a member of the seed, or what a
    member overrides), `through` the seed or the nearer hit that it hangs on, `more` its other edges of that distance.
    """

    symbol: Symbol
    depth: int
    relation: str
    via: str
    file: str | None
    line: int | None
    test: bool
    through: int
    target: int
    more: tuple[Edge, ...] = ()


class Reach:
    """The hits of a walk, and what it left out or looked at on the way.

    `members`: symbols inside the seeds; `stones`: members of supertypes whose callers may run a seed; `targets`: the
    symbols that hits name as `through` or `target`.
    """

    __slots__ = ("hits", "inheritance_left_out", "members", "stones", "targets", "tests_left_out")

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.members: list[int] = []
        self.stones: list[int] = []
        self.tests_left_out = 0
        self.inheritance_left_out = 0
        self.targets: dict[int, Symbol] = {}


def affected(
    index: Index, seeds: Iterable[Symbol], *, depth: int = 2, prod: bool = False, uses_only: bool = False
) -> list[Hit]:
    """Return what depends on any of the seeds, nearest first.

    A type stands for its members as well, a method for what it overrides: whoever calls that may run it. `prod`
    leaves test code out of the answer but not out of the way; `uses_only` does not follow inheritance.
    """
    return reach(index, seeds, depth=depth, prod=prod, uses_only=uses_only).hits


def reach(
    index: Index,
    seeds: Iterable[Symbol],
    *,
    depth: int = 2,
    prod: bool = False,
    uses_only: bool = False,
    alone: Collection[int] = (),
) -> Reach:
    """Return the same with what was looked at; seeds in `alone` do not stand for what is in them."""
    walk = _Walk(index, DEPENDS - INHERITANCE if uses_only else DEPENDS)
    found = walk.from_seeds(list(seeds), depth, alone)
    if prod:
        kept = [hit for hit in found.hits if not hit.test]
        found.hits, found.tests_left_out = kept, len(found.hits) - len(kept)
    return found


class _Walk:
    """One walk. Everything is asked of the index for a whole layer at once."""

    def __init__(self, index: Index, relations: frozenset[str]) -> None:
        self.index = index
        self.relations = relations
        self.known: dict[int, Symbol] = {}
        self.stands_for: dict[int, int] = {}  # member or stone -> the seed or hit that is meant
        self.recovered: set[int] = set()  # stones that were found by a recovered dispatch
        self.bases: dict[int, set[int]] = {}

    def from_seeds(self, seeds: list[Symbol], depth: int, alone: Collection[int]) -> Reach:
        found = Reach()
        self.known |= {one.id: one for one in seeds}
        found.members = self._members({one.id: one.id for one in seeds if one.kind in HOLDS and one.id not in alone})
        seen = {one.id for one in seeds} | set(found.members)
        layer, stones = set(seen), set[int]()
        for distance in range(1, depth + 1):
            edges, fresh = self._edges_into(layer, seen)
            stones |= fresh
            found.stones += sorted(fresh)
            found.inheritance_left_out += len(
                {one.source for one in edges if one.relation in INHERITANCE - self.relations and one.source not in seen}
            )
            groups: dict[int, list[Edge]] = {}
            for edge in edges:
                if edge.relation in self.relations and (edge.source not in seen or edge.source in stones):
                    groups.setdefault(edge.source, []).append(edge)
            self._learn(groups)
            found.hits += self._hits(groups, distance)
            layer = {one for one in groups if one not in stones}
            stones -= groups.keys()  # a stone that something real reaches is reported once
            seen |= groups.keys()
        named = {hit.target for hit in found.hits} | {hit.through for hit in found.hits}
        self._learn(named)
        found.targets = {one: self.known[one] for one in named if one in self.known}
        return found

    def _learn(self, ids: Iterable[int]) -> None:
        self.known |= self.index.symbols({one for one in ids if one not in self.known})

    def _members(self, owners: dict[int, int]) -> list[int]:
        """Return what is inside the seeds, at any depth; a namespace is inside no file."""
        found: list[int] = []
        layer = dict(owners)
        while layer:
            inside = {
                edge.target: layer[edge.source]
                for edge in self.index.out_of(layer)
                if edge.relation in CONTAINS and edge.target not in owners and edge.target not in self.stands_for
            }
            self._learn(inside)
            layer = {one: seed for one, seed in inside.items() if self.known[one].kind not in ("namespace", "package")}
            self.stands_for |= layer
            found += layer
            layer = {one: seed for one, seed in layer.items() if self.known[one].kind in HOLDS}
        return found

    def _edges_into(self, layer: set[int], seen: set[int]) -> tuple[list[Edge], set[int]]:
        """Return the edges into a layer and into its stones, and the stones, which `seen` then holds as well."""
        edges: list[Edge] = []
        stones: set[int] = set()
        while layer:
            into = meant(self.index, self.index.into(layer))
            edges += into
            fresh: dict[int, int] = {}
            for edge in into:
                if edge.relation == DISPATCH and edge.source not in seen:
                    fresh[edge.source] = edge.target
                    if edge.via != "direct":
                        self.recovered.add(edge.source)
            for stone, member in self._overridden(into).items():
                if stone not in seen:
                    fresh.setdefault(stone, member)
            for stone, member in fresh.items():
                self.stands_for[stone] = self.stands_for.get(member, member)
            stones |= fresh.keys()
            seen |= fresh.keys()
            layer = set(fresh)
        return edges, stones

    def _overridden(self, into: list[Edge]) -> dict[int, int]:
        """Return the members of supertypes that methods override, each with the method; `into`: the methods' edges."""
        methods: dict[int, set[int]] = {}  # owner -> its methods of the layer
        for edge in into:
            if edge.relation == "method":
                methods.setdefault(edge.source, set()).add(edge.target)
        self.bases |= related(self.index, methods.keys() - self.bases.keys(), up=True)
        wanted = {base for owner in methods for base in self.bases[owner]}
        if not wanted:
            return {}
        inside: dict[int, list[int]] = {}
        for edge in self.index.out_of(wanted):
            if edge.relation == "method":
                inside.setdefault(edge.source, []).append(edge.target)
        self._learn(one for members in inside.values() for one in members)
        self._learn(one for members in methods.values() for one in members)
        found: dict[int, int] = {}
        for owner, members in sorted(methods.items()):
            by_label = {self.known[one].label: one for one in sorted(members)}
            for base in sorted(self.bases[owner]):
                for member in inside.get(base, ()):
                    mine = by_label.get(self.known[member].label)
                    if mine is not None and mine != member:
                        found.setdefault(member, mine)
        return found

    def _hits(self, groups: dict[int, list[Edge]], depth: int) -> list[Hit]:
        hits = [self._hit(self.known[source], sorted(edges, key=_rank), depth) for source, edges in groups.items()]
        return sorted(hits, key=lambda hit: (hit.test, hit.symbol.file or "", hit.symbol.line or 0, hit.symbol.id))

    def _hit(self, symbol: Symbol, edges: list[Edge], depth: int) -> Hit:
        best = edges[0]
        via = "recovered-dispatch" if best.target in self.recovered and best.via == "direct" else best.via
        return Hit(
            symbol=symbol,
            depth=depth,
            relation=best.relation,
            via=via,
            file=best.file or symbol.file,
            line=best.line if best.file else symbol.line,
            test=symbol.test,
            through=self.stands_for.get(best.target, best.target),
            target=best.target,
            more=tuple(edges[1:]),
        )


def related(index: Index, types: Iterable[int], *, up: bool) -> dict[int, set[int]]:
    """Return for each type all that it derives from; not `up`: all that derive from it."""
    wanted = set(types)
    near: dict[int, set[int]] = {}
    layer, asked = set(wanted), set(wanted)
    while layer:
        for edge in index.out_of(layer) if up else index.into(layer):
            if edge.relation in INHERITANCE:
                start, end = (edge.source, edge.target) if up else (edge.target, edge.source)
                near.setdefault(start, set()).add(end)
        layer = {end for one in layer for end in near.get(one, ())} - asked
        asked |= layer
    found: dict[int, set[int]] = {one: set() for one in wanted}
    for start, ends in found.items():
        stack = list(near.get(start, ()))
        while stack:
            one = stack.pop()
            if one not in ends and one != start:
                ends.add(one)
                stack += near.get(one, ())
    return found


def _rank(edge: Edge) -> tuple[bool, bool, bool, str, int, str, int]:
    """Put what runs before what is inherited, that before an import, and a guess last; the same choice every time."""
    imported, inherited = edge.relation in IMPORTS, edge.relation in INHERITANCE
    return edge.via == "guessed", imported, inherited, edge.file or "", edge.line or 0, edge.relation, edge.target
