"""The keys of a block: `key: value` as list items or plain lines; a value may go on in lines or items below."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.plan.inline import CODE, HIDDEN
from morph_tasks.plan.source import Finding, Place
from morph_tasks.plan.words import known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from morph_tasks.plan.outline import Block, Span

_BOX = r"[ \t]*(?:\[.?\][ \t]+)?"
_WORD = r"[^\W\d_](?:[\w \-\u0300-\u036f]{0,38}(?:[^\W_]|[\u0300-\u036f]))?"
_KEY = re.compile(rf"{_BOX}(?P<mark>[*_`]{{0,3}})(?P<word>{_WORD})(?P=mark)?[ \t]*:(?P=mark)?(?P<gap>[ \t]*)")
# Signs that look like a bullet and are none: what follows stays part of the paragraph.
_NO_BULLET = re.compile(r"[ \t\xa0]*(?:[•◦▪‣●·–—*+-]|\d+[.)])[\s\xa0]*")
_ITEM = re.compile(r"[^,;]+")
_ASIDE = re.compile(r"(?<=\s)\([^()]*\)")
_WORDS = re.compile(rf"{CODE.pattern}|[^\s{HIDDEN}]+")
_PATHLIKE = re.compile(r"/|\w\.\w")


@dataclass(frozen=True)
class Field:
    """A key and its value. `parts`: one span a line or nested item; `items`: which of them begin an item."""

    key: str
    word: str
    place: Place
    parts: tuple[Span, ...]
    items: tuple[bool, ...]

    @property
    def text(self) -> str:
        """Return the one value as a reader sees it; items below it are remarks unless it has no other."""
        entries = self.entries()
        own = self.parts[0].shown.strip()
        return entries[0][0] if own else ", ".join(text for text, _ in entries)

    @property
    def value_place(self) -> Place:
        return next((part.place for part in self.parts if part.shown.strip()), self.place)

    def entries(self) -> list[tuple[str, Place]]:
        """Return the value of each item, continued lines joined."""
        found: list[tuple[str, Place]] = []
        for part, item in zip(self.parts, self.items, strict=True):
            if found and not item:
                found[-1] = (f"{found[-1][0]} {part.plain}".strip(), found[-1][1])
            elif part.shown.strip():
                found.append((part.plain, part.place))
        return found

    def names(self) -> list[tuple[str, Place]]:
        """Return the names in a list of ids: commas, blanks and joining words between, asides in brackets dropped."""
        found = []
        for part in self.parts:
            prose = _blanked(_ASIDE, part.prose)
            # Several ids may share a code span.
            text = "".join(one if other == HIDDEN else other for one, other in zip(part.shown, prose, strict=True))
            for word in re.finditer(r"[^\s,;]+", text):
                span = part.cut(*word.span())
                name = span.plain.strip(".:`")
                if name and not known("joiner", name) and not known("nothing", name):
                    found.append((name, span.place))
        return found

    def listed(self) -> list[Span]:
        """Return the members of a comma list; a code span is one, and so is a path in the text beside it."""
        found: list[Span] = []
        for part in self.parts:
            prose = _blanked(_ASIDE, part.prose)
            for chunk in _ITEM.finditer(prose):
                if HIDDEN in chunk[0]:
                    words = _WORDS.finditer(prose, chunk.start(), chunk.end())
                    found += [
                        part.cut(*word.span()) for word in words if word[0][0] == HIDDEN or _PATHLIKE.search(word[0])
                    ]
                elif chunk[0].strip():
                    lead = len(chunk[0]) - len(chunk[0].lstrip())
                    found.append(part.cut(chunk.start() + lead, chunk.start() + len(chunk[0].rstrip())))
        return found


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: " " * len(found[0]), text)


@dataclass(frozen=True)
class Reading:
    """What a block's lines say: its fields in order, and what is odd about them."""

    fields: tuple[Field, ...]
    warnings: tuple[Finding, ...]

    def first(self, key: str) -> Field | None:
        return next((one for one in self.fields if one.key == key), None)

    def every(self, key: str) -> list[Field]:
        return [one for one in self.fields if one.key == key]


def read_fields(blocks: Iterable[Block], keys: Collection[str], *, owner: str, top_only: bool) -> Reading:
    """Read the fields of a block.

    `top_only`: keys end where text follows them; one below is text, with a warning, and an unknown one warns.
    """
    reader = _Reader(keys, owner, top_only)
    for block in blocks:
        if block.quoted or block.kind != "text":
            reader.text_follows(block)
        else:
            reader.read(block)
    return reader.done()


@dataclass
class _Open:
    """A field whose value may still go on."""

    key: str
    word: str
    place: Place
    depth: int
    parts: list[Span]
    items: list[bool]

    def takes(self, span: Span, block: Block, *, first: bool) -> bool:
        """Tell a wrapped value from text: nested deeper, or in the same paragraph and indented or after a comma."""
        last = self.parts[-1].shown.rstrip()
        return block.depth > self.depth or (not first and (span.indented or not last or last.endswith(",")))


class _Reader:
    """Walks the lines of one block.

    `begun`: a key was seen. `interrupted`: text came before any key. `ended`: text came below the keys.
    """

    def __init__(self, keys: Collection[str], owner: str, top_only: bool) -> None:
        self.keys, self.owner, self.top_only = keys, owner, top_only
        self.fields: list[Field] = []
        self.warnings: list[Finding] = []
        self.begun = self.interrupted = self.ended = False
        self.group = 0
        self.open: _Open | None = None

    def done(self) -> Reading:
        self._close()
        return Reading(tuple(self.fields), tuple(self.warnings))

    def text_follows(self, block: Block) -> None:
        """Note a block that holds no keys; one inside a list of keys does not end them."""
        if block.kind != "html" and not (block.depth and block.group == self.group):
            self._close()
            self._text()

    def read(self, block: Block) -> None:
        """Read the lines of a block of text."""
        if not block.depth or block.group != self.group:
            self.group = block.group
            self._close()
        for number, span in enumerate(block.spans):
            if span.shown.strip():  # else a comment
                self._line(span, block, first=number == 0)

    def _line(self, span: Span, block: Block, *, first: bool) -> None:
        deeper = self.open is not None and block.depth > self.open.depth
        found = None if deeper else self._key(span)
        if found:
            self._start(span, block, *found)
        elif self.open and self.open.takes(span, block, first=first):
            self.open.parts.append(span)
            self.open.items.append(deeper and first)
        else:
            self._close()
            self._warn_of_bullet(span)
            if not (block.depth and self.begun):
                self._text()

    def _key(self, span: Span) -> tuple[re.Match[str], str | None] | None:
        found = _KEY.match(span.shown)
        if not found or (span.prose[:1] == HIDDEN and found["mark"][:1] != "`"):
            return None
        key = known("key", found["word"])
        if key in self.keys:
            return found, key
        spaced = bool(found["gap"]) or found.end() == len(span.shown)
        return (found, None) if self.top_only and spaced else None

    def _start(self, span: Span, block: Block, found: re.Match[str], key: str | None) -> None:
        self._close()
        word, place = found["word"], span.at(found.start("word"))
        misplaced = self.ended or (self.top_only and block.depth > 1)
        if key and misplaced:
            self._warn(place, f"`{word}:` below the text of {self.owner} is text: keys come first")
        elif key:
            self.begun = True
            self.open = _Open(key, word, place, block.depth, [span.cut(found.end())], [True])
        elif not misplaced and (self.begun or not self.interrupted):
            names = ", ".join(sorted(self.keys))
            self._warn(place, f"{self.owner} has no key `{word}`: it is one of {names}")

    def _warn_of_bullet(self, span: Span) -> None:
        sign = _NO_BULLET.match(span.shown)
        found = _KEY.match(span.shown, sign.end()) if sign else None
        if found and sign and known("key", found["word"]) in self.keys:
            said = span.shown[: found.end()].strip()
            self._warn(span.at(sign.start()), f"`{said}` is no list item: write `- {found['word']}:`")

    def _text(self) -> None:
        self.interrupted = True
        self.ended = self.top_only and self.begun

    def _warn(self, place: Place, message: str) -> None:
        self.warnings.append(Finding("unknown-key", place, message))

    def _close(self) -> None:
        if self.open:
            one = self.open
            self.fields.append(Field(one.key, one.word, one.place, tuple(one.parts), tuple(one.items)))
        self.open = None
