"""Which changed symbols tests reach by the code graph: forwards from the tests of scenarios, backwards to any test."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from morph_tasks.codegraph.affected import DEPENDS, IMPORTS
from morph_tasks.codegraph.extracted import content
from morph_tasks.codegraph.spans import Definition, definitions
from morph_tasks.verify.probe import ask
from morph_tasks.verify.reach.contexts import words
from morph_tasks.verify.reach.dispatch import Dispatch, Pair
from morph_tasks.verify.reach.model import RanTest
from morph_tasks.verify.reach.pieces import Piece

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index, Symbol

DEPTH = 6  # edges between a test and what it reaches; from a method to what runs in its place there is none
_USES = DEPENDS - IMPORTS | {"re_exports"}
# Whoever has an object ran these.
_MAKERS = frozenset({"constructor", "initialize", "new"})
_MOST_SEEN = 4000
Masks = dict[int, int]


class Freshness:
    """Answers whether the graph was made of a file as it is now. Without graphify's own list nobody knows: then yes."""

    def __init__(self, root: Path) -> None:
        from morph_tasks.codegraph.layout import graph_folder

        self._root, path = root, graph_folder(root) / "manifest.json"
        ask("file", str(path))
        try:
            said = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            said = None
        self._said: dict[str, Any] | None = said if isinstance(said, dict) else None

    def holds(self, path: str) -> bool:
        """Tell whether the graph speaks of a file as it is."""
        if self._said is None:
            return True
        entry = self._said.get(path)
        known = entry.get("ast_hash") if isinstance(entry, dict) else None
        return known is not None and known == content(f"{self._root}/{path}")


class Tester(NamedTuple):
    """A test of the graph, whatever it carries: its place and name, and its file."""

    said: str
    file: str


class Graph:
    """The code graph with the tests of some scenarios walked from. A test is known by its place in `tests`."""

    def __init__(self, root: Path, index: Index, tests: Sequence[RanTest]) -> None:
        self._root, self.index, self._tests = root, index, tests
        self._fresh = Freshness(root)
        self._in_file: Callable[[str], list[Symbol]] = cache(index.in_file)
        self._spans: dict[str, list[Definition]] = {}
        self._dispatch = Dispatch(index)
        self._testers: dict[tuple[int, ...], list[Tester]] = {}
        self._masks: dict[tuple[str, Definition | None], tuple[int, int]] = {}
        starts: Masks = defaultdict(int)
        files: dict[str, int] = defaultdict(int)
        # Tests that the graph does not have: what they reach is not known.
        self.lost: list[RanTest] = []
        self._whole = 0  # those that are no symbols: their whole file stands for them
        for number, test in enumerate(tests):
            begin, whole = self._starts(test)
            self.lost += [] if begin else [test]
            self._whole |= whole << number
            for symbol in begin:
                starts[symbol] |= 1 << number
            if test.file:
                files[test.file] |= 1 << number
        self._reached, self._files = self._forwards(starts), self._imported(files)
        self._held = [(path, mask & ~self._whole) for path, mask in files.items() if mask & ~self._whole]
        self._by_files, self._inside_files = self._of_files([path for path, _ in self._held])

    def stale(self, path: str) -> bool:
        """Tell whether the graph was made before a file became what it is."""
        return not self._fresh.holds(path)

    def symbols(self, piece: Piece) -> list[Symbol]:
        """Return the symbol of the graph that a piece lies in; none when the graph does not have it."""
        if piece.symbol is None:
            return []
        wanted = (piece.symbol.name, piece.symbol.owner)
        same = [one for one in self._in_file(piece.file) if (one.name, one.owner.rpartition(".")[2]) == wanted]
        return sorted(same, key=lambda one: abs((one.line or 0) - wanted_line(piece)))[:1]

    def reaching(self, piece: Piece) -> list[RanTest]:
        """Return the tests that reach a piece; what lies in no definition runs when its file is loaded."""
        fine, coarse = self._ways(piece)
        return self._named(fine | coarse)

    def by_file(self, piece: Piece) -> list[RanTest]:
        """Return those of them of which no more is known than that their file reaches it."""
        return self._named(self._ways(piece)[1])

    def _named(self, mask: int) -> list[RanTest]:
        return [test for number, test in enumerate(self._tests) if mask >> number & 1]

    def _ways(self, piece: Piece) -> tuple[int, int]:
        """Return the tests that reach a piece themselves, and the other ones whose file does."""
        key = (piece.file, piece.symbol)
        if key not in self._masks:
            loaded = 0 if piece.symbol else self._files.get(piece.file, 0)
            ids = self._meant(piece)
            found = _union(self._reached, ids)
            fine = loaded | (found & ~self._whole)
            # Where a test, or a helper, of the file gets there itself, the edge of the file says no more.
            news = _union(self._by_files, ids) & ~_union(self._inside_files, ids)
            coarse = found & self._whole
            for number, (_, mask) in enumerate(self._held):
                coarse |= mask if news >> number & 1 else 0
            self._masks[key] = fine, coarse & ~fine
        return self._masks[key]

    def _meant(self, piece: Piece) -> set[int]:
        """Return the symbols that a piece speaks of: that of a type with its members; all of the file without one."""
        if piece.symbol is None:
            return {one.id for one in self._in_file(piece.file)}
        found = {one.id: one for one in self.symbols(piece)}
        types = [one for one in found.values() if one.kind == "type"]
        return found.keys() | {member.id for one in types for member in self.index.members(one.id)}

    def testers(self, piece: Piece) -> list[Tester]:
        """Return the nearest tests, whatever they carry, from which a piece is reached."""
        if piece.symbol:
            start, relations = self._meant(piece), _USES
        else:
            start, relations = {one.id for one in self._nodes(piece.file)}, _USES | IMPORTS
        key = tuple(sorted(start))
        if key not in self._testers:
            self._testers[key] = self._backwards(start, relations)
        return self._testers[key]

    def _backwards(self, start: Iterable[int], relations: frozenset[str]) -> list[Tester]:
        wave, seen = set(start), set(start)
        for _ in range(DEPTH):
            stones = set(wave)
            while stones:
                stones = {above for _, above in self._dispatch.up(stones)} - seen
                seen |= stones
                wave |= stones
            edges = [edge for edge in self.index.into(wave) if edge.source not in seen]
            known = self.index.symbols({one.source for one in edges if one.relation in relations | IMPORTS})
            tests = {one.id: one for one in known.values() if one.test and one.file}
            whole = {one for one, symbol in tests.items() if symbol.kind == "file"}
            wave = {edge.source for edge in edges if edge.relation in relations}
            # What a file imports for no symbol of its own says something where the file is one of tests.
            near = {edge.source for edge in edges if edge.source in wave or edge.source in whole}
            found = _testers(tests[one] for one in near if one in tests)
            seen |= wave
            if found or not wave or len(seen) > _MOST_SEEN:
                return found
        return []

    def _nodes(self, path: str) -> list[Symbol]:
        """Return the node of a file."""
        return [one for one in self.index.where("p.path IN ({})", [path]) if one.kind == "file"]

    def _starts(self, test: RanTest) -> tuple[set[int], bool]:
        """Return the symbol of a test with its fixtures; where a test is no symbol, its whole file, and True."""
        here = self._in_file(test.file) if test.file else []
        if not test.file:
            here = [one for one in self.index.names(words(test.name)) if one.test]
        named = _best(here, test)
        if named:
            return {one.id for one in self._with_fixtures(named)}, False
        if test.file is None:
            return set(), False
        return {one.id for one in (*here, *self._nodes(test.file))}, True

    def _with_fixtures(self, tests: Iterable[Symbol]) -> list[Symbol]:
        """Return Python tests with the fixtures that their parameters name, and those of these fixtures."""
        found = {one.id: one for one in tests}
        todo = list(found.values())
        while todo:
            one = todo.pop()
            for name in self._parameters(one):
                fixture = self._fixture(one.file or "", name)
                if fixture is not None and fixture.id not in found:
                    found[fixture.id] = fixture
                    todo.append(fixture)
        return list(found.values())

    def _parameters(self, symbol: Symbol) -> tuple[str, ...]:
        if not symbol.file or not symbol.file.endswith(".py"):
            return ()
        same = [one for one in self._defined(symbol.file) if one.name == symbol.name]
        return min(same, key=lambda one: abs(one.start - (symbol.line or 0))).parameters if same else ()

    def _defined(self, path: str) -> list[Definition]:
        if path not in self._spans:
            try:
                self._spans[path] = definitions(path, (self._root / path).read_bytes()) or []
            except OSError:
                self._spans[path] = []
        return self._spans[path]

    def _fixture(self, path: str, name: str) -> Symbol | None:
        folder = Path(path).parent
        for place in (path, *(str(above / "conftest.py") for above in (folder, *folder.parents))):
            for one in self._in_file(place):
                if one.name == name and one.kind in ("function", "method"):
                    return one
        return None

    def _forwards(self, starts: Mapping[int, int], depth: int = DEPTH) -> Masks:
        """Return the tests that reach each symbol."""
        reached = dict(starts)
        wave: Collection[int] = self._dispatched(starts, reached)
        files = {one.id for one in self.index.symbols(starts).values() if one.kind == "file"}
        for _ in range(depth):
            edges = [
                (edge.source, edge.target)
                for edge in self.index.out_of(wave)
                if edge.relation in _USES or (edge.source in files and edge.relation != "contains")
            ]
            wave = self._dispatched(_pass_on([*edges, *self._made(wave)], reached), reached)
            if not wave:
                break
        return reached

    def _dispatched(self, wave: Iterable[int], reached: Masks) -> set[int]:
        """Return a wave with what runs in the place of its methods."""
        found = fresh = set(wave)
        while fresh:
            fresh = _pass_on(self._dispatch.down(fresh), reached)
            found = found | fresh
        return found

    def _of_files(self, paths: Sequence[str]) -> tuple[Masks, Masks]:
        """Return by place in `paths` the files whose own edges reach each symbol, and those with a symbol that does."""
        inside, outside = defaultdict[int, int](int), defaultdict[int, int](int)
        nodes: Masks = {}
        for number, path in enumerate(paths):
            nodes |= {one.id: 1 << number for one in self._nodes(path)}
            for one in self._in_file(path):
                inside[one.id] |= 1 << number
        edges = [edge for edge in self.index.out_of(nodes) if edge.relation != "contains"]
        # A file that is imported says nothing of what is in it.
        known = self.index.symbols({edge.target for edge in edges})
        for edge in edges:
            target = known.get(edge.target)
            if target is not None and target.kind not in ("file", "namespace", "package"):
                outside[edge.target] |= nodes[edge.source]
        return self._forwards(outside, DEPTH - 1), self._forwards(inside)

    def _made(self, wave: Collection[int]) -> list[Pair]:
        """Return the ways from types to what runs when one of them is made, or is used by a sign of the language."""
        types = {one.id: one for one in self.index.symbols(wave).values() if one.kind == "type"}
        edges = [edge for edge in self.index.out_of(types) if edge.relation in ("method", "contains")]
        members = self.index.symbols({edge.target for edge in edges})
        return [
            (edge.source, edge.target)
            for edge in edges
            if (member := members.get(edge.target)) is not None and _is_maker(member.name, types[edge.source].name)
        ]

    def _imported(self, files: Mapping[str, int]) -> dict[str, int]:
        """Return the tests that load each file, by what is imported."""
        nodes: Masks = defaultdict(int)
        for path, mask in files.items():
            for one in self._nodes(path):
                nodes[one.id] |= mask
        loaded: dict[str, int] = defaultdict(int)
        reached, wave = dict(nodes), set(nodes)
        for _ in range(DEPTH):
            edges = [(edge.source, edge.target) for edge in self.index.out_of(wave) if edge.relation in IMPORTS]
            new = _pass_on(edges, reached)
            known = self.index.symbols(new)
            for one in known.values():
                if one.file:
                    loaded[one.file] |= reached[one.id]
            wave = new
            if not wave:
                break
        return loaded


def wanted_line(piece: Piece) -> int:
    """Return the line at which a graph would have the symbol of a piece."""
    return piece.symbol.start if piece.symbol else piece.first


def _pass_on(edges: Iterable[Pair], reached: Masks) -> set[int]:
    """Hand the tests of each source on to its target; returns the symbols that learnt of a new one."""
    news: Masks = defaultdict(int)
    for source, target in edges:
        news[target] |= reached[source] & ~reached.get(target, 0)
    for target, mask in news.items():
        if mask:
            reached[target] = reached.get(target, 0) | mask
    return {target for target, mask in news.items() if mask}


def _union(masks: Masks, ids: Iterable[int]) -> int:
    found = 0
    for one in ids:
        found |= masks.get(one, 0)
    return found


def _testers(tests: Iterable[Symbol]) -> list[Tester]:
    """Return tests as people read them; a file only where none of its tests is among them."""
    ordered = sorted(tests, key=_tests_first)
    fine = {one.file for one in ordered if one.kind != "file"}
    said = [
        Tester(one.file if one.kind == "file" else f"{one.file}:{one.line or 1} {one.name}", one.file)
        for one in ordered
        if one.file and (one.kind != "file" or one.file not in fine)
    ]
    return list(dict.fromkeys(said))


def _tests_first(one: Symbol) -> tuple[bool, str, int]:
    """Order symbols so that tests come before what helps them."""
    return not one.name.lower().startswith("test"), one.file or "", one.line or 0


def _is_maker(name: str, owner: str) -> bool:
    return name in _MAKERS or name == owner or (name.startswith("__") and name.endswith("__"))


def _best(here: Iterable[Symbol], test: RanTest) -> list[Symbol]:
    """Return the symbol that a test is: by the last of its names that fits, its class before other ones."""
    said = words(test.name)
    functions = [one for one in here if one.kind in ("function", "method") or "(" in one.label]
    for word in reversed(said):
        same = [one for one in functions if one.name == word]
        if same:
            owned = [one for one in same if one.owner.rpartition(".")[2] in said]
            # Without a file a name alone may be another one's.
            return sorted(
                owned or (same if test.file else []), key=lambda one: abs((one.line or 0) - (test.line or 0))
            )[:1]
    return []
