"""Which changed symbols tests reach by the code graph: forwards from the tests of scenarios, backwards to any test."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.spans import Definition, definitions
from morph_tasks.verify.probe import ask
from morph_tasks.verify.reach.contexts import words
from morph_tasks.verify.reach.model import RanTest
from morph_tasks.verify.reach.pieces import Piece

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Edge, Index, Symbol

DEPTH = 6  # edges between a test and what it reaches
_USES = frozenset({
    "calls", "indirect_call", "references", "uses", "dispatches_to", "inherits", "implements", "extends", "re_exports",
})  # fmt: skip
_IMPORTS = frozenset({"imports", "imports_from", "re_exports"})
# Whoever has an object ran these.
_MAKERS = frozenset({"constructor", "initialize", "new"})
_MOST_SEEN = 4000
_MOST_TESTS = 3
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
        try:
            return known == md5((self._root / path).read_bytes(), usedforsecurity=False).hexdigest()
        except OSError:
            return False


class Graph:
    """The code graph with the tests of some scenarios walked from. A test is known by its place in `tests`."""

    def __init__(self, root: Path, index: Index, tests: Sequence[RanTest]) -> None:
        self._root, self._index, self._tests = root, index, tests
        self._fresh = Freshness(root)
        self._in_file: Callable[[str], list[Symbol]] = cache(index.in_file)
        self._spans: dict[str, list[Definition]] = {}
        self._testers: dict[tuple[int, ...], list[str]] = {}
        self._masks: dict[tuple[str, Definition | None], int] = {}
        starts: Masks = defaultdict(int)
        files: dict[str, int] = defaultdict(int)
        # Tests that the graph does not have: what they reach is not known.
        self.lost = False
        for number, test in enumerate(tests):
            begin = self._starts(test)
            self.lost |= not begin
            for symbol in begin:
                starts[symbol] |= 1 << number
            if test.file:
                files[test.file] |= 1 << number
        self._reached, self._files = self._forwards(starts), self._imported(files)

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
        key = (piece.file, piece.symbol)
        if key not in self._masks:
            self._masks[key] = self._mask(piece)
        return [test for number, test in enumerate(self._tests) if self._masks[key] >> number & 1]

    def _mask(self, piece: Piece) -> int:
        if piece.symbol is None:
            found = self._files.get(piece.file, 0)
            ids = {one.id for one in self._in_file(piece.file)}
        else:
            found, symbols = 0, self.symbols(piece)
            ids = {one.id for one in symbols}
            for one in symbols:
                ids |= {member.id for member in self._index.members(one.id)} if one.kind == "type" else set()
        for symbol in ids:
            found |= self._reached.get(symbol, 0)
        return found

    def testers(self, piece: Piece) -> list[str]:
        """Return a few of the tests, whatever they carry, from which a piece is reached, as `file:line name`."""
        symbols = self.symbols(piece) if piece.symbol else self._nodes(piece.file)
        key = tuple(one.id for one in symbols)
        if key not in self._testers:
            self._testers[key] = self._backwards(key, _USES if piece.symbol else _USES | _IMPORTS)
        return self._testers[key]

    def _backwards(self, start: Iterable[int], relations: frozenset[str]) -> list[str]:
        wave = set(start)
        seen, found = set(wave), dict[str, None]()
        for _ in range(DEPTH):
            wave = {edge.source for edge in self._index.into(wave) if edge.relation in relations} - seen
            seen |= wave
            known = self._index.symbols(wave)
            for one in sorted(known.values(), key=_tests_first):
                if one.test and one.file:
                    found[f"{one.file}:{one.line or 1} {one.name}" if one.kind != "file" else one.file] = None
            if found or not wave or len(seen) > _MOST_SEEN:
                break
        return list(found)[:_MOST_TESTS]

    def _nodes(self, path: str) -> list[Symbol]:
        """Return the node of a file."""
        return [one for one in self._index.where("p.path IN ({})", [path]) if one.kind == "file"]

    def _starts(self, test: RanTest) -> set[int]:
        """Return the symbol of a test with its fixtures; where a test is no symbol, its whole file."""
        here = self._in_file(test.file) if test.file else []
        if not test.file:
            here = [one for one in self._index.names(words(test.name)) if one.test]
        named = _best(here, test)
        if named:
            return {one.id for one in self._with_fixtures(named)}
        if test.file is None:
            return set()
        return {one.id for one in (*here, *self._nodes(test.file))}

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

    def _forwards(self, starts: Mapping[int, int]) -> Masks:
        """Return the tests that reach each symbol."""
        reached = dict(starts)
        wave: Collection[int] = set(starts)
        files = {one.id for one in self._index.symbols(wave).values() if one.kind == "file"}
        for _ in range(DEPTH):
            edges = [edge for edge in self._index.out_of(wave) if edge.relation in _USES or edge.source in files]
            edges += self._made(wave)
            wave = _pass_on(edges, reached, skip={"contains"})
            if not wave:
                break
        return reached

    def _made(self, wave: Collection[int]) -> list[Edge]:
        """Return the edges from types to what runs when one of them is made, or is used by a sign of the language."""
        types = {one.id: one for one in self._index.symbols(wave).values() if one.kind == "type"}
        edges = [edge for edge in self._index.out_of(types) if edge.relation in ("method", "contains")]
        members = self._index.symbols({edge.target for edge in edges})
        return [
            edge
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
            edges = [edge for edge in self._index.out_of(wave) if edge.relation in _IMPORTS]
            new = _pass_on(edges, reached)
            known = self._index.symbols(new)
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


def _pass_on(edges: Iterable[Edge], reached: Masks, skip: Collection[str] = ()) -> set[int]:
    """Hand the tests of each source on to its target; returns the symbols that learnt of a new one."""
    news: Masks = defaultdict(int)
    for edge in edges:
        if edge.relation not in skip:
            news[edge.target] |= reached[edge.source] & ~reached.get(edge.target, 0)
    for target, mask in news.items():
        if mask:
            reached[target] = reached.get(target, 0) | mask
    return {target for target, mask in news.items() if mask}


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
