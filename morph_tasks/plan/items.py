"""Scenarios, slices and decisions, made from the blocks under their headings."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from morph_tasks.plan.fields import read_fields
from morph_tasks.plan.outline import Span
from morph_tasks.plan.values import Adr, Reuse, Scenario, Slice, Word
from morph_tasks.plan.words import ADR_KEYS, SCENARIO_KEYS, SLICE_KEYS, known

if TYPE_CHECKING:
    from morph_tasks.plan.fields import Field, Reading
    from morph_tasks.plan.outline import Block
    from morph_tasks.plan.source import Place

# section: the letters of its ids
IDS = {"scenarios": "C", "slices": "F", "decisions": "ADR-"}

_DASH = "[—–‒―−-]"
_LEAD = r"[*_`\[\s]*"
_HEADING = {
    name: re.compile(rf"{_LEAD}(?P<id>{sign}[0-9]+)[*_`\]]*\s*(?:{_DASH}+|:)\s*(?P<title>\S.*)", re.DOTALL)
    for name, sign in IDS.items()
}
_LOOKALIKE = {name: re.compile(rf"{_LEAD}{sign.rstrip('-')}[\s_-]?[0-9]+", re.IGNORECASE) for name, sign in IDS.items()}
_VERDICT = re.compile(rf"\s*(\w+)\s*(?::|{_DASH}+)?\s*")
_WHY = re.compile(rf"(?:^|[\s,;(]|{_DASH})\s*(?:why|por\s*qu[eê])\s*:\s*", re.IGNORECASE)
_NEXT = re.compile(r";\s*(?=(?:REUSE|EXTEND|CREATE|REUSAR|ESTENDER|CRIAR)\b)", re.IGNORECASE)


# id, title, place of the id, heading
Head = tuple[str, str, "Place", "Block"]


def heading_line(heading: Block) -> Span:
    """Return a heading as one span; a setext heading of several lines is joined."""
    first = heading.spans[0]
    shown, prose = (" ".join(texts) for texts in zip(*((one.shown, one.prose) for one in heading.spans), strict=True))
    return replace(first, shown=shown, prose=prose)


def item_id(section: str, heading: Block) -> Head | None:
    """Return the head of an item, None when the heading is not one of an item."""
    line = heading_line(heading)
    found = _HEADING[section].match(line.shown)
    title = line.cut(found.start("title")).plain if found else ""
    return (found["id"], title, line.at(found.start("id")), heading) if found and title else None


def looks_like_item(section: str, heading: Block) -> bool:
    """Tell a heading that means to be one of an item and is written wrongly."""
    return bool(_LOOKALIKE[section].match(heading_line(heading).shown))


def scenario(head: Head, blocks: tuple[Block, ...]) -> Scenario:
    reading = read_fields(blocks, SCENARIO_KEYS, owner=f"scenario {head[0]}", top_only=False)
    proof = reading.first("proof")
    return Scenario(*head, blocks, reading, known("proof", proof.text) if proof else None)


def adr(head: Head, blocks: tuple[Block, ...]) -> Adr:
    reading = read_fields(blocks, ADR_KEYS, owner=f"decision {head[0]}", top_only=False)
    scope = reading.first("scope")
    return Adr(*head, blocks, reading, known("scope", scope.text) if scope else None)


def slice_of(head: Head, blocks: tuple[Block, ...]) -> Slice:
    reading = read_fields(blocks, SLICE_KEYS, owner=f"slice {head[0]}", top_only=True)
    files = reading.first("files")
    return Slice(
        *head,
        blocks,
        reading,
        _single(reading, "persona"),
        tuple(_path(span) for span in files.listed()) if files else (),
        _names(reading, "covers"),
        _names(reading, "depends"),
        _single(reading, "surface"),
        _standards(reading),
        tuple(reuse for one in reading.every("reuse") for reuse in _reuses(one)),
    )


def _single(reading: Reading, key: str) -> Word | None:
    found = reading.first(key)
    return Word(found.text, found.value_place) if found and found.text and not known("nothing", found.text) else None


def _names(reading: Reading, key: str) -> tuple[Word, ...]:
    found = reading.first(key)
    return tuple(Word(*name) for name in found.names()) if found else ()


def _path(span: Span) -> Word:
    text = span.code
    if text is None:
        # Not `plain`: `__init__.py` is no emphasis here.
        text = span.shown.strip()
        text = text[2:-2] if text.startswith("**") and text.endswith("**") else text
    return Word(text, span.place, span.code is not None)


def _standards(reading: Reading) -> tuple[str, ...]:
    found = reading.first("standards")
    names = [span.plain for span in found.listed()] if found else []
    return tuple(name for name in names if not known("nothing", name))


def _reuses(found: Field) -> list[Reuse]:
    """Return the verdicts of one field; an item that only says why belongs to the one above it."""
    texts: list[tuple[str, Place]] = []
    for text, place in found.entries():
        text = unicodedata.normalize("NFC", text)
        if texts and _WHY.match(text):
            texts[-1] = (f"{texts[-1][0]} — {text}", texts[-1][1])
        else:
            texts += [(one, place) for one in _NEXT.split(text)]
    if not texts:
        return [Reuse(None, "", "", found.value_place)]
    return [_reuse(text, place) for text, place in texts if not known("nothing", text)]


def _reuse(text: str, place: Place) -> Reuse:
    head = _VERDICT.match(text)
    verdict = known("verdict", head[1]) if head else None
    rest = text[head.end() :] if head else text
    why = _WHY.search(rest)
    symbol = rest[: why.start()] if why else rest
    return Reuse(verdict, symbol.strip(" —–-,;"), rest[why.end() :].strip() if why else "", place)
