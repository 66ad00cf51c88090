"""Find what a feature adds and the project has already: under the same name, or with the same body."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.repeats.added import Added, is_asked
from morph_tasks.verify.validators.repeats.by_body import by_body
from morph_tasks.verify.validators.repeats.by_name import by_name
from morph_tasks.verify.validators.repeats.names import plain
from morph_tasks.verify.validators.repeats.sources import Made

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.verify.validators.repeats.project import Project


@dataclass(frozen=True)
class Repeat:
    """A new definition and those that were there, the nearest first.

    `uses` counts the files of production code that use the first; None when the graph does not know it.
    """

    new: Made
    every: tuple[Made, ...]
    name: bool
    body: bool
    uses: int | None = None

    @property
    def old(self) -> Made:
        return self.every[0]


def repeats(found: Added, project: Project, index: Index, planned: Collection[str] = ()) -> list[Repeat]:
    """Return what the feature repeats, each new definition once, by place.

    `planned`: names, as they compare, of which the plan speaks: they count however plain they are.
    """
    asked = [one for one in found.made if is_asked(one)]
    named = by_name(asked, project, index, frozenset(planned))
    shaped = by_body(asked, project, frozenset(planned))
    made = (_joined(one, named.get(id(one), []), shaped.get(id(one), [])) for one in asked)
    return [_with_uses(one, index) for one in made if one is not None]


def _joined(new: Made, named: list[Made], shaped: list[Made]) -> Repeat | None:
    called = [one for one in shaped if plain(one.name) == plain(new.name)]
    every = list({(one.path, one.about.start): one for one in (*called, *shaped, *named)}.values())
    return Repeat(new, tuple(every), bool(called or every[0] in named), bool(shaped)) if every else None


def _with_uses(one: Repeat, index: Index) -> Repeat:
    from morph_tasks.codegraph.affected import affected

    symbol = next(iter(_symbols(index.in_file(one.old.path), one.old)), None)
    if symbol is None:
        return one
    sites = {hit.file for hit in affected(index, [symbol], depth=1, prod=True)}
    return replace(one, uses=len(sites - {None}))


def _symbols(symbols: Iterable[Symbol], made: Made) -> Iterator[Symbol]:
    """Yield what may be a definition in the graph, by its owner, then by the nearest line."""
    fit = [one for one in symbols if one.name == made.name and one.kind not in ("file", "namespace", "package")]
    owned = [one for one in fit if one.owner == made.about.owner]
    yield from sorted(owned or fit, key=lambda one: abs((one.line or 0) - made.line))
