"""The checks of a plan: everything that can be said of the text, of the personas and of the record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from morph_tasks.plan.agents import Agents
from morph_tasks.plan.artefacts import artefact_word, has_why
from morph_tasks.plan.grammar import parse, speaks
from morph_tasks.plan.hashing import hash_of
from morph_tasks.plan.record import AdrIndex
from morph_tasks.plan.slices import check_slices
from morph_tasks.plan.source import Finding, Place
from morph_tasks.plan.waves import waves
from morph_tasks.plan.words import PROOFS, SECTIONS, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from morph_tasks.plan.values import Item, Plan, Scenario

_REQUIRED = ("problem", "scenarios", "decisions", "slices")
_REPEATABLE = frozenset({"reuse"})
_TOP = Place(1, 1)
_SIGNS = re.compile(r"^[\W\d_]+")


@dataclass(frozen=True)
class Report:
    """What a check found. `waves` is empty while there are errors."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    plan: Plan = field(repr=False)
    hash: str
    waves: tuple[tuple[str, ...], ...]

    @property
    def ok(self) -> bool:
        return not self.errors


def check_plan(
    text: str, agents: Agents, adr_index: AdrIndex, leads_out: Callable[[str], bool] = lambda path: False
) -> Report:
    """Check a plan; raises Refusal `plan-too-deep`.

    `leads_out` tells of a path that is well formed whether it leaves the tree all the same, over a link.
    """
    plan = parse(text)
    errors = [*plan.errors, *_sections(plan), *_scenarios(plan)]
    warnings = [*plan.warnings, *_decisions(plan), *_conflicts(plan, adr_index)]
    for error, finding in check_slices(plan, agents, leads_out):
        (errors if error else warnings).append(finding)
    for items in (plan.scenarios, plan.slices, plan.adrs):
        errors += (*_duplicate_ids(items), *_duplicate_keys(items))
    return Report(
        _in_order(errors),
        _in_order(warnings),
        plan,
        hash_of(plan.lines, plan.named("errata")),
        () if errors else tuple(tuple(wave) for wave in waves(plan.slices)),
    )


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: (one.place, one.code)))


def _sections(plan: Plan) -> Iterator[Finding]:
    for name in _REQUIRED:
        if not plan.named(name):
            yield _missing(plan, name)
    yield from _empty(plan)
    for section in plan.named("errata"):
        if section is not plan.sections[-1]:
            place = section.heading.place
            yield Finding("errata-not-last", place, "the errata come last: no section may follow them")


def _empty(plan: Plan) -> Iterator[Finding]:
    problem, scenarios, decisions, slices = (plan.named(name) for name in _REQUIRED)
    if problem and not any(speaks(block, plan.lines) for section in problem for block in section.blocks):
        yield Finding("empty-section", problem[0].heading.place, "the section `## Problem` says nothing")
    if scenarios and not plan.scenarios:
        place = scenarios[0].heading.place
        yield Finding("no-scenarios", place, "there is no scenario: write `### C1 — <title>` in the section")
    if slices and not plan.slices:
        place = slices[0].heading.place
        yield Finding("empty-section", place, "there is no slice: write `### F1 — <title>` in the section")
    if decisions and plan.record is None:
        yield _missing(plan, "conflicts", decisions[0].heading.place)
    elif plan.record and not any(speaks(block, plan.lines) for block in plan.record.blocks):
        place = plan.record.heading.place
        yield Finding("empty-section", place, "say which recorded decisions this changes; `none` is enough")


def _missing(plan: Plan, name: str, place: Place = _TOP) -> Finding:
    level = "###" if name == "conflicts" else "##"
    english, *other = SECTIONS[name]
    also = "".join(f" (or `{level} {word}`)" for word in other)
    stray = _stray_heading(plan, name)
    hint = f"; line {stray.line} has it in another form" if stray else ""
    if plan.runaway and not stray:
        hint = f"; what begins in line {plan.runaway} is never closed and hides the rest of the file"
    return Finding("missing-section", stray or place, f"the section `{level} {english}`{also} is missing{hint}")


def _stray_heading(plan: Plan, name: str) -> Place | None:
    """Find the section's words at another level, or behind signs (`##Problem`, `## 1. Problem`)."""
    for section in plan.sections:
        for block in (section.heading, *section.blocks):
            if block.kind == "heading" and _names(block.title, name):
                return block.place
            for span in block.spans if block.kind == "text" and not block.quoted else ():
                if span.shown.lstrip().startswith("#") and _names(span.plain, name):
                    return span.place
    return None


def _names(title: str, name: str) -> bool:
    """Tell whether a title is the section's word behind a number or other signs."""
    return known("section", _SIGNS.sub("", title)) == name


def _scenarios(plan: Plan) -> Iterator[Finding]:
    covered = {name for one in plan.slices for name in one.covers}
    choice = ", ".join(PROOFS)
    for one in plan.scenarios:
        proof = one.reading.first("proof")
        if not proof or not proof.text:
            place = proof.place if proof else one.place
            yield Finding("missing-proof", place, f"{one.id} needs `- proof:` with one of {choice}")
        elif one.proof is None:
            yield Finding(
                "bad-proof", proof.value_place, f"`{proof.text[:60]}` is no proof: {one.id} needs one of {choice}"
            )
        yield from _artefact(one)
        if plan.slices and one.id not in covered:
            yield Finding("uncovered-scenario", one.place, f"no slice covers {one.id}: name it in a slice's `covers:`")


def _artefact(one: Scenario) -> Iterator[Finding]:
    found = artefact_word((one.heading, *one.blocks))
    if found and not has_why(one.blocks):
        word, place = found
        message = (
            f"{one.id} speaks of files (`{word}`), not of behaviour: add `> Why an artefact: …`, or describe behaviour"
        )
        yield Finding("artefact-without-why", place, message)


def _decisions(plan: Plan) -> Iterator[Finding]:
    for one in plan.adrs:
        if one.scope is None:
            said = one.reading.first("scope")
            place = said.value_place if said and said.text else one.place
            yield Finding("adr-without-scope", place, f"{one.id} needs `**Scope:** feature` or `**Scope:** project`")


def _conflicts(plan: Plan, index: AdrIndex) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for row in plan.conflicts:
        problem, full = row.problem, None
        if not problem:
            full, problem = index.resolve(row.adr)
        if full and full in seen:
            problem = f"`{row.adr}` has a row already, in line {seen[full]}"
        elif full:
            seen[full] = row.place.line
        if problem:
            yield Finding("conflict-not-applicable", row.place, f"`finish` could not apply this: {problem}")


def _duplicate_ids(items: Sequence[Item]) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for one in items:
        if one.id in seen:
            yield Finding("duplicate-id", one.place, f"{one.id} is taken already, in line {seen[one.id]}")
        seen.setdefault(one.id, one.place.line)


def _duplicate_keys(items: Sequence[Item]) -> Iterator[Finding]:
    for one in items:
        seen: dict[str, int] = {}
        for found in one.reading.fields:
            if found.key in seen and found.key not in _REPEATABLE:
                message = f"{one.id} has `{found.key}:` already, in line {seen[found.key]}"
                yield Finding("duplicate-key", found.place, message)
            seen.setdefault(found.key, found.place.line)
