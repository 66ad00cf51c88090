"""The blocks of a plan as CommonMark sees them: headings, lines of text, tables; where each lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.plan.inline import HIDDEN, code_text, masked, plain
from morph_tasks.plan.source import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# A list and its item are two levels. The parser would drop what lies deeper, and the rest of the file with it.
DEEPEST = 14
_MOST_QUOTED = 600_000

_OPENING = re.compile(r"[ \t]*#{1,6}[ \t]*")
_CELL = re.compile(r"(?:[^|\\]|\\.)*\\?", re.DOTALL)
# what opens or closes around leaf blocks: lists, quotes
_AROUND = {
    "bullet_list_open": (1, 0),
    "bullet_list_close": (-1, 0),
    "ordered_list_open": (1, 0),
    "ordered_list_close": (-1, 0),
    "blockquote_open": (0, 1),
    "blockquote_close": (0, -1),
}
_LEAVES = {"fence": "code", "code_block": "code", "html_block": "html", "hr": "rule"}


@dataclass(frozen=True)
class Span:
    """A run of characters in one source line; `shown` and `prose` as `inline.masked` returns them."""

    line: int
    column: int
    shown: str
    prose: str
    indented: bool = False  # only blanks come before it, and some do

    def at(self, offset: int) -> Place:
        return Place(self.line, self.column + offset)

    @property
    def place(self) -> Place:
        return self.at(len(self.shown) - len(self.shown.lstrip()))

    @property
    def plain(self) -> str:
        return plain(self.shown, self.prose)

    @property
    def code(self) -> str | None:
        """Return what the code span holds that this is; None for other text."""
        return code_text(self.shown) if self.prose[:1] == HIDDEN else None

    def cut(self, start: int, end: int | None = None) -> Span:
        return Span(self.line, self.column + start, self.shown[start:end], self.prose[start:end], self.indented)


@dataclass(frozen=True)
class Block:
    """One leaf block. `kind`: heading, text, table, code, html or rule.

    `start` and `end` are line indices from 0, the end excluded. Only a heading or table outside lists and
    quotes is one; inside it is text. `depth` counts the lists around, `group` names the outermost one.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    spans: tuple[Span, ...] = ()
    rows: tuple[tuple[Span, ...], ...] = ()
    depth: int = 0
    group: int = 0
    quoted: bool = False

    @property
    def title(self) -> str:
        return " ".join(span.plain for span in self.spans).strip()

    @property
    def place(self) -> Place:
        return self.spans[0].place if self.spans else Place(self.start + 1, 1)


def outline(lines: Sequence[str]) -> list[Block]:
    """Return the leaf blocks in order; raises Refusal `plan-too-deep`."""
    lines = [line.replace("\0", "\ufffd") for line in lines]
    tokens = _tokens("\n".join(lines))
    return list(_Walk(tokens, lines).blocks())


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, found)
    return found


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.parser_block import ParserBlock
    from markdown_it.rules_block import StateBlock

    class Bounded(ParserBlock):
        quoted_lines = 0

        def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803
            # Each quote goes over all its lines again; a list does not.
            self.quoted_lines += endLine - startLine if state.parentType == "blockquote" else 0
            if state.level >= DEEPEST or self.quoted_lines > _MOST_QUOTED:
                raise Refusal(
                    "plan-too-deep",
                    f"plan.md:{startLine + 1}: lists and quotes nest too deep, or too long for their depth",
                    fix="flatten the list or quote at that line",
                )
            super().tokenize(state, startLine, endLine)

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST + 1})
    parser.block = Bounded()  # all rules of a new one are on: CommonMark and tables
    return parser


class _Walk:
    """Goes once over the tokens and keeps count of the lists and quotes around."""

    def __init__(self, tokens: list[Token], lines: Sequence[str]) -> None:
        self.tokens, self.lines = tokens, lines
        self.depth = self.quotes = self.groups = self.at = 0

    def blocks(self) -> Iterator[Block]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type in _AROUND:
                self._step(token.type)
            elif token.type in ("heading_open", "paragraph_open"):
                yield self._text(token)
            elif token.type == "table_open":
                yield self._table(token)
            elif token.type in _LEAVES:
                yield self._block(_LEAVES[token.type], token)

    def _step(self, kind: str) -> None:
        lists, quotes = _AROUND[kind]
        self.depth += lists
        self.quotes += quotes
        self.groups += lists == 1 == self.depth

    def _block(
        self,
        kind: str,
        token: Token,
        level: int = 0,
        spans: tuple[Span, ...] = (),
        rows: tuple[tuple[Span, ...], ...] = (),
    ) -> Block:
        start, end = token.map or (0, 0)
        group = self.groups if self.depth else 0
        return Block(kind, start, end, level, spans, rows, self.depth, group, self.quotes > 0)

    def _text(self, token: Token) -> Block:
        spans = _spans(self.tokens[self.at].content, self.lines, (token.map or [0])[0])
        if token.type == "heading_open" and not (self.depth or self.quotes):
            return self._block("heading", token, int(token.tag[1]), spans)
        return self._block("text", token, 0, spans)

    def _table(self, token: Token) -> Block:
        rows = []
        while self.tokens[self.at].type != "table_close":
            inner = self.tokens[self.at]
            if inner.type == "tr_open" and inner.map:
                rows.append(tuple(_cells(self.lines[inner.map[0]], inner.map[0] + 1)))
            self.at += 1
        cells = tuple(span for row in rows for span in row)
        if self.depth or self.quotes:
            return self._block("text", token, 0, cells)
        return self._block("table", token, 0, cells, tuple(rows))


def _spans(content: str, lines: Sequence[str], start: int) -> tuple[Span, ...]:
    """Return the lines of a paragraph or heading with their places in the source."""
    shown, prose = masked(content)
    found = []
    texts = zip(content.split("\n"), shown.split("\n"), prose.split("\n"), strict=True)
    for number, (raw, one, two) in enumerate(texts, start):
        offset = _offset(lines[number], raw.strip())
        lead = len(raw) - len(raw.lstrip())
        indented = offset > 0 and not lines[number][:offset].strip()
        found.append(Span(number + 1, offset + 1, one[lead:], two[lead:], indented))
    return tuple(found)


def _offset(source: str, text: str) -> int:
    """Return where the text of a block begins in its line: markers of lists, quotes and headings come before it."""
    opening = _OPENING.match(source)
    if opening and source.startswith(text, opening.end()):
        return opening.end()
    whole = source.rstrip()
    return len(whole) - len(text) if whole.endswith(text) else max(source.find(text), 0)


def _cells(source: str, line: int) -> Iterator[Span]:
    """Split a table row; a pipe after a backslash does not split, also inside a code span."""
    shown, prose = masked(source)
    end = len(source.rstrip())
    at = len(source) - len(source.lstrip())
    at += source.startswith("|", at)
    while at < end:
        cell = _CELL.match(source, at, end)
        stop = cell.end() if cell else end
        yield Span(line, at + 1, shown[at:stop].rstrip(), prose[at:stop].rstrip())
        at = stop + 1
