"""What of a changed file is asked: the part of each hunk that lies in one symbol, without what cannot run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from morph_tasks.codegraph.spans import Definition, around, definitions
from morph_tasks.verify.reach.changes import Hunk
from morph_tasks.verify.reach.statements import Range, Statement, statements


@dataclass(frozen=True)
class Piece:
    """Changed lines of one symbol: `lines` that can run; none when lines only went, and then `first` is where.

    `symbol` None: it lies in no definition. `ranges` as of a statement; () where coverage.py cannot tell.
    """

    file: str
    first: int
    last: int
    lines: tuple[int, ...]
    symbol: Definition | None
    ranges: tuple[Range, ...] = ()
    removed: int = 0

    @property
    def name(self) -> str | None:
        """Return the name of the symbol as people write it."""
        if self.symbol is None:
            return None
        return f"{self.symbol.owner}.{self.symbol.name}" if self.symbol.owner else self.symbol.name


@dataclass(frozen=True)
class Source:
    """A changed file as it is now. `parsed` False: its language has no symbols here, or the file does not parse.

    `kept`: the lines of code that did not change.
    """

    path: str
    pieces: tuple[Piece, ...]
    parsed: bool
    kept: frozenset[int] = frozenset()

    def gap(self, after: int, before: int) -> bool:
        """Tell whether code that did not change stands between two lines."""
        return any(line in self.kept for line in range(after + 1, before))


def read_source(path: str, source: bytes, hunks: Iterable[Hunk]) -> Source:
    """Return the pieces of a changed file: one a statement in Python, elsewhere one a hunk and symbol."""
    defined = definitions(path, source)
    running = statements(source) if path.endswith(".py") else None
    code = _code_lines(path, source)
    pieces: list[Piece] = []
    hunks = list(hunks)
    for hunk in hunks:
        lines = [line for line in hunk.lines if line in code and (running is None or line in running)]
        if lines:
            pieces += _of_lines(path, lines, defined or (), running)
        elif hunk.removed:
            pieces.append(_of_removed(path, hunk, defined or (), source, told=running is not None))
    kept = code.difference(*(hunk.lines for hunk in hunks))
    return Source(path, tuple(pieces), defined is not None, frozenset(kept))


def _of_lines(
    path: str, lines: Sequence[int], defined: Sequence[Definition], running: Mapping[int, Statement] | None
) -> Iterator[Piece]:
    def place(line: int) -> tuple[Definition | None, Statement | None]:
        return around(defined, line), running[line] if running is not None else None

    for (symbol, statement), group in groupby(lines, key=place):
        part = tuple(group)
        yield Piece(path, part[0], part[-1], part, symbol, statement.ranges if statement else ())


def _of_removed(path: str, hunk: Hunk, defined: Sequence[Definition], source: bytes, *, told: bool) -> Piece:
    """Return the piece of lines that went: what still runs of the symbol around them speaks for them."""
    line = max(1, hunk.first)
    holding = [one for one in defined if one.start <= line and line + 1 <= one.end]
    symbol = min(holding, key=lambda one: one.end - one.start, default=None)
    whole = (1, source.count(b"\n") + 1)
    ranges: tuple[Range, ...] = ()
    if told:
        # Not the line of the definition: that runs at import.
        own = (symbol.start + 1, symbol.end) if symbol and symbol.end > symbol.start else None
        ranges = (own,) if own and symbol and symbol.kind != "type" else (own, whole) if own else (whole,)
    return Piece(path, line, line, (), symbol, ranges, hunk.removed)


def _code_lines(path: str, source: bytes) -> frozenset[int]:
    """Return the lines that hold code of production; where comments cannot be told apart, all that are not blank."""
    from morph_tasks.verify.validators.comments import UnreadableError, read_lines
    from morph_tasks.verify.validators.languages import language_of

    language = language_of(path)
    if language is not None:
        try:
            found = read_lines(source.decode("utf-8", "replace"), language.name)
        except UnreadableError:
            found = None
        if found is not None:
            return found.code - found.tests
    return frozenset(number for number, line in enumerate(source.split(b"\n"), 1) if line.strip())
