"""The hash of a plan: what an approval approves. The errata are outside."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from morph_tasks.plan.source import split_lines
from morph_tasks.plan.words import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from morph_tasks.plan.values import Section


def plan_hash(text: str) -> str:
    """Return the SHA-256 (hex) of a plan without its errata; line ends, trailing blanks and a BOM do not count.

    Raises Refusal `plan-too-deep`.
    """
    # The Markdown parser is not worth loading for a text that cannot have the section.
    if "errata" not in re.sub("[^a-z]", "", fold(text)):
        return hash_of(split_lines(text), ())
    from morph_tasks.plan.grammar import parse

    plan = parse(text)
    return hash_of(plan.lines, plan.named("errata"))


def hash_of(lines: Sequence[str], errata: Iterable[Section]) -> str:
    """Return the hash of the lines that lie in no errata section."""
    left = set[int]()
    for section in errata:
        left.update(range(section.heading.start, section.end))
    kept = (line.rstrip(" \t") for number, line in enumerate(lines) if number not in left)
    return hashlib.sha256("\n".join(kept).rstrip("\n").encode("utf-8", "surrogatepass")).hexdigest()
