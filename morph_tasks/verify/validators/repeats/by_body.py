"""Find the functions that were there with the body of a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.verify.validators.repeats.apart import apart
from morph_tasks.verify.validators.repeats.names import is_given, plain
from morph_tasks.verify.validators.repeats.shape import FEWEST, SHARED, SMALLEST, near, ratio
from morph_tasks.verify.validators.repeats.sources import Made

if TYPE_CHECKING:
    from morph_tasks.verify.validators.repeats.project import Project


def by_body(asked: list[Made], project: Project, planned: frozenset[str]) -> dict[int, list[Made]]:
    """Return for each new function the ones that were there with its body, by the identity of the new one."""
    wanted = [one for one in asked if _has_body(one) and (planned or not is_given(one.name))]
    found: dict[int, list[Made]] = {}
    for family in {one.family for one in wanted}:
        ours = [one for one in wanted if one.family == family]
        files = project.holding(family, frozenset[str]().union(*(one.shape.calls for one in ours)))
        for one in ours:
            fit = [
                (ratio(one.shape, other.shape), other)
                for path in files.with_most(one.shape.calls, SHARED)
                for other in project.made(path)
                if _as_long(one, other) and near(one.shape, other.shape) and _comparable(one, other, project, planned)
            ]
            if fit:
                best = sorted(fit, key=lambda pair: (-pair[0], pair[1].path, pair[1].about.start))
                found[id(one)] = [other for _, other in best]
    return found


def _has_body(one: Made) -> bool:
    """Tell whether a function is one that somebody wrote for what it does."""
    if one.kind == "type" or one.name == one.about.owner:
        return False
    return one.shape.size >= SMALLEST and len(one.shape.calls) >= FEWEST


def _as_long(one: Made, other: Made) -> bool:
    """Tell whether two functions may have one body by their lines; a line more or less is a matter of style."""
    if other.kind == "type":
        return False
    mine, its = (made.about.end - made.about.start + 1 for made in (one, other))
    return 0.5 <= (mine + 2) / (its + 2) <= 2


def _comparable(one: Made, other: Made, project: Project, planned: frozenset[str]) -> bool:
    """Tell whether one of two functions could be called instead of the other, and does not stand next to it."""
    if other.name == other.about.owner or apart(one, other):
        return False
    if plain(other.name) not in planned and (one.path == other.path or is_given(one.name)):
        return False
    if not (one.kind == other.kind == "method"):
        return True
    if plain(one.about.owner) == plain(other.about.owner):
        return False  # then the type is what is repeated
    # Two types that answer the same calls do so by agreement.
    return not any(made.about.owner == other.about.owner for made in project.now(other.path, one.name))
