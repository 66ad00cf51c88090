"""The record of decisions at the end of a feature: what its plan adds, takes back and narrows.

One file a decision, named after its feature, so that features in parallel never touch the same file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.plan.outline import Block
    from morph_tasks.plan.record import AdrIndex
    from morph_tasks.plan.values import Adr, Conflict, Plan

RECORD = ".morph/specs/adrs"  # as in `plan.record`, whose import waits until a plan speaks of decisions

_COMMENT = re.compile(r"(?ms)^ {0,3}<!--.*?-->[^\r\n]*")
_SCOPE = re.compile(r"(?im)^scope:[^\r\n]*")
_FENCE = re.compile(r"---[ \t]*\r?\n")
_FENCE_END = re.compile(r"(?m)^---[ \t]*\r?$")


@dataclass(frozen=True)
class Changes:
    """What a finish does to the record. `write`: path → text; `remove`: paths; both relative to the tree.

    `added`, `revoked`, `narrowed`: full ids; `problems`: `{id, reason, message}` of rows that cannot be applied.
    """

    write: dict[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    problems: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def index(self) -> dict[str, list[str]]:
        """Return the key `adrIndex`, each list only with content."""
        lists = {"added": self.added, "revoked": self.revoked, "narrowed": self.narrowed}
        return {name: list(ids) for name, ids in lists.items() if ids}


def plan_changes(root: Path, slug: str, folder: Path) -> Changes:
    """Read the plan in a feature's folder and decide what it does to the record of a tree; changes nothing.

    Never raises for what a plan says: what cannot be read is a warning, what cannot be applied a problem.
    """
    path = folder / "2-plan" / "plan.md"
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return Changes()
    except (OSError, ValueError) as error:
        return Changes(warnings=(f"the plan could not be read, so the record of decisions stays as it is: {error}",))
    if not _speaks_of_decisions(text):
        return Changes()
    from morph_tasks.plan.grammar import parse

    try:
        plan = parse(text)
    except Refusal as refusal:
        return Changes(warnings=(f"the record of decisions stays as it is: {refusal.what}",))
    from morph_tasks.plan.record import read_index

    problem = _unusable(root)
    if problem and (plan.conflicts or any(one.scope == "project" for one in plan.adrs)):
        return Changes(warnings=(problem,))
    return _decide(root, slug, plan, read_index(root))


def _speaks_of_decisions(text: str) -> bool:
    """Spare the parser where no word could be an id of a decision."""
    # What a fence holds looks like a comment and is none; then the parser decides.
    spoken = text if "```" in text or "~~~" in text else _COMMENT.sub("", text)
    return "ADR" in spoken.upper()


def _unusable(root: Path) -> str | None:
    """Return why the record cannot be written: a link would put it outside of the tree."""
    place = os.path.realpath(root / RECORD)
    inside = os.path.join(os.path.realpath(root), *RECORD.split("/"))
    return None if place == inside else f"{RECORD} is a link to {place}, so the record of decisions stays as it is"


def _decide(root: Path, slug: str, plan: Plan, index: AdrIndex) -> Changes:
    write: dict[str, str] = {}
    added: list[str] = []
    for one in plan.adrs:
        full = f"{slug}--ADR-{one.id.removeprefix('ADR-').lstrip('0').zfill(3)}"
        if one.scope == "project" and full not in added:
            added.append(full)
            write[f"{RECORD}/{full}.md"] = _page(full, one, plan)
    remove, revoked, narrowed, problems = [], [], [], []
    seen: dict[str, int] = {}
    for row in plan.conflicts:
        recorded, problem = _applied(row, index, seen)
        if problem:
            problems.append(problem)
            continue
        path = f"{RECORD}/{recorded}.md"
        if row.change == "total":
            remove.append(path)
            revoked.append(recorded)
            continue
        try:
            write[path] = narrowed_text((root / path).read_bytes().decode("utf-8"), row.scope, slug)
            narrowed.append(recorded)
        except (OSError, ValueError) as error:
            problems.append({"id": row.adr, "reason": "unreadable", "message": f"{path} cannot be read: {error}"})
    removed = tuple(path for path in remove if path not in write)
    return Changes(write, removed, tuple(added), tuple(revoked), tuple(narrowed), tuple(problems))


def _applied(row: Conflict, index: AdrIndex, seen: dict[str, int]) -> tuple[str, dict[str, Any] | None]:
    """Return the full id that a row is about, or the problem that keeps it from being applied."""

    def problem(reason: str, message: str) -> tuple[str, dict[str, Any]]:
        return "", {"id": row.adr or None, "reason": reason, "message": f"line {row.place.line}: {message}"}

    if row.problem:
        return problem("malformed-row", row.problem)
    meant = index.meant(row.adr)
    full, said = index.resolve(row.adr)
    if full is None:
        reason = "not-an-id" if meant is None else "ambiguous" if meant else "not-in-record"
        return problem(reason, said)
    if full in seen:
        return problem("duplicate-row", f"`{row.adr}` has a row already, in line {seen[full]}")
    seen[full] = row.place.line
    return full, None


def _page(full: str, one: Adr, plan: Plan) -> str:
    """Return the file of a decision: its id and where it comes from, then its words as the plan has them."""
    body = "\n".join(_body(one, plan)).strip("\n")
    title = " ".join(one.title.split())
    number = full.rpartition("--")[2]
    head = ["---", f"id: {full}", f"feature: {full.rpartition('--ADR-')[0]}", "---", "", f"# {number} — {title}"]
    return "\n".join([*head, *(["", body] if body else []), ""])


def _body(one: Adr, plan: Plan) -> Iterator[str]:
    start = one.heading.end
    later = [section.heading.start for section in plan.sections if section.heading.start >= start]
    later += [block.start for section in plan.sections for block in section.blocks if _ends(block, start)]
    yield from plan.lines[start : min(later, default=len(plan.lines))]


def _ends(block: Block, start: int) -> bool:
    return block.kind == "heading" and block.level <= 3 and block.start >= start


def narrowed_text(text: str, scope: str, by: str) -> str:
    """Return a decision's file with the scope that remains, in its head; line ends and the rest stay as they are."""
    end = "\r\n" if "\r\n" in text else "\n"
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    line = f"scope: {' '.join(scope.split())}"
    told = f"narrowedBy: {by}"
    opening = _FENCE.match(text)
    closing = _FENCE_END.search(text, opening.end()) if opening else None
    if not opening or not closing:
        return f"{bom}---{end}{line}{end}{told}{end}---{end}{end}{text}"
    head = text[opening.end() : closing.start()]
    head = _SCOPE.sub(lambda _: line, head, count=1) if _SCOPE.search(head) else f"{head}{line}{end}"
    by_line = re.compile(r"(?m)^narrowedBy:[^\r\n]*")
    head = by_line.sub(lambda _: told, head, count=1) if by_line.search(head) else f"{head}{told}{end}"
    return f"{bom}{text[: opening.end()]}{head}{text[closing.start() :]}"
