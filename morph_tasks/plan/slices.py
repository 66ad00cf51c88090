"""The checks of slices: who does them, which files they touch, what they cover and wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from morph_tasks.plan.agents import DESIGNER, Agents
from morph_tasks.plan.paths import normal_path, path_problem
from morph_tasks.plan.source import Finding
from morph_tasks.plan.waves import cycles
from morph_tasks.plan.words import VERDICTS

if TYPE_CHECKING:
    from morph_tasks.plan.values import Plan, Slice, Word

MOST_FILES = 8
MANY = 12

Verdict = tuple[bool, Finding]  # True: an error


def check_slices(plan: Plan, agents: Agents, leads_out: Callable[[str], bool]) -> Iterator[Verdict]:
    """Yield what is wrong with the slices, each with whether it is an error."""
    scenarios = {one.id for one in plan.scenarios}
    slices = {one.id for one in plan.slices}
    for one in plan.slices:
        yield from _persona(one, agents)
        yield from _files(one, leads_out)
        yield from _covers(one, scenarios)
        for need in one.needed:
            if need.text not in slices:
                yield (
                    True,
                    Finding(
                        "unknown-slice", need.place, f"{one.id} depends on `{need.text[:60]}`: no slice has that id"
                    ),
                )
        yield from _surface(one, agents)
        yield from _reuse(one)
    yield from _cycles(plan)
    if len(plan.slices) > MANY:
        first = plan.slices[MANY]
        message = f"there are {len(plan.slices)} slices; more than {MANY} make the gate pause: can the work be parted?"
        yield False, Finding("too-many-slices", first.place, message)


def _persona(one: Slice, agents: Agents) -> Iterator[Verdict]:
    if one.persona is None:
        found = one.reading.first("persona")
        yield True, Finding("missing-persona", found.place if found else one.place, f"{one.id} needs `- persona: <id>`")
    elif one.persona.text not in agents.ids:
        known = ", ".join(agents.ids[:20]) or "none"
        message = f"`{one.persona.text[:60]}` is no persona of {agents.where}: {known}"
        yield True, Finding("unknown-persona", one.persona.place, message)


def _files(one: Slice, leads_out: Callable[[str], bool]) -> Iterator[Verdict]:
    if not one.paths:
        found = one.reading.first("files")
        message = f"{one.id} needs `- files:` with 1 to {MOST_FILES} paths"
        yield True, Finding("missing-files", found.place if found else one.place, message)
    counted: set[str] = set()
    for path in one.paths:
        problem = _path_problem(path, leads_out)
        if problem:
            yield True, Finding("bad-path", path.place, f"`{path.text[:120]}` {problem}")
        before = len(counted)
        counted.add(normal_path(path.text))
        if before == MOST_FILES < len(counted):
            message = f"{one.id} names {len(one.files)} files, {MOST_FILES} is the most: part the slice"
            yield True, Finding("too-many-files", path.place, message)


def _path_problem(path: Word, leads_out: Callable[[str], bool]) -> str | None:
    if not path.code and len(path.text.split()) > 1:
        return "has a blank: part paths with commas, or put it into a code span"
    return path_problem(path.text) or ("leads out of the tree over a link" if leads_out(path.text) else None)


def _covers(one: Slice, scenarios: set[str]) -> Iterator[Verdict]:
    if not one.covered:
        found = one.reading.first("covers")
        yield (
            False,
            Finding("slice-covers-nothing", found.place if found else one.place, f"{one.id} covers no scenario"),
        )
    for name in one.covered:
        if name.text not in scenarios:
            yield (
                True,
                Finding("unknown-scenario", name.place, f"{one.id} covers `{name.text[:60]}`: no scenario has that id"),
            )


def _surface(one: Slice, agents: Agents) -> Iterator[Verdict]:
    if one.surface and one.surface.text not in agents.surfaces:
        known = ", ".join(agents.surfaces[:20]) or "none"
        message = f"`{one.surface.text[:60]}` is no surface of `{DESIGNER}`: {known}"
        yield False, Finding("unknown-surface", one.surface.place, message)


def _reuse(one: Slice) -> Iterator[Verdict]:
    for found in one.reuse:
        if found.verdict is None:
            yield True, Finding("bad-reuse", found.place, f"{one.id}: a reuse begins with one of {', '.join(VERDICTS)}")
        elif not found.symbol:
            yield True, Finding("bad-reuse", found.place, f"{one.id}: `{found.verdict}` names no symbol")
        elif found.verdict == "CREATE" and not found.why:
            message = f"{one.id} creates `{found.symbol[:60]}` without a reason: add ` — why: …`"
            yield False, Finding("create-without-why", found.place, message)


def _cycles(plan: Plan) -> Iterator[Verdict]:
    by_id = {one.id: one for one in reversed(plan.slices)}
    for ring in cycles(plan.slices):
        names = [*ring[:20], *(["…"] if len(ring) > 20 else []), ring[0]]
        after = ring[1] if len(ring) > 1 else ring[0]
        first = by_id[ring[0]]
        place = next((need.place for need in first.needed if need.text == after), first.place)
        yield True, Finding("dependency-cycle", place, f"slices wait for each other: {' → '.join(names)}")
