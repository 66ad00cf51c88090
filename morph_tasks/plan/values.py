"""What a plan says, as values. Raw where a check has to judge, with the place of every word."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from morph_tasks.plan.paths import normal_path

if TYPE_CHECKING:
    from morph_tasks.plan.fields import Reading
    from morph_tasks.plan.outline import Block
    from morph_tasks.plan.source import Finding, Place


@dataclass(frozen=True)
class Word:
    """A word of the plan and where it stands."""

    text: str
    place: Place
    code: bool = False  # stands in a code span


@dataclass(frozen=True)
class Section:
    """What follows a heading of level 1 or 2. `name`: the canonical word, None for one of the author's own."""

    name: str | None
    heading: Block
    blocks: tuple[Block, ...]
    end: int  # line index from 0, excluded


@dataclass(frozen=True)
class Item:
    """A block under a heading of level 3 with an id."""

    id: str
    title: str
    place: Place
    heading: Block = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    reading: Reading = field(repr=False)


@dataclass(frozen=True)
class Scenario(Item):
    """`proof`: a canonical word, None when missing or wrong."""

    proof: str | None


@dataclass(frozen=True)
class Reuse:
    """A verdict on existing code; `verdict` is None when it is none of the table."""

    verdict: str | None
    symbol: str
    why: str
    place: Place


@dataclass(frozen=True)
class Slice(Item):
    """A unit of work. `paths`, `covered` and `needed` are as written, with their places."""

    persona: Word | None
    paths: tuple[Word, ...]
    covered: tuple[Word, ...]
    needed: tuple[Word, ...]
    surface: Word | None
    standards: tuple[str, ...]
    reuse: tuple[Reuse, ...]

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Return the paths in one spelling, each once."""
        return tuple(dict.fromkeys(normal_path(path.text) for path in self.paths))

    @property
    def depends(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.needed)

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.covered)


@dataclass(frozen=True)
class Adr(Item):
    """A decision. `scope`: feature or project, None when missing or wrong."""

    scope: str | None


@dataclass(frozen=True)
class Conflict:
    """A row of the table of conflicts. `problem`: why nothing can be done with it, before the record is asked."""

    adr: str
    change: str | None
    scope: str
    place: Place
    problem: str = ""


@dataclass(frozen=True)
class Plan:
    """A plan as parsed; what is wrong with its form is in `errors` and `warnings`."""

    title: str
    lines: tuple[str, ...] = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    problem: str
    scenarios: tuple[Scenario, ...]
    slices: tuple[Slice, ...]
    adrs: tuple[Adr, ...]
    record: Section | None = field(repr=False)
    conflicts: tuple[Conflict, ...]
    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    runaway: int | None  # line of a fence or comment that runs to the end of the file

    def named(self, name: str) -> list[Section]:
        """Return the sections of a canonical name; a section may be given in several pieces."""
        return [section for section in self.sections if section.name == name]
