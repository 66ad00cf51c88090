"""What is drawn of an answer: nodes in bands, arrows between them, whatever draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from morph_tasks.codegraph.ask import place, shown
from morph_tasks.codegraph.sparse import words

if TYPE_CHECKING:
    from morph_tasks.codegraph.answer import Answer
    from morph_tasks.codegraph.explain import Explained
    from morph_tasks.codegraph.freshness import Freshness
    from morph_tasks.codegraph.index import Edge, Symbol


class Box(NamedTuple):
    """A symbol, or what stands for several: `many` tells how many. `band`: the column, 0 is what was asked for."""

    id: int
    name: str
    kind: str
    path: str
    line: int | None
    band: int
    test: bool
    external: bool
    many: int = 1


class Arrow(NamedTuple):
    """`source` depends on `target`; `place` is the citation, `many` how many edges it stands for."""

    source: int
    target: int
    relation: str
    via: str
    place: str
    many: int = 1


class Picture(NamedTuple):
    """A whole drawing. `bands`: the title of each band that has a box; `said`: lines on what it shows.

    `remarks`: lines on what cannot be drawn, for a form that has no words beside the drawing.
    """

    title: str
    said: tuple[str, ...]
    bands: dict[int, str]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    level: str = "symbols"
    remarks: tuple[str, ...] = ()


class Drawable(Protocol):
    """An answer that can be printed and drawn."""

    @property
    def freshness(self) -> Freshness:
        """Return how old the graph is that it comes from."""

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""

    def lines(self) -> list[str]:
        """Return the lines for people."""

    def picture(self) -> Picture:
        """Return what is drawn."""


def of_answer(found: Answer) -> Picture:
    """Draw what depends on some symbols: they on the left, and one band for each distance."""
    from morph_tasks.codegraph.answer import freshness_line

    boxes = [_box(one, 0) for one in found.seeds]
    boxes += [_box(hit.symbol, hit.depth) for hit in found.hits]
    known = {one.id for one in boxes}
    arrows = [
        Arrow(hit.symbol.id, hit.through, hit.relation, hit.via, place(hit.file, hit.line))
        for hit in found.hits
        if hit.through in known
    ]
    arrows += (
        [_arrow(source.id, target.id, edge) for source, edge, target in found.changed.within] if found.changed else []
    )
    bands = {0: "changed" if found.changed else "asked for"}
    bands |= {hit.depth: "directly" if hit.depth == 1 else f"at distance {hit.depth}" for hit in found.hits}
    names = ", ".join(shown(one) for one in found.seeds[:3]) + (" …" if len(found.seeds) > 3 else "")
    said = (*found.summary(), *words(found.freshness.left_out), freshness_line(found.freshness))
    remarks = [*(found.changed.missed() if found.changed else ()), *(found.mentions.lines() if found.mentions else ())]
    title = f"What depends on {names or 'this change'}"
    return Picture(title, said, bands, tuple(boxes), tuple(arrows), remarks=tuple(remarks))


def of_explained(found: Explained) -> Picture:
    """Draw the neighbourhood of a symbol: who uses it on the left, what it uses on the right."""
    from morph_tasks.codegraph.answer import freshness_line

    centre = {one.id: _box(one, 0) for one in (found.symbol, *found.members)}
    sides: dict[int, dict[int, Box]] = {-1: {}, 1: {}}
    arrows = []
    for band, neighbours in ((-1, found.used_by), (1, found.uses)):
        for one in neighbours:
            # Whoever uses it and is used by it stands on both sides.
            number = one.symbol.id * 2 + (band > 0)
            sides[band].setdefault(number, _box(one.symbol, band)._replace(id=number))
            mine = (one.member or found.symbol).id * 2
            arrows.append(_arrow(number, mine, one.edge) if band < 0 else _arrow(mine, number, one.edge))
    drawn = {end for arrow in arrows for end in (arrow.source, arrow.target)} | {found.symbol.id * 2}
    middle = [box._replace(id=box.id * 2) for box in centre.values() if box.id * 2 in drawn]
    boxes = (*sides[-1].values(), *middle, *sides[1].values())
    titles = {-1: "uses it", 0: "asked for", 1: "it uses"}
    said = (f"{len(found.used_by)} uses of it, {len(found.uses)} by it", *words(found.freshness.left_out))
    said = (*said, freshness_line(found.freshness))
    bands = {band: title for band, title in titles.items() if any(box.band == band for box in boxes)}
    remarks = tuple(found.mentions.lines()) if found.mentions else ()
    return Picture(f"Around {shown(found.symbol)}", said, bands, boxes, tuple(arrows), remarks=remarks)


def middle(text: str, most: int) -> str:
    """Return a text of no more than some signs: what it begins and ends with says most."""
    if len(text) <= most:
        return text
    start = (most - 1) // 2
    return f"{text[:start]}…{text[start + 1 - most :]}"


def _arrow(source: int, target: int, edge: Edge) -> Arrow:
    return Arrow(source, target, edge.relation, edge.via, place(edge.file, edge.line))


def _box(symbol: Symbol, band: int) -> Box:
    name = shown(symbol)
    if symbol.kind == "file" and symbol.file:
        name = symbol.file.rpartition("/")[2]
    return Box(symbol.id, name, symbol.kind, symbol.file or "", symbol.line, band, symbol.test, symbol.external)
