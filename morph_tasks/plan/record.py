"""The project's record of decisions, and the table of conflicts that a plan may have with it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from morph_tasks.plan.values import Conflict
from morph_tasks.plan.words import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from morph_tasks.plan.outline import Block, Span

RECORD = ".morph/specs/adrs"

_FILE = re.compile(r"(.+)--ADR-([0-9]+)\.md")
_ID = re.compile(r"(?:(?P<feature>[^\s/]+)--)?ADR-(?P<number>[0-9]+)")


@dataclass(frozen=True)
class AdrIndex:
    """The ids in the record, `<feature>--ADR-<nnn>`."""

    ids: tuple[str, ...] = ()

    def resolve(self, text: str) -> tuple[str | None, str]:
        """Return the full id that `ADR-007` or `cart--ADR-007` means, or None and why it means none."""
        found = self.meant(text)
        if found is None:
            return None, f"`{text[:60]}` is no id of a decision (`ADR-007` or `<feature>--ADR-007`)"
        if len(found) == 1:
            return found[0], ""
        if not found:
            return None, f"`{text[:60]}` is not in the record ({RECORD}/)"
        return None, f"`{text}` is ambiguous: write {' or '.join(f'`{one}`' for one in found[:6])}"

    def meant(self, text: str) -> list[str] | None:
        """Return every full id that a text may mean; None when it is no id at all."""
        asked = _ID.fullmatch(text)
        if not asked:
            return None
        found = self._by_number.get(asked["number"].lstrip("0"), ())
        return [one for one in found if asked["feature"] in (None, one.rpartition("--ADR-")[0])]

    @cached_property
    def _by_number(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in self.ids:
            found.setdefault(one.rpartition("--ADR-")[2].lstrip("0"), []).append(one)
        return found


def read_index(root: Path) -> AdrIndex:
    """Read the names of the files of the record; other files there do not count."""
    try:
        names = sorted(os.listdir(root / RECORD))
    except OSError:
        return AdrIndex()
    return AdrIndex(tuple(name.removesuffix(".md") for name in names if _FILE.fullmatch(name)))


def conflicts(blocks: Iterable[Block]) -> Iterator[Conflict]:
    """Yield the rows of the tables `ADR | Change | Scope`, those that cannot be applied with their problem."""
    for block in blocks:
        if block.kind == "table":
            yield from _rows(block)
        elif block.kind == "text" and not block.quoted and not block.depth:
            start = block.spans[0].shown.lstrip()
            if start.startswith("|") and "adr" in start.lower():
                yield Conflict("", None, "", block.place, "this is no table: its second line must part as many columns")


def _rows(block: Block) -> Iterator[Conflict]:
    header = [known("column", cell.plain) for cell in block.rows[0]]
    if "adr" not in header or "change" not in header:
        yield Conflict("", None, "", block.place, "the table needs the columns `ADR`, `Change` and `Scope`")
        return
    for row in block.rows[1:]:
        cells = dict(zip(header, row, strict=False))
        if any(cell.plain for cell in row) and not known("nothing", _text(cells, "adr")):
            yield _row(row, cells)


def _row(row: tuple[Span, ...], cells: dict[str | None, Span]) -> Conflict:
    adr, scope = _text(cells, "adr"), _text(cells, "scope")
    scope = "" if known("nothing", scope) else scope
    said = _text(cells, "change")
    change = known("change", said)
    problem = ""
    if not adr:
        problem = "the row names no decision"
    elif change is None:
        problem = f"the change of `{adr[:60]}` is `{said[:60]}`: it is `total` or `partial`"
    elif change == "partial" and not scope:
        problem = f"a partial change of `{adr[:60]}` needs the scope that remains"
    # A row that begins with an empty cell is still found by its first word.
    place = next((cell.place for cell in row if cell.shown.strip()), row[0].place)
    return Conflict(adr, change, scope, place, problem)


def _text(cells: dict[str | None, Span], column: str) -> str:
    return cells[column].plain if column in cells else ""
