"""A picture as a Mermaid flowchart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.codegraph.picture import condensed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from morph_tasks.codegraph.picture import Box, Picture

_MOST = 150  # above that no renderer draws anything readable, and most refuse
_PLAIN = re.compile(r"[^\w ./()\-,+]", re.ASCII)


def flowchart(picture: Picture) -> str:
    """Return a flowchart: a subgraph for each file, an arrow from each symbol to what it depends on."""
    return "\n".join(_lines(condensed(picture, _MOST))) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    both_ways = min(picture.bands, default=0) < 0
    yield f"flowchart {'LR' if both_ways else 'RL'}"
    for line in (picture.title, *picture.said):
        yield f"  %% {_comment(line)}"
    if picture.level != "symbols":
        yield f"  %% drawn by {picture.level}, since there are too many symbols"
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
    shown = " ".join(text.split())
    return _PLAIN.sub(lambda found: found[0] if ord(found[0]) > 127 else f"#{ord(found[0])};", shown)


def _comment(text: str) -> str:
    return re.sub(r"[{}%\s]+", " ", text).strip()
