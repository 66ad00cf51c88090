"""Which symbols of the graph a change touches: the definitions of both sides of each file, compared by their text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.affected import DEPENDS, DISPATCH
from morph_tasks.codegraph.answer import columns, edge_json, relation_words
from morph_tasks.codegraph.ask import place, printable, shown, symbol_json
from morph_tasks.codegraph.diff_files import ChangedFile, changed_files, sides
from morph_tasks.codegraph.diff_outside import matters
from morph_tasks.codegraph.spans import Definition, definitions, language_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from morph_tasks.codegraph.index import Edge, Index, Symbol
    from morph_tasks.repo.git import Repo

NEW, GONE, NOT_IN_GRAPH, NOT_PARSED = "new", "gone", "not-in-graph", "not-parsed"
NO_SOURCE, NO_CODE = "no-source", "no-code"
_OWN = ".morph/"
_WORDS = {
    NEW: "new, the graph does not have it yet",
    GONE: "gone, and no longer in the graph",
    NOT_IN_GRAPH: "not in the graph",
    NOT_PARSED: "not parsed: the whole file counts",
    NO_SOURCE: "a link or a submodule, not looked into",
    NO_CODE: "changed outside of definitions in blank lines, comments and imports alone",
}


@dataclass(frozen=True)
class Unmatched:
    """A part of the change that stands for no symbol of the graph: a file, or with a name a definition in it."""

    path: str
    reason: str
    name: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "name": self.name, "line": self.line, "reason": self.reason}

    def line_for_people(self) -> str:
        named = f"  {printable(self.name)}" if self.name else ""
        return f"  {place(self.path, self.line)}{named}: {_WORDS[self.reason]}"


@dataclass(frozen=True)
class Changed:
    """What a change touches.

    `alone`: ids of files that count without what they hold; `files`: the paths looked at; `within`: who of the symbols
    depends on another one of them; `tests_left_out`: symbols of test code that changed and were not wanted.
    """

    symbols: tuple[Symbol, ...]
    unmatched: tuple[Unmatched, ...]
    files: tuple[str, ...]
    base: str
    alone: frozenset[int] = frozenset()
    within: tuple[tuple[Symbol, Edge, Symbol], ...] = ()
    tests_left_out: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the part of the document that is about the change itself."""
        return {
            "base": self.base,
            "files": list(self.files),
            "within": [
                {"source": symbol_json(source), "target": symbol_json(target), **edge_json(edge)}
                for source, edge, target in self.within
            ],
            "testSymbolsLeftOut": self.tests_left_out,
            "unmatched": [one.as_json() for one in self.unmatched],
        }

    def head(self) -> list[str]:
        """Return what was compared, for people, and whether there is anything to ask for."""
        files, symbols, tests = len(self.files), len(self.symbols), self.tests_left_out
        line = (
            f"against {printable(self.base)}: {files} file{'' if files == 1 else 's'} changed, "
            f"{symbols} symbol{'' if symbols == 1 else 's'} of the graph"
        )
        line += f"; {tests} in test code left out by --prod" if tests else ""
        return [line, "" if symbols else "no symbol of the graph changed, so nothing was asked"]

    def lines(self) -> list[str]:
        """Return what the symbols have to do with each other, and what could not be matched, for people."""
        told: list[str] = []
        if self.within:
            rows = [
                (
                    shown(source),
                    relation_words(edge.relation, edge.via),
                    place(edge.file, edge.line),
                    f"of {shown(target)}",
                )
                for source, edge, target in self.within
            ]
            told += ["among the changed symbols themselves", *columns(rows)]
        missed = self.missed()
        return [*told, *([""] if told and missed else []), *missed]

    def missed(self) -> list[str]:
        """Return what could not be matched, for people."""
        told = [one.line_for_people() for one in self.unmatched]
        return [f"not matched with the graph: {len(told)}", *told] if told else []


@dataclass
class _Found:
    symbols: dict[int, Symbol] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)
    unmatched: dict[Unmatched, None] = field(default_factory=dict)

    def miss(self, path: str, reason: str, name: str | None = None, line: int | None = None) -> None:
        self.unmatched[Unmatched(path, reason, name, line)] = None


def changed_symbols(repo: Repo, index: Index, base: str | None, *, prod: bool = False) -> Changed:
    """Return the symbols that the work tree changes against HEAD, or against `base`, or that a range `A..B` changes.

    New files that git does not ignore belong to the work tree, those of `.morph/` to nobody's code. `prod` leaves test
    code out. Raises Refusal `unknown-commit`.
    """
    between = sides(repo, base)
    files = [file for file in changed_files(repo, between) if not file.path.startswith(_OWN)]
    found = _Found()
    for file in files:
        _look(index, file, found)
    symbols = [one for one in found.symbols.values() if not (prod and one.test)]
    return Changed(
        tuple(sorted(symbols, key=lambda one: (one.file or "", one.line or 0, one.id))),
        tuple(found.unmatched),
        tuple(file.path for file in files),
        between.said,
        frozenset(found.alone),
        _within(index, {one.id: one for one in symbols}),
        len(found.symbols) - len(symbols),
    )


def _within(index: Index, symbols: dict[int, Symbol]) -> tuple[tuple[Symbol, Edge, Symbol], ...]:
    """Return who of some symbols depends on another one of them, by place."""
    edges = [
        edge
        for edge in index.into(symbols)
        if edge.source in symbols and edge.source != edge.target and edge.relation in (*DEPENDS, DISPATCH)
    ]
    edges.sort(key=lambda edge: (edge.file or "", edge.line or 0, edge.source, edge.target, edge.relation))
    return tuple((symbols[edge.source], edge, symbols[edge.target]) for edge in edges)


def _look(index: Index, file: ChangedFile, found: _Found) -> None:
    """Add what one file changes to what was found."""
    known = index.in_file(file.path)
    whole = next((one for one in index.find(file.path) if one.kind == "file" and one.file == file.path), None)
    if file.special:
        found.miss(file.path, NO_SOURCE)
        # What a file defined before a link came in its place is gone.
        found.symbols |= {one.id: one for one in ([whole] if whole else known)}
    elif whole is None and not known:
        found.miss(file.path, _why_unknown(file))
    else:
        before, after = (_side(file.path, source) for source in (file.old, file.new))
        if before is None or after is None:
            found.miss(file.path, NOT_PARSED)
            found.symbols |= {one.id: one for one in ([whole] if whole else known)}
            return
        _compare(file, before, after, known, whole, found)


def _why_unknown(file: ChangedFile) -> str:
    if not language_of(file.path):
        return NOT_IN_GRAPH
    return NEW if file.old is None else GONE if file.new is None else NOT_IN_GRAPH


def _side(path: str, source: bytes | None) -> _Side | None:
    """Return one side of a file; an absent one defines nothing, None for one that is not parsed."""
    if source is None:
        return _Side((), (), "")
    from morph_tasks.verify.testcode.reader import plain

    defined = definitions(path, source)
    if defined is None:
        return None
    lines = plain(source).decode("utf-8", "surrogateescape").split("\n")
    return _Side(tuple(defined), tuple(lines), language_of(path) or "")


class _Side:
    """One side of a file: its definitions, each with the lines that belong to no other definition inside it."""

    def __init__(self, defined: tuple[Definition, ...], lines: tuple[str, ...], language: str) -> None:
        self.language = language
        owner: dict[int, int] = {}
        for at, one in enumerate(defined):  # sorted by start, the outer one first: the inner one wins
            owner.update(dict.fromkeys(range(one.start, one.end + 1), at))
        self.texts: dict[Definition, str] = {}
        for at, one in enumerate(defined):
            span = range(one.start, min(one.end, len(lines)) + 1)
            self.texts[one] = "\n".join(lines[line - 1] for line in span if owner[line] == at)
        self.outside = [text for line, text in enumerate(lines, 1) if line not in owner]

    def text_of(self, definition: Definition) -> str | None:
        """Return the text of the one definition of that name and owner; None where there is none, or several."""
        key = (definition.owner, definition.name, definition.kind)
        found = [text for one, text in self.texts.items() if (one.owner, one.name, one.kind) == key]
        return found[0] if len(found) == 1 else None


def _compare(
    file: ChangedFile, before: _Side, after: _Side, known: Sequence[Symbol], whole: Symbol | None, found: _Found
) -> None:
    """Add the symbols of the definitions that only one side has, or that read differently there."""
    touched = False
    left = _by_name(after)
    for definition, old in _different(before, after):
        touched = True
        symbols = _properties(definition, before, after, known) or _symbols_of(definition, known)
        if symbols:
            found.symbols |= {one.id: one for one in symbols}
            continue
        gone = old and (definition.owner, definition.name) not in left
        reason = NEW if not old else GONE if gone else NOT_IN_GRAPH
        found.miss(file.path, reason, _name(definition), definition.start)
        if old:  # what the graph has nearest around it
            found.symbols |= {one.id: one for one in _symbols_of(_type_of(definition), known)}
    if whole is not None and (
        file.new is None or matters(before.outside, after.outside, before.language or after.language)
    ):
        found.symbols[whole.id] = whole
        found.alone.add(whole.id)
    elif not touched and before.outside != after.outside:
        found.miss(file.path, NO_CODE)


def _properties(definition: Definition, before: _Side, after: _Side, known: Sequence[Symbol]) -> list[Symbol]:
    """Return the properties that are all that differs in a type which both sides have."""
    if definition.kind != "type":
        return []
    sides = (before.text_of(definition), after.text_of(definition))
    if None in sides:
        return []
    from morph_tasks.codegraph.diff_members import declared_alone

    return declared_alone(definition.name, sides[0] or "", sides[1] or "", known)


def _different(before: _Side, after: _Side) -> Iterator[tuple[Definition, bool]]:
    """Yield the definitions that have no equal on the other side; True for those of the old one.

    One that is on both sides and reads differently comes once, from the old side.
    """
    left, right = _by_name(before), _by_name(after)
    for key in dict.fromkeys((*left, *right)):
        olds, news = left.get(key, []), right.get(key, [])
        equal = Counter(before.texts[one] for one in olds) & Counter(after.texts[one] for one in news)
        olds, news = (_without(olds, before, Counter(equal)), _without(news, after, Counter(equal)))
        yield from ((one, True) for one in olds)
        yield from ((one, False) for one in news[len(olds) :])


def _by_name(side: _Side) -> dict[tuple[str, str], list[Definition]]:
    found: dict[tuple[str, str], list[Definition]] = {}
    for one in side.texts:
        found.setdefault((one.owner, one.name), []).append(one)
    return found


def _without(defined: Iterable[Definition], side: _Side, equal: Counter[str]) -> list[Definition]:
    left = []
    for one in defined:
        if equal[side.texts[one]] > 0:
            equal[side.texts[one]] -= 1
        else:
            left.append(one)
    return left


def _symbols_of(definition: Definition, known: Iterable[Symbol]) -> list[Symbol]:
    """Return the symbols of a file that a definition stands for; of overloads the one it is at, or all of them."""
    named = [one for one in known if one.name == definition.name and one.kind != "file"]
    same = [one for one in named if one.owner == definition.owner] or ([] if definition.owner else named)
    kinds = [one for one in same if (one.kind == "type") == (definition.kind == "type")] or same
    inside = [one for one in kinds if one.line is not None and definition.start <= one.line <= definition.end]
    return inside or kinds


def _type_of(definition: Definition) -> Definition:
    return Definition(definition.owner, "", "type", definition.start, definition.end)


def _name(definition: Definition) -> str:
    return f"{definition.owner}.{definition.name}" if definition.owner else definition.name
