"""Which features make a union red: halving over the order of the merges, then the smallest set confirmed by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Reds = Callable[[frozenset[str]], bool]


class UndecidedError(Exception):
    """What was measured does not tell who is guilty; the text says why."""


@dataclass(frozen=True)
class Blame:
    """The smallest set found whose union is red; empty with `decided`: the default branch is red without them."""

    guilty: tuple[str, ...]
    decided: bool = True
    why: str = ""


def blame(order: Sequence[str], red: Reds) -> Blame:
    """Return who makes the union of all features in `order` red, which it is known to be.

    `red` measures the union of some of them; it raises UndecidedError when that gives no sure answer. A pair or a
    larger set is named only when it is red by itself and green as soon as one of its members is away.
    """
    try:
        if red(frozenset()):
            return Blame(())
        found = _smallest(order, red)
        return Blame(tuple(name for name in order if name in found))
    except UndecidedError as error:
        return Blame((), decided=False, why=str(error))


def _smallest(order: Sequence[str], red: Reds) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    pool = list(order)
    while not found or not red(found):
        if not pool:
            raise UndecidedError("the features that seemed to be guilty are green together when measured once more")
        place = _first_red(pool, found, red)
        found, pool = found | {pool[place]}, pool[:place]
    for name in order:
        # Some that do more harm with fewer others around: then the fewer are the answer.
        if name in found and len(found) > 1 and red(found - {name}):
            return _smallest([one for one in order if one in found - {name}], red)
    return found


def _first_red(pool: Sequence[str], found: frozenset[str], red: Reds) -> int:
    """Return the place of the first feature that turns the union red when it joins those before it and `found`."""
    low, high = 0, len(pool)  # green with `low` of them, red with `high`
    while high - low > 1:
        middle = (low + high) // 2
        if red(found | frozenset(pool[:middle])):
            high = middle
        else:
            low = middle
    return high - 1
