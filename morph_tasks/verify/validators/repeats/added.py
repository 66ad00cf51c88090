"""The definitions that a feature adds: those whose name the base does not have, and that did not only move."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from morph_tasks.codegraph.spans import language_of
from morph_tasks.verify.testcode.paths import is_test_path
from morph_tasks.verify.validators.repeats.names import plain
from morph_tasks.verify.validators.repeats.shape import near, ratio
from morph_tasks.verify.validators.repeats.sources import Made, Source, is_production, read
from morph_tasks.verify.validators.weakening.model import Change

_OVERRIDES = re.compile(r"@Override\b|@(?:\w+\.)?(?:override|overload|abstractmethod)\b|(?<!@)(?<!\.)\boverride\s+\w")
_RENAMED = 0.75


@dataclass(frozen=True)
class Added:
    """What is new, what the changed files held on both sides, and the files that could not be read."""

    made: tuple[Made, ...]
    before: dict[str, Source]
    after: dict[str, Source]
    unread: tuple[str, ...]


def added(changes: Sequence[Change]) -> Added:
    """Compare the changed files with what they were in the base; test code and generated files add nothing."""
    before = {one.path: read(one.path, one.before) for one in changes if one.before is not None}
    after = {one.path: read(one.path, one.after) for one in changes if one.after is not None}
    new: list[Made] = []
    gone: list[Made] = []
    for path in sorted({*before, *after}):
        old, now = _made(before, path), _made(after, path)
        gone += _missing(old, now)
        new += [one for one in _missing(now, old) if is_production(path)]
    unread = [path for path, one in after.items() if one.made is None and is_production(path)]
    return Added(tuple(_not_moved(new, gone)), before, after, tuple(sorted(unread)))


def _made(sources: dict[str, Source], path: str) -> tuple[Made, ...]:
    return (sources[path].made or ()) if path in sources else ()


def _missing(here: Iterable[Made], there: Iterable[Made]) -> list[Made]:
    """Return what is here and not there; another overload of a name that is there is nothing new."""
    known = {one.id for one in there}
    return [one for one in here if one.id not in known]


def _not_moved(new: list[Made], gone: list[Made]) -> Iterable[Made]:
    """Yield what is new: not what went away elsewhere, under this name or with this body."""
    left = Counter(plain(one.name) for one in gone)
    renamed = [one for one in gone if one.kind != "type" or one.shape.size < 2000]
    for one in new:
        name = plain(one.name)
        if left[name]:
            left[name] -= 1
        elif not any(_is_renamed(one, old) for old in renamed):
            yield one


def _is_renamed(one: Made, old: Made) -> bool:
    if one.family != old.family or (one.kind == "type") != (old.kind == "type"):
        return False
    mine, its = one.shape, old.shape
    if not 0.6 <= (mine.size + 1) / (its.size + 1) <= 1.7:
        return False
    return near(mine, its) or (mine.renamed == its.renamed and mine.calls == its.calls) or ratio(mine, its) >= _RENAMED


def is_asked(one: Made) -> bool:
    """Tell whether somebody chose to add a definition: no override, no part of a type, no member without a body."""
    return not _OVERRIDES.search(one.head)


def is_looked_at(path: str) -> bool:
    """Tell whether a changed file may hold something new, or what it was before it moved."""
    return language_of(path) is not None and not is_test_path(path)
