"""Properties whose declaration alone changed: they are lines of their type, and symbols of the graph."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.index import Symbol

_DECLARED = re.compile(r"[\w\[\]<>,?.\s]*[\w\]>?]\s+(?P<name>\w+)\s*(?:\{|=>|=|;|$)")


def declared_alone(owner: str, before: str, after: str, known: Iterable[Symbol]) -> list[Symbol]:
    """Return the properties of a type that its own lines differ in; none when any other line of it does too.

    `before` and `after`: the lines of the type that belong to no definition inside it.
    """
    properties = {one.name: one for one in known if one.kind == "other" and one.owner == owner}
    old, new = (Counter(line.strip() for line in text.split("\n") if line.strip()) for text in (before, after))
    found: dict[int, Symbol] = {}
    for line in (*(old - new), *(new - old)):
        declared = _DECLARED.match(line)
        if not declared or not (one := properties.get(declared["name"])):
            return []
        found[one.id] = one
    return list(found.values())
