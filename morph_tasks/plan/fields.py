"""The keys of a block: `key: value` as list items or plain lines; a value may go on in lines or items below."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from morph_tasks.plan.inline import CODE, HIDDEN
from morph_tasks.plan.source import Finding, Place
from morph_tasks.plan.words import known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from morph_tasks.plan.outline import Block, Span

_BOX = r"[ \t]*(?:\[.?\][ \t]+)?"
_WORD = r"[^\W\d_](?:[\w \-\u0300-\u036f]{0,38}[\w\u0300-\u036f])?"
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
            for word in re.finditer(r"[^\s,;]+", prose):
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


@dataclass
class Reading:
    """What a block's lines say: its fields in order, and what is odd about them."""

    fields: list[Field] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)

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


class _Reader:
    """Walks the lines of one block. Before: no key yet; after: text came below the keys."""

    def __init__(self, keys: Collection[str], owner: str, top_only: bool) -> None:
        self.keys, self.owner, self.top_only = keys, owner, top_only
        self.reading = Reading()
        self.before, self.after, self.plain_top = True, False, True
        self.group = 0
        self.open: tuple[str, str, Place, int, list[Span], list[bool]] | None = None

    def done(self) -> Reading:
        self._close()
        return self.reading

    def text_follows(self, block: Block) -> None:
        """Note a block that holds no keys; one inside a list of keys does not end them."""
        if block.kind == "html" or (block.depth and block.group == self.group):
            return
        self._close()
        self.plain_top = False
        self.after = self.top_only and not self.before

    def read(self, block: Block) -> None:
        if block.depth and block.group != self.group:
            self.group = block.group
            self._close()
        elif not block.depth:
            self.group = 0
            self._close()
        for number, span in enumerate(block.spans):
            self._line(span, block, first=number == 0)

    def _line(self, span: Span, block: Block, *, first: bool) -> None:
        if not span.shown.strip():  # a comment
            return
        deeper = self.open is not None and block.depth > self.open[3]
        found = None if deeper else self._key(span)
        if found:
            self._start(span, block, *found)
        elif self.open and self._goes_on(span, block, first=first):
            self.open[4].append(span)
            self.open[5].append(deeper and first)
        else:
            self._odd(span, block, first=first)

    def _goes_on(self, span: Span, block: Block, *, first: bool) -> bool:
        """Tell a wrapped value from text: nested deeper, or in the same paragraph and indented or after a comma."""
        assert self.open
        _, _, _, depth, parts, _ = self.open
        if block.depth > depth:
            return True
        last = parts[-1].shown.rstrip()
        return not first and (span.indented or not last or last.endswith(","))

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
        place = span.at(found.start("word"))
        if self.after or (key is None and not self.plain_top and self.before):
            if key and self.top_only:
                self._warn(place, f"`{key}:` below the text of {self.owner} is text: keys come first")
            self._close()
            return
        if block.depth > 1 and self.top_only:
            return
        self._close()
        if key is None:
            names = ", ".join(sorted(self.keys))
            self._warn(place, f"{self.owner} has no key `{found['word']}`: it is one of {names}")
            return
        self.before = False
        self.open = (key, found["word"], place, block.depth, [span.cut(found.end())], [True])

    def _odd(self, span: Span, block: Block, *, first: bool) -> None:
        self._close()
        sign = _NO_BULLET.match(span.shown)
        found = _KEY.match(span.shown, sign.end()) if sign else None
        if found and sign and known("key", found["word"]) in self.keys:
            self._warn(
                span.at(sign.start()),
                f"`{span.shown[: found.end()].strip()}` is no list item: write `- {found['word']}:`",
            )
        if block.depth and not self.before:
            return
        self.plain_top = False
        self.after = self.top_only and not self.before

    def _warn(self, place: Place, message: str) -> None:
        self.reading.warnings.append(Finding("unknown-key", place, message))

    def _close(self) -> None:
        if self.open:
            key, word, place, _, parts, items = self.open
            self.reading.fields.append(Field(key, word, place, tuple(parts), tuple(items)))
        self.open = None
