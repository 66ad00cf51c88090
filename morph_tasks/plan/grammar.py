"""The grammar of `plan.md`: the text becomes a plan; nothing is judged but the form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from morph_tasks.plan.inline import masked
from morph_tasks.plan.items import IDS, adr, item_id, looks_like_item, scenario, slice_of
from morph_tasks.plan.outline import Block, outline
from morph_tasks.plan.record import conflicts
from morph_tasks.plan.source import Finding, front_matter, split_lines
from morph_tasks.plan.values import Item, Plan, Section
from morph_tasks.plan.words import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Made = TypeVar("Made", bound=Item)
Group = tuple[Block | None, tuple[Block, ...]]

_ONE = {"scenarios": "scenario", "slices": "slice", "decisions": "decision"}


def parse(text: str) -> Plan:
    """Parse a plan; raises Refusal `plan-too-deep` and nothing else, whatever the text is."""
    lines = split_lines(text)
    skipped = front_matter(lines)
    blocks = outline([""] * skipped + lines[skipped:])
    sections = list(_sections(blocks, len(lines)))
    errors: list[Finding] = []
    scenarios = list(_items("scenarios", sections, scenario, errors))
    slices = list(_items("slices", sections, slice_of, errors))
    adrs = list(_items("decisions", sections, adr, errors))
    errors += _lost_headings(sections)
    record = _record(sections)
    items: list[Item] = [*scenarios, *slices, *adrs]
    return Plan(
        next((block.title for block in blocks if block.kind == "heading" and block.level == 1), ""),
        tuple(lines),
        tuple(sections),
        "\n\n".join(filter(None, (_raw(section, lines) for section in sections if section.name == "problem"))),
        tuple(scenarios),
        tuple(slices),
        tuple(adrs),
        record,
        tuple(conflicts(record.blocks)) if record else (),
        tuple(errors),
        tuple(warning for item in items for warning in item.reading.warnings),
        _runaway(blocks, lines),
    )


def speaks(block: Block, lines: Sequence[str]) -> bool:
    """Tell whether a block says something: no heading, no comment, no rule, no table without a row."""
    if block.kind == "text":
        return any(span.shown.strip() for span in block.spans)
    if block.kind == "table":
        return any(cell.shown.strip() for row in block.rows[1:] for cell in row)
    if block.kind == "html":
        return bool(masked("\n".join(lines[block.start : block.end]).replace("`", "'"))[0].strip())
    return block.kind == "code" and any(line.strip(" \t`~") for line in lines[block.start : block.end])


def _sections(blocks: list[Block], total: int) -> Iterator[Section]:
    starts = [at for at, block in enumerate(blocks) if block.kind == "heading" and block.level <= 2]
    for at, following in pairwise([*starts, len(blocks)]):
        heading = blocks[at]
        name = known("section", heading.title) if heading.level == 2 else None
        end = blocks[following].start if following < len(blocks) else total
        yield Section(None if name == "conflicts" else name, heading, tuple(blocks[at + 1 : following]), end)


def _groups(blocks: Iterable[Block]) -> Iterator[Group]:
    """Part the blocks of a section at its headings of level 3."""
    heading: Block | None = None
    held: list[Block] = []
    for block in blocks:
        if block.kind == "heading" and block.level == 3:
            yield heading, tuple(held)
            heading, held = block, []
        else:
            held.append(block)
    yield heading, tuple(held)


def _items(
    name: str, sections: list[Section], make: Callable[[Any, tuple[Block, ...]], Made], errors: list[Finding]
) -> Iterator[Made]:
    for section in sections:
        if section.name != name:
            continue
        for heading, blocks in _groups(section.blocks):
            head = item_id(name, heading) if heading else None
            if heading and head:
                yield make(head, blocks)
            elif heading and looks_like_item(name, heading):
                errors.append(_bad_heading(name, heading))
            if not heading or known("section", heading.title) != "conflicts":
                errors += (
                    _bad_heading(name, block) for block in blocks if block.kind == "heading" and item_id(name, block)
                )


def _bad_heading(name: str, heading: Block) -> Finding:
    form = f"### {IDS[name]}<n> — <title>"
    return Finding(
        "bad-heading", heading.place, f"`{heading.title[:60]}` is no heading of a {_ONE[name]}: write `{form}`"
    )


def _lost_headings(sections: list[Section]) -> Iterator[Finding]:
    """Find items that have headings of level 2 and so end the section they are meant for."""
    within = ""
    for section in sections:
        if within in ("scenarios", "slices") and section.name is None and item_id(within, section.heading):
            yield _bad_heading(within, section.heading)
        else:
            within = section.name or ""


def _record(sections: list[Section]) -> Section | None:
    """Return the subsection on conflicts, its pieces joined."""
    found = [
        (section, heading, blocks)
        for section in sections
        if section.name == "decisions"
        for heading, blocks in _groups(section.blocks)
        if heading and known("section", heading.title) == "conflicts"
    ]
    if not found:
        return None
    section, heading, _ = found[0]
    return Section("conflicts", heading, tuple(block for _, _, blocks in found for block in blocks), section.end)


def _raw(section: Section, lines: Sequence[str]) -> str:
    """Return the Markdown under a heading without its comments."""
    hidden = {
        number
        for block in section.blocks
        if block.kind == "html" and not speaks(block, lines)
        for number in range(block.start, block.end)
    }
    kept = (lines[number].rstrip() for number in range(section.heading.end, section.end) if number not in hidden)
    return "\n".join(kept).strip()


def _runaway(blocks: list[Block], lines: Sequence[str]) -> int | None:
    """Return the line of a fence or comment that is never closed."""
    last = blocks[-1] if blocks else None
    if not last or last.kind not in ("code", "html") or last.depth or last.quoted or last.end < len(lines) - 1:
        return None
    opening, closing = lines[last.start].strip(), lines[last.end - 1].strip()
    open_fence = opening[:3] in ("```", "~~~") and (last.end - last.start < 2 or not closing.startswith(opening[:3]))
    open_comment = opening.startswith("<!--") and "-->" not in closing
    return last.start + 1 if open_fence or open_comment else None
