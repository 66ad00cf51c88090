"""Where the boxes of a picture stand: bands from left to right, in each the symbols by file on cards."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morph_tasks.codegraph.picture import Box, Picture

ROW, HEAD, CARD, GAP, COLUMN_GAP, BAND_GAP, TOP = 22, 40, 300, 12, 16, 110, 44
_TALL = 900  # a band that is higher takes another column
_MOST_COLUMNS = 6


class Card(NamedTuple):
    """The symbols of one file in one band; the place is that of its upper left corner."""

    path: str
    test: bool
    boxes: tuple[Box, ...]
    x: int
    y: int

    @property
    def height(self) -> int:
        return _height(self.path, len(self.boxes))


class Band(NamedTuple):
    """One band: its title and the place of it."""

    title: str
    x: int
    width: int
    many: int


class Drawing(NamedTuple):
    """A picture with places. `rows`: for each box the left edge and the middle of its row."""

    width: int
    height: int
    bands: tuple[Band, ...]
    cards: tuple[Card, ...]
    rows: dict[int, tuple[int, int]]


def arranged(picture: Picture) -> Drawing:
    """Return where everything stands; the same picture is arranged the same."""
    bands: list[Band] = []
    cards: list[Card] = []
    x = GAP
    for number in sorted(picture.bands):
        boxes = [box for box in picture.boxes if box.band == number]
        columns = _columns(_piles(boxes, by_file=picture.level == "symbols"))
        for at, column in enumerate(columns):
            y = TOP
            for path, inside in column:
                cards.append(Card(path, inside[0].test, tuple(inside), x + at * (CARD + COLUMN_GAP), y))
                y += _height(path, len(inside)) + GAP
        width = max(len(columns), 1) * (CARD + COLUMN_GAP) - COLUMN_GAP
        bands.append(Band(picture.bands[number], x, width, sum(box.many for box in boxes)))
        x += width + BAND_GAP
    height = max((card.y + card.height for card in cards), default=TOP) + GAP
    rows = {
        box.id: (card.x, card.y + (HEAD if card.path else 0) + ROW * at + ROW // 2)
        for card in cards
        for at, box in enumerate(card.boxes)
    }
    return Drawing(x - BAND_GAP + GAP if bands else 2 * GAP, height, tuple(bands), tuple(cards), rows)


def _piles(boxes: Sequence[Box], *, by_file: bool) -> list[tuple[str, list[Box]]]:
    """Return the boxes of each file, production code first, neighbours in the tree next to each other."""
    piles: dict[tuple[bool, str, str], list[Box]] = {}
    for box in sorted(boxes, key=lambda one: (one.test, _folder(one.path), one.path, one.line or 0, one.name)):
        path = box.path if by_file else ""
        piles.setdefault((box.test, _folder(box.path), path), []).append(box)
    return [(path, inside) for (_, _, path), inside in piles.items()]


def _columns(piles: Sequence[tuple[str, list[Box]]]) -> list[list[tuple[str, list[Box]]]]:
    """Fill columns of about the same height, in order."""
    total = sum(_height(path, len(inside)) + GAP for path, inside in piles)
    wanted = min(_MOST_COLUMNS, max(1, ceil(total / _TALL)))
    room = total / wanted
    columns: list[list[tuple[str, list[Box]]]] = [[]]
    filled = 0.0
    for path, inside in piles:
        tall = _height(path, len(inside)) + GAP
        if columns[-1] and filled + tall / 2 > room and len(columns) < wanted:
            columns.append([])
            filled = 0.0
        columns[-1].append((path, inside))
        filled += tall
    return columns if piles else []


def _height(path: str, rows: int) -> int:
    return (HEAD if path else 0) + ROW * rows + 6


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
