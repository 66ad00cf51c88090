"""Which lines of text the graph explains: by an edge, by a definition, or by where the symbol itself lies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.codegraph.affected import CONTAINS, IMPORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from morph_tasks.codegraph.index import Edge, Index, Symbol
    from morph_tasks.codegraph.mention_search import Line
    from morph_tasks.codegraph.mention_words import Wanted
    from morph_tasks.codegraph.spans import Definition

    Place = tuple[str | None, int | None]

_MOST = 60  # files that are parsed for one question
_ACCESSOR = re.compile(rb"\s*@\w+\.(?:setter|getter|deleter)\b")
TOLD, DEFINED, INSIDE = "told", "defined", "inside"


class Parsed:
    """The definitions of files of a tree, each read once and no more than `_MOST`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, list[Definition] | None] = {}

    def __call__(self, path: str) -> list[Definition] | None:
        if path not in self._known:
            from morph_tasks.codegraph.spans import read_definitions

            self._known[path] = read_definitions(self._root, path) if len(self._known) < _MOST else None
        return self._known[path]


class Sites:
    """What the graph has on lines with the words of some seeds."""

    def __init__(self, index: Index, seeds: Sequence[Wanted], parsed: Parsed, also: Iterable[int] = ()) -> None:
        """Read the edges; `also` are symbols whose users the answer has, such as what a method overrides."""
        self._parsed = parsed
        words = {word for one in seeds for word in one.words}
        self.same = {one.id: one for one in index.names(words)} if words else {}
        self._own: dict[str, set[int]] = {}
        for one in seeds:
            ids = {one.seed.id, *(member.id for member in one.members)}
            for word in one.words:
                self._own.setdefault(word, set()).update(ids)
            self.same |= {one.seed.id: one.seed} | {member.id: member for member in one.members}
        for number in also:
            if number in self.same and self.same[number].name in self._own:
                self._own[self.same[number].name].add(number)
        self._edges: dict[int, list[Edge]] = {}
        for edge in index.into(self.same):
            self._edges.setdefault(edge.target, []).append(edge)
        self._read()
        self._spans = self._lies(seeds)

    def _read(self) -> None:
        self._told: dict[str, set[Place]] = {}
        self._defined: dict[str, set[Place]] = {}
        self._given: dict[str, dict[Place, int]] = {}
        self._imports: dict[tuple[str, str], int] = {}  # word and file -> another symbol that the file imports
        self._scopes: dict[tuple[str, str], set[int]] = {}  # word and file -> lines of edges to what is asked for
        for word, own in self._own.items():
            told, defined = self._told.setdefault(word, set()), self._defined.setdefault(word, set())
            given = self._given.setdefault(word, {})
            for one in self.same.values():
                if one.id not in own and one.name != word:
                    continue
                defined.add((one.file, one.line))
                for edge in self._edges.get(one.id, ()):
                    if edge.relation in CONTAINS:
                        defined.add((edge.file, edge.line))
                    elif one.id in own:
                        told.add((edge.file, edge.line))
                        if edge.file and edge.line:
                            self._scopes.setdefault((word, edge.file), set()).add(edge.line)
                    else:
                        given.setdefault((edge.file, edge.line), one.id)
                        if edge.file and edge.relation in IMPORTS:
                            self._imports.setdefault((word, edge.file), one.id)

    def _lies(self, seeds: Sequence[Wanted]) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """Return the lines of each word and file that are the symbol itself, decorators not included."""
        spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for one in seeds:
            parts = [span for symbol in (one.seed, *one.members) for span in self._parts(symbol)]
            for word in one.words:
                for path, start, end in parts:
                    spans.setdefault((word, path), []).append((start, end))
        return spans

    def _parts(self, symbol: Symbol) -> list[tuple[str, int, int]]:
        if symbol.kind == "file":
            return [(symbol.file, 1, 1 << 60)] if symbol.file else []
        from morph_tasks.codegraph.spans import matching

        places = {(symbol.file, symbol.line)}  # a partial type has several
        places |= {(edge.file, edge.line) for edge in self._edges.get(symbol.id, ()) if edge.relation in CONTAINS}
        found = []
        for path, line in places:
            owner = symbol.owner if symbol.kind == "method" else ""
            if path and (one := matching(self._parsed(path) or [], symbol.name, owner, line)):
                found.append((path, line if line and one.start <= line <= one.end else one.start, one.end))
        return found

    def of(self, line: Line, word: str) -> str | int | None:
        """Return what explains a word on a line: TOLD, DEFINED, INSIDE, or another symbol; None: nothing does."""
        place = (line.path, line.line)
        if any(start <= line.line <= end for start, end in self._spans.get((word, line.path), ())):
            return INSIDE
        if place in self._told[word]:
            return TOLD
        if place in self._defined[word] or _ACCESSOR.match(line.text):
            return DEFINED
        if self._in_a_definition_that_is_told(line, word):
            return TOLD
        if (given := self._given[word].get(place)) is not None:
            return given
        imported = self._imports.get((word, line.path))
        return imported if imported is not None and _listed(line.text, word) else None

    def _in_a_definition_that_is_told(self, line: Line, word: str) -> bool:
        """Tell whether the definition around a line has an edge on another line: the graph keeps one of several."""
        lines = self._scopes.get((word, line.path))
        if not lines:
            return False
        found = self._parsed(line.path)
        if found is None:
            return _listed(line.text, word)
        from morph_tasks.codegraph.spans import around

        mine = around(found, line.line)
        return any(around(found, one) == mine for one in lines)


def _listed(text: bytes, word: str) -> bool:
    """Tell whether a line holds nothing but a name, as in an import over several lines."""
    name = re.escape(word.encode("utf-8", "surrogateescape"))
    return bool(re.fullmatch(rb"[\s({]*(?:type\s+)?" + name + rb"(?:\s+as\s+\w+)?[\s,)};]*", text))
