"""A drawn answer as one page of HTML that needs nothing else: no other file, no network, no place of this machine."""

from __future__ import annotations

import base64
import html
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.codegraph.ask import place, printable
from morph_tasks.codegraph.condensing import condensed
from morph_tasks.codegraph.drawing import BAND_GAP, CARD, HEAD, ROW, Card, Drawing, arranged
from morph_tasks.codegraph.page_parts import SCRIPT, STYLE
from morph_tasks.codegraph.picture import middle
from morph_tasks.repo import own_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from morph_tasks.codegraph.picture import Arrow, Box, Drawable, Picture

MARK = '<meta name="generator" content="morph-spec graph">'
_MOST = 1500  # above that no browser is pleasant
_BUSY = 60  # arrows from which on they are drawn fainter
_FIT = 35  # signs of a name that fit on a card


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a place that holds something else than such a page; raises `not-a-graph-page`, `write-failed`."""
    own_page.check_target(path, MARK, "graph", force=force)


def write_page(path: Path, found: Drawable, *, force: bool = False) -> None:
    """Write the page, whole or not at all; raises Refusal as `check_target` does."""
    from morph_tasks.repo.files import write_atomic

    check_target(path, force=force)
    write_atomic(path, page(found.picture(), found.lines()).encode("utf-8"))


def page(picture: Picture, lines: list[str]) -> str:
    """Return the page; the same answer is the same page. `lines`: the answer in words, at the end."""
    picture = condensed(picture, _MOST)
    return "\n".join(_page(picture, arranged(picture), lines)) + "\n"


def _page(picture: Picture, drawing: Drawing, lines: list[str]) -> Iterator[str]:
    title = _text(picture.title)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(SCRIPT)}'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'{MARK}\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>"
    yield from (f"<p>{_text(line)}</p>" for line in picture.said)
    if picture.level != "symbols":
        yield f"<p>Drawn by {picture.level}, since there are too many symbols.</p>"
    yield '<div class="tools"><input id="search" type="search" placeholder="Find a symbol or a file" '
    yield 'aria-label="Find a symbol or a file"><span id="count" class="key" aria-live="polite"></span>'
    yield '<button id="out" type="button" aria-label="Smaller">−</button>'
    yield '<button id="in" type="button" aria-label="Larger">+</button>'
    yield '<button id="fit" type="button">Whole picture</button>'
    yield '<span class="key">An arrow points to what is depended on. <b>Dashed</b>: test code.</span></div>\n</header>'
    yield '<main>\n<div id="view">'
    yield from _svg(picture, drawing)
    yield '</div>\n<aside><div id="about"><p>Point at a symbol to see what it hangs on and what hangs on it; click to '
    yield "keep it and to read the places.</p></div>"
    yield "<details><summary>In words</summary><pre>" + _text("\n".join(lines), lines=True) + "</pre></details></aside>"
    yield f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>"


def _svg(picture: Picture, drawing: Drawing) -> Iterator[str]:
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    many = ' class="many"' if len(picture.arrows) > _BUSY else ""
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size}{many} role="img" aria-label="{_text(picture.title)}">'
    yield '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    yield '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    for band in drawing.bands:
        yield f'<text class="band" x="{band.x}" y="24">{_text(band.title)} · {band.many}</text>'
    yield '<g id="arrows">'
    yield from (_arrow(arrow, drawing) for arrow in picture.arrows)
    yield '</g>\n<g id="hot"></g>'
    for card in drawing.cards:
        yield from _card(card)
    yield "</svg>"


def _arrow(arrow: Arrow, drawing: Drawing) -> str:
    """Return one arrow, between the sides of the two rows that face each other."""
    (x, y), (to_x, to_y) = drawing.rows[arrow.source], drawing.rows[arrow.target]
    if to_x > x:
        start, end, bend = x + CARD, to_x, max((to_x - x - CARD) // 2, 24)
    elif to_x < x:
        start, end, bend = x, to_x + CARD, -max((x - to_x - CARD) // 2, 24)
    else:
        start, end, bend = x + CARD, to_x + CARD, BAND_GAP // 3
    back = end - bend if to_x != x else end + bend
    via = "" if arrow.via in ("direct", "several") else f" ({arrow.via})"
    said = (
        f"{arrow.relation}{via} at {arrow.place}" if arrow.many == 1 else f"{arrow.many} edges, {arrow.relation}{via}"
    )
    return (
        f'<path class="arrow" data-a="n{arrow.source}" data-b="n{arrow.target}" data-said="{_text(said)}" '
        f'marker-end="url(#tip)" d="M{start} {y}C{start + bend} {y} {back} {to_y} {end} {to_y}"/>'
    )


def _card(card: Card) -> Iterator[str]:
    kind = ' class="test"' if card.test else ""
    yield f'<g{kind}><rect class="card" x="{card.x}" y="{card.y}" width="{CARD}" height="{card.height}" rx="6"/>'
    top = card.y
    if card.path:
        folder, _, name = card.path.rpartition("/")
        yield f'<text class="folder" x="{card.x + 10}" y="{top + 15}">{_text(_tail(folder, 42))}</text>'
        yield f'<text class="file" x="{card.x + 10}" y="{top + 32}">{_text(middle(name, _FIT))}'
        yield f"<title>{_text(card.path)}</title></text>"
        top += HEAD
    for at, box in enumerate(card.boxes):
        yield _row(box, card, top + ROW * at)
    yield "</g>"


def _row(box: Box, card: Card, y: int) -> str:
    x = card.x
    where = place(box.path, box.line) or "outside of the project"
    said = f"{box.kind}{', test code' if box.test else ''}, {where}"
    name = "the file" if box.kind == "file" and card.path else box.name
    name += f" · {box.many}" if box.many > 1 else ""
    kinds = "row" + ("" if box.band else " asked") + (" outside" if box.external else "")
    data = f'data-name="{_text(box.name)}" data-said="{_text(said)}"'
    return (
        f'<g class="{kinds}" id="n{box.id}" tabindex="0" role="button" {data}>'
        f'<rect x="{x + 3}" y="{y + 1}" width="{CARD - 6}" height="{ROW - 2}" rx="4"/>'
        f'<text x="{x + 12}" y="{y + 15}">{_text(middle(name, _FIT))}</text>'
        f"<title>{_text(f'{box.name}: {said}')}</title></g>"
    )


def _tail(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[1 - most :]}"


def _text(text: str, *, lines: bool = False) -> str:
    shown = "\n".join(map(printable, text.split("\n"))) if lines else printable(text)
    return html.escape(shown.encode("utf-8", "backslashreplace").decode(), quote=True)


def _digest(source: str) -> str:
    return base64.b64encode(sha256(source.encode()).digest()).decode()
