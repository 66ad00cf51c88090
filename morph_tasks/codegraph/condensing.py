"""Pictures with too many symbols, drawn by what stands for them: files, folders, and folders further up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.picture import Arrow, Box, Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SHARES = (0.75, 0.4, 0.2, 0.1, 0)  # of the boxes that are drawn, those that are folders of their own
_OUTSIDE = "outside of the project"


def condensed(picture: Picture, most: int) -> Picture:
    """Return a picture of no more than `most` boxes as far as files, and then folders, can stand for their symbols."""
    for level, name in (("files", str), ("folders", _folder)):
        if len(picture.boxes) <= most:
            break
        picture = _grouped(picture, level, name, _band)
    return picture


def squeezed(picture: Picture, most: int, most_arrows: int) -> Picture:
    """Return a picture of no more boxes and arrows, whatever it takes.

    Beyond what `condensed` does a folder stands for itself at all distances, then the small ones go together; at last
    what stands for the fewest is left out, and `said` tells how many.
    """

    def fits() -> bool:
        return len(picture.boxes) <= most and len(picture.arrows) <= most_arrows

    for level, name, band in (("files", str, _band), ("folders", _folder, _band), ("folders", str, _side)):
        if fits():
            return picture
        picture = _grouped(picture, level, name, band)
    folders = picture
    for share in _SHARES:
        if fits():
            return picture
        picture = _grouped(folders, "folders", _but_the_largest(folders, int(most * share)), _side)
    return picture if fits() else _cut(picture, most, most_arrows)


def _band(number: int) -> int:
    return number


def _side(number: int) -> int:
    """Return which side of what was asked for a band is on, whatever the distance."""
    return (number > 0) - (number < 0)


def _grouped(picture: Picture, level: str, name: Callable[[str], str], band_of: Callable[[int], int]) -> Picture:
    groups: dict[tuple[int, str, bool], list[Box]] = {}
    for box in picture.boxes:
        key = _OUTSIDE if box.external and not box.path else name(box.path) or box.name
        groups.setdefault((band_of(box.band), key, box.test), []).append(box)
    boxes: list[Box] = []
    stands_for: dict[int, int] = {}
    for number, ((_, path, test), inside) in enumerate(groups.items()):
        many = sum(box.many for box in inside)
        external = all(box.external for box in inside)
        band = min((box.band for box in inside), key=abs)
        boxes.append(Box(number, path, level[:-1], path, None, band, test, external, many))
        stands_for |= {box.id: number for box in inside}
    merged: dict[tuple[int, int], list[Arrow]] = {}
    for arrow in picture.arrows:
        ends = (stands_for[arrow.source], stands_for[arrow.target])
        if ends[0] != ends[1] or band_of is _band:
            merged.setdefault(ends, []).append(arrow)
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


def _cut(picture: Picture, most: int, most_arrows: int) -> Picture:
    """Leave out boxes that stand for the fewest symbols, then arrows that stand for the fewest edges."""
    boxes = sorted(picture.boxes, key=lambda box: (box.band != 0, -box.many))[:most]
    kept = {box.id for box in boxes}
    arrows = sorted((one for one in picture.arrows if {one.source, one.target} <= kept), key=lambda one: -one.many)
    gone = len(picture.boxes) - len(boxes), len(picture.arrows) - len(arrows[:most_arrows])
    said = (*picture.said, f"left out: {gone[0]} boxes and {gone[1]} arrows, those that stand for the fewest")
    return picture._replace(
        boxes=tuple(box for box in picture.boxes if box.id in kept), arrows=tuple(arrows[:most_arrows]), said=said
    )


def _but_the_largest(picture: Picture, kept: int) -> Callable[[str], str]:
    """Keep the folders that stand for most symbols; the rest is one for each folder at the top."""
    sizes: dict[str, int] = {}
    for box in picture.boxes:
        sizes[box.path] = sizes.get(box.path, 0) + box.many
    large = set(sorted(sizes, key=lambda path: (-sizes[path], path))[:kept])
    return lambda path: path if path in large or "/" not in path else f"{path.partition('/')[0]}/…"


def _one(words: Iterable[str]) -> str:
    found = sorted(set(words))
    return found[0] if len(found) == 1 else "several"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
