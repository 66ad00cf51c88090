"""A picture as a Mermaid flowchart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.codegraph.condensing import squeezed
from morph_tasks.codegraph.picture import middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from morph_tasks.codegraph.picture import Box, Picture

_MOST = 150  # above that no renderer draws anything readable
_MOST_ARROWS, _MOST_SIGNS = 400, 48_000  # pull requests draw no more than 500 and 50,000
_MOST_LINES = 60  # of what cannot be drawn
_LONGEST = 120  # signs of a name or a path
_PLAIN = re.compile(r"[^\w ./()\-,+]", re.ASCII)


def flowchart(picture: Picture) -> str:
    """Return a flowchart: a subgraph for each file, an arrow from each symbol to what it depends on."""
    for most, arrows in ((_MOST, _MOST_ARROWS), (60, 150), (20, 40)):
        drawn = "\n".join(_lines(squeezed(picture, most, arrows))) + "\n"
        if len(drawn) <= _MOST_SIGNS:
            break
    return drawn


def _lines(picture: Picture) -> Iterator[str]:
    both_ways = min(picture.bands, default=0) < 0
    yield f"flowchart {'LR' if both_ways else 'RL'}"
    for line in (picture.title, *picture.said):
        yield f"  %% {_comment(line)}"
    if picture.level != "symbols":
        yield f"  %% drawn by {picture.level}, since there are too many symbols"
    yield from (f"  %% {_comment(line)}" for line in _few(picture.remarks))
    names = {box.id: f"n{at}" for at, box in enumerate(picture.boxes)}
    groups: dict[tuple[int, str], list[Box]] = {}
    for box in picture.boxes:
        groups.setdefault((box.band, box.path if picture.level == "symbols" else ""), []).append(box)
    for at, ((_, path), boxes) in enumerate(groups.items()):
        yield from _group(f"g{at}", path, boxes, names)
    for arrow in picture.arrows:
        words = arrow.relation if arrow.via in ("direct", "several") else f"{arrow.relation}, {arrow.via}"
        words += f" x{arrow.many}" if arrow.many > 1 else ""
        yield f'  {names[arrow.source]} -->|"{_text(words)}"| {names[arrow.target]}'
    yield "  classDef asked fill:#1f6feb,stroke:#1f6feb,color:#ffffff"
    yield "  classDef test stroke-dasharray:4 3"
    for kind, chosen in (
        ("asked", [names[box.id] for box in picture.boxes if not box.band]),
        ("test", [names[box.id] for box in picture.boxes if box.test and box.band]),
    ):
        if chosen:
            yield f"  class {','.join(chosen)} {kind}"


def _group(name: str, path: str, boxes: list[Box], names: dict[int, str]) -> Iterator[str]:
    inside = [f'{names[box.id]}["{_text(box.name)}{f" ({box.many})" if box.many > 1 else ""}"]' for box in boxes]
    if not path:
        yield from (f"  {line}" for line in inside)
        return
    yield f'  subgraph {name}["{_text(path)}"]'
    yield from (f"    {line}" for line in inside)
    yield "  end"


def _text(text: str) -> str:
    """Return a text inside quotes: what Mermaid or HTML would read is spelled by its number."""
    shown = middle(" ".join(text.split()), _LONGEST)
    return _PLAIN.sub(lambda found: found[0] if ord(found[0]) > 127 else f"#{ord(found[0])};", shown)


def _few(lines: Sequence[str]) -> list[str]:
    shown = [middle(line, _LONGEST) for line in lines if line.strip()]
    more = len(shown) - _MOST_LINES
    return [*shown[:_MOST_LINES], *([f"… and {more} more lines"] if more > 0 else [])]


def _comment(text: str) -> str:
    return re.sub(r"[{}%\s]+", " ", text).strip()
