"""What the scope of a reference says of the definitions that have its name."""

from __future__ import annotations

from typing import NamedTuple


class Reference(NamedTuple):
    """A link to a name without a definition: who refers to it, from which file, and how it is written there."""

    row: int
    source: int
    stub: int
    name: str
    file: str | None
    family: str | None
    relation: str
    context: str | None
    qualifier: str | None


class Verdict(NamedTuple):
    """The definition that is meant; or, when that cannot be told, all that may be. Neither: it is not in the tree."""

    meant: int | None = None
    options: tuple[int, ...] = ()


OUTSIDE = Verdict()


def one_of(found: list[int]) -> Verdict:
    """Return the only one, or the choice."""
    return Verdict(found[0]) if len(found) == 1 else Verdict(options=tuple(found))
