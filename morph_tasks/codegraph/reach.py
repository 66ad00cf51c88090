"""What files have to do with each other in the code graph, over which symbols: few questions for many files."""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from morph_tasks.codegraph.affected import DEPENDS, DISPATCH, INHERITANCE
from morph_tasks.codegraph.ask import shown
from morph_tasks.codegraph.packages import meant

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Edge, Index, Symbol

IMPORTS = frozenset({"imports", "imports_from", "dynamic_import"})
HANDS_ON = "re_exports"
_USES = DEPENDS | {DISPATCH}
DEPENDENT, DEPENDENCY = "dependent", "dependency"


@dataclass(frozen=True)
class Step:
    """One symbol of a path; `relation` is how it uses `uses`, at the line `at_line` of `at_file`.

    `uses` is the symbol before, or a member of it.
    """

    symbol: str
    file: str | None
    line: int | None
    relation: str = ""
    uses: str = ""
    at_file: str | None = None
    at_line: int | None = None
    via: str = ""

    @property
    def at(self) -> str | None:
        """Return the citation, `file:line`; None where the graph gives none."""
        return f"{self.at_file}:{self.at_line}" if self.at_file and self.at_line else self.at_file

    def as_json(self) -> dict[str, Any]:
        keys = {"symbol": self.symbol, "file": self.file, "line": self.line}
        how = {"relation": self.relation or None, "uses": self.uses or None}
        return {**keys, **how, "at": self.at, "via": self.via or None}


@dataclass(frozen=True)
class Link:
    """`consumer` depends on `changed`, directly (distance 1) or over a symbol of a third file (2).

    `path`: from a symbol of `changed` to one of `consumer`; `more`: how many other paths there are.
    """

    changed: str
    consumer: str
    distance: int
    path: tuple[Step, ...]
    more: int = 0


@dataclass(frozen=True)
class Near:
    """A file that depends on one of `planned` (`how`: dependent), or that one of them depends on (dependency)."""

    file: str
    planned: str
    how: str
    path: tuple[Step, ...]


class _Home:
    """The symbols of some files, and the edges that touch them; `unknown`: files of which the graph has nothing."""

    def __init__(self, graph: Index, files: Collection[str]) -> None:
        self.graph = graph
        self.known = {one.id: one for one in graph.where("p.path IN ({})", sorted(files))}
        self.files: dict[int, tuple[str, ...]] = {one.id: (one.file or "",) for one in self.known.values()}
        outward = graph.out_of(self.known)
        self._add_parts(outward)
        named = {path for paths in self.files.values() for path in paths}
        self.unknown = tuple(path for path in sorted(files) if path not in named)
        self.learn({edge.target for edge in outward})
        self.inward = self._uses(graph.into(self.files))
        self.outward = self._uses(outward)

    def _uses(self, edges: Iterable[Edge]) -> list[Edge]:
        """Return what tells a use of a file; a namespace is in the graph with one of the files that declare it."""
        spread = {one.id for one in self.known.values() if one.kind == "namespace"}
        found = [edge for edge in edges if edge.relation in _USES and edge.target not in spread]
        return meant(self.graph, found)

    def _add_parts(self, outward: list[Edge]) -> None:
        """Count a partial type to each of the files that declare it; the graph has it in one."""
        parts: dict[int, dict[str, None]] = {}
        for edge in outward:
            if edge.relation == "contains" and edge.file and self.known[edge.source].kind == "file":
                parts.setdefault(edge.target, {})[edge.file] = None
        self.learn(parts)
        for one, paths in parts.items():
            if one in self.known and self.known[one].kind == "type":
                self.files[one] = tuple({**dict.fromkeys(self.files.get(one, ())), **paths})
        outward += self.graph.out_of({one for one in self.files if one in parts} - {edge.source for edge in outward})

    def learn(self, ids: Iterable[int]) -> None:
        self.known |= self.graph.symbols({one for one in ids if one not in self.known})

    def sites(self, edge: Edge) -> tuple[str, ...]:
        """Return the files of what uses something by an edge: that of its site, where a type is in several."""
        files = self.files[edge.source]
        return (edge.file,) if edge.file in files else files


def links(graph: Index, files: Collection[str]) -> tuple[list[Link], tuple[str, ...]]:
    """Return how the files depend on each other, the shortest way of each pair, and the files the graph has not."""
    home = _Home(graph, files)
    direct: dict[tuple[str, str], list[Edge]] = {}
    for edge in home.inward:
        if edge.source not in home.files or edge.relation == DISPATCH:
            continue  # what dispatches is called by others: it is a way to them, and changes nothing itself
        for pair in product(home.files[edge.target], home.sites(edge)):
            if pair[0] != pair[1]:
                direct.setdefault(pair, []).append(edge)
    over = _over_a_third(home, direct)
    home.learn(end for ways in over.values() for way in ways for edge in way for end in (edge.source, edge.target))
    found = [_direct(home, pair, edges) for pair, edges in direct.items()]
    found += [_transitive(home, pair, ways) for pair, ways in over.items()]
    return sorted(found, key=lambda one: (one.distance, one.changed, one.consumer)), home.unknown


def near(graph: Index, files: Collection[str]) -> tuple[list[Near], tuple[str, ...]]:
    """Return the files that depend on some files directly, or that they depend on, and the files the graph has not."""
    home = _Home(graph, files)
    inside = home.files.keys()
    ends = [(edge, edge.target, edge.source, DEPENDENT) for edge in home.inward if edge.source not in inside]
    ends += [(edge, edge.source, edge.target, DEPENDENCY) for edge in home.outward if edge.target not in inside]
    ends = [one for one in ends if one[0].relation != DISPATCH]
    home.learn(other for _, _, other, _ in ends)
    found: dict[tuple[str, str, str], Edge] = {}
    for edge, mine, other, how in ends:
        there = home.known.get(other)
        if there is not None and there.file and not there.external:
            for path in home.files[mine]:
                _keep_best(found, (there.file, path, how), edge)
    return [Near(*key, _steps(home, [edge])) for key, edge in sorted(found.items())], home.unknown


def _weight(edge: Edge) -> int:
    """Return how little an edge says: what runs, or is inherited, is 0, what is only named 1, an import 2."""
    return 2 if edge.relation in IMPORTS else 1 if edge.relation in ("uses", "references") else 0


def _rank(edge: Edge) -> tuple[int, str, int, int, int]:
    """Put what says most first, and make the choice the same every time."""
    return _weight(edge), edge.file or "", edge.line or 0, edge.target, edge.source


Way = tuple["Edge", "Edge"]  # from the third file to the changed one, from the consumer to the third
Key = TypeVar("Key", bound=Hashable)


def _over_a_third(home: _Home, nearer: Container[tuple[str, str]]) -> dict[tuple[str, str], list[Way]]:
    """Return the ways over one symbol of another file: met in the middle, so that no hub is walked."""
    below: dict[int, dict[str, Edge]] = {}  # middle: changed file -> edge
    above: dict[int, dict[str, Edge]] = {}  # middle: consumer file -> edge
    whole: dict[int, dict[str, Edge]] = {}  # the same, without imports of which the names are known
    named = _named(home.outward)
    for edge in home.inward:
        for path in home.files[edge.target]:
            _keep_best(below.setdefault(edge.source, {}), path, edge)
    for edge in home.outward:
        if edge.relation != DISPATCH:
            for path in home.sites(edge):
                _keep_best(above.setdefault(edge.target, {}), path, edge)
                if edge not in named:
                    _keep_best(whole.setdefault(edge.target, {}), path, edge)
    for member, owner in _members(home, below):
        for path, edge in above.get(member, {}).items():
            _keep_best(above.setdefault(owner, {}), path, edge)
    middles = sorted(below.keys() & above.keys())
    home.learn(middles)
    found: dict[tuple[str, str], list[Way]] = {}
    for middle in middles:
        symbol = home.known.get(middle)
        if symbol is None or symbol.kind in ("namespace", "package"):
            continue
        for (changed, first), consumer in product(below[middle].items(), above[middle]):
            # What hands on is a way to the names alone that somebody imports, and these have edges of their own.
            second = (whole if first.relation == HANDS_ON else above).get(middle, {}).get(consumer)
            pair = (changed, consumer)
            if second is None:
                continue
            if changed != consumer and pair not in nearer and _leads_on(symbol, first, second):
                found.setdefault(pair, []).append((first, second))
    return found


def _named(edges: Iterable[Edge]) -> set[Edge]:
    """Return the imports whose line imports something else as well: `from . import money` has two edges."""
    found: dict[tuple[str | None, int], list[Edge]] = {}
    for edge in edges:
        if edge.relation in IMPORTS and edge.line is not None:
            found.setdefault((edge.file, edge.line), []).append(edge)
    return {one for group in found.values() if len({edge.target for edge in group}) > 1 for one in group}


def _members(home: _Home, below: dict[int, dict[str, Edge]]) -> Iterator[tuple[int, int]]:
    """Yield members of types that inherit from what changes: whoever calls them hangs on it as well."""
    types = {one for one, edges in below.items() if any(edge.relation in INHERITANCE for edge in edges.values())}
    for edge in home.graph.out_of(types) if types else ():
        if edge.relation in ("method", "contains"):
            yield edge.target, edge.source


def _leads_on(middle: Symbol, first: Edge, second: Edge) -> bool:
    """Tell whether a change comes through: a file that imports, and is imported, does not say what it uses."""
    return middle.kind != "file" or not (first.relation in IMPORTS and second.relation in IMPORTS)


def _keep_best(edges: dict[Key, Edge], key: Key, edge: Edge) -> None:
    before = edges.get(key)
    if before is None or _rank(edge) < _rank(before):
        edges[key] = edge


def _direct(home: _Home, pair: tuple[str, str], edges: list[Edge]) -> Link:
    used = {(edge.source, edge.target) for edge in edges if edge.relation not in IMPORTS}
    return Link(*pair, 1, _steps(home, [min(edges, key=_rank)]), max(len(used) - 1, 0))


def _transitive(home: _Home, pair: tuple[str, str], ways: list[Way]) -> Link:
    best = min(ways, key=lambda way: (_weight(way[0]) + _weight(way[1]), _rank(way[0]), _rank(way[1])))
    return Link(*pair, 2, _steps(home, best), len(ways) - 1)


def _steps(home: _Home, edges: Iterable[Edge]) -> tuple[Step, ...]:
    """Return the symbols along the edges, from what is used to who uses it."""
    found: list[Step] = []
    for edge in edges:
        target, source = home.known[edge.target], home.known[edge.source]
        if not found:
            found.append(Step(shown(target), target.file, target.line))
        via = edge.via if edge.via != "direct" else ""
        how = (edge.relation, shown(target), edge.file, edge.line, via)
        found.append(Step(shown(source), source.file, source.line, *how))
    return tuple(found)
