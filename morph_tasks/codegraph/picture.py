"""What is drawn of an answer: nodes in bands, arrows between them, whatever draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from morph_tasks.codegraph.ask import place, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.answer import Answer
    from morph_tasks.codegraph.explain import Explained
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
    """A whole drawing. `bands`: the title of each band that has a box; `said`: lines on what it shows."""

    title: str
    said: tuple[str, ...]
    bands: dict[int, str]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    level: str = "symbols"


class Drawable(Protocol):
    """An answer that can be printed and drawn."""

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
    said = (*found.summary(), freshness_line(found.freshness))
    return Picture(f"What depends on {names or 'this change'}", said, bands, tuple(boxes), tuple(arrows))


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
    said = (f"{len(found.used_by)} uses of it, {len(found.uses)} by it", freshness_line(found.freshness))
    bands = {band: title for band, title in titles.items() if any(box.band == band for box in boxes)}
    return Picture(f"Around {shown(found.symbol)}", said, bands, boxes, tuple(arrows))


def condensed(picture: Picture, most: int) -> Picture:
    """Return a picture of no more than `most` boxes as far as files, and then folders, can stand for their symbols."""
    for level, name in (("files", str), ("folders", _folder)):
        if len(picture.boxes) <= most:
            break
        picture = _grouped(picture, level, name)
    return picture


def _grouped(picture: Picture, level: str, name: Any) -> Picture:
    groups: dict[tuple[int, str, bool], list[Box]] = {}
    for box in picture.boxes:
        groups.setdefault((box.band, name(box.path) or box.name, box.test), []).append(box)
    boxes: list[Box] = []
    stands_for: dict[int, int] = {}
    for number, ((band, path, test), inside) in enumerate(groups.items()):
        many = sum(box.many for box in inside)
        external = all(box.external for box in inside)
        boxes.append(Box(number, path, level[:-1], path, None, band, test, external, many))
        stands_for |= {box.id: number for box in inside}
    merged: dict[tuple[int, int], list[Arrow]] = {}
    for arrow in picture.arrows:
        merged.setdefault((stands_for[arrow.source], stands_for[arrow.target]), []).append(arrow)
    arrows = [
        Arrow(
            source,
            target,
            _one(one.relation for one in every),
            _one(one.via for one in every),
            every[0].place,
            sum(one.many for one in every),
        )
        for (source, target), every in merged.items()
    ]
    return picture._replace(boxes=tuple(boxes), arrows=tuple(arrows), level=level)


def _one(words: Iterable[str]) -> str:
    found = sorted(set(words))
    return found[0] if len(found) == 1 else "several"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _arrow(source: int, target: int, edge: Edge) -> Arrow:
    return Arrow(source, target, edge.relation, edge.via, place(edge.file, edge.line))


def _box(symbol: Symbol, band: int) -> Box:
    name = shown(symbol)
    if symbol.kind == "file" and symbol.file:
        name = symbol.file.rpartition("/")[2]
    return Box(symbol.id, name, symbol.kind, symbol.file or "", symbol.line, band, symbol.test, symbol.external)
