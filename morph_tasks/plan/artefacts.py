"""Scenarios that speak of files instead of behaviour, and the block quote that says why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.plan.words import flat, known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.plan.outline import Block
    from morph_tasks.plan.source import Place

_MARK = "[\u0300-\u036f]?"  # an accent written as a character of its own
_WORDS = re.compile(
    rf"(?<!\w)(?:grep|contains\s+the\s+string|conte{_MARK}m\s+a\s+string|no\s+file|nenhum\s+arquivo|file\s+exists"
    rf"|arquivo\s+existe|line\s+count|nu{_MARK}mero\s+de\s+linhas)(?!\w)|(?<![\w*\\])\\?\*\\?\*/"
)
_WHY = re.compile(r"[*_]{0,3}([^\W\d_][\w \u0300-\u036f]{2,40})[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*(.*)", re.DOTALL)


def artefact_word(blocks: Iterable[Block]) -> tuple[str, Place] | None:
    """Return the first word of the artefact vocabulary outside code, and its place."""
    for block in blocks:
        if block.kind not in ("heading", "text", "table") or _reason(block) is not None:
            continue
        # One text a block: a phrase may go over the end of a line.
        text = "\n".join(span.prose for span in block.spans)
        found = _WORDS.search(flat(text))
        if found:
            before = text.count("\n", 0, found.start())
            column = found.start() - (text.rfind("\n", 0, found.start()) + 1)
            return " ".join(text[found.start() : found.end()].split()), block.spans[before].at(column)
    return None


def has_why(blocks: Iterable[Block]) -> bool:
    """Tell whether a block quote gives the reason for an artefact; a label alone gives none."""
    return any(_reason(block) for block in blocks)


def _reason(block: Block) -> str | None:
    """Return the reason in a block quote that begins with the label; None when it is another block."""
    if not block.quoted or not block.spans:
        return None
    for number, span in enumerate(block.spans):
        found = _WHY.match(span.shown)
        if found and known("key", found[1]) == "why-artefact":
            below = (later.shown for later in block.spans[number + 1 :])
            return " ".join([found[2], *below]).strip(" *_.…") or ""
    return None
