"""Which files each slice of a plan names, also of a plan that is not finished, for whoever compares plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.plan.checks_file import hash_in
from morph_tasks.plan.hashing import plan_hash
from morph_tasks.plan.paths import normal_path, path_problem

if TYPE_CHECKING:
    from morph_tasks.plan.values import Plan


@dataclass(frozen=True)
class LeftOut:
    """A path that names no file, and why, as the end of a sentence."""

    slice_id: str
    path: str
    reason: str

    def as_json(self) -> dict[str, str]:
        return {"slice": self.slice_id, "path": self.path, "reason": self.reason}


@dataclass(frozen=True)
class PlannedFiles:
    """The paths by slice, in one spelling, in the order of the plan."""

    slices: dict[str, tuple[str, ...]]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def files(self) -> dict[str, tuple[str, ...]]:
        """Return the slices of each path."""
        found: dict[str, tuple[str, ...]] = {}
        for name, paths in self.slices.items():
            for path in paths:
                found[path] = (*found.get(path, ()), name)
        return found


def planned_files(text: str, checks: Any = None) -> PlannedFiles:
    """Return what a plan names; raises Refusal `plan-too-deep`.

    `checks`: its parsed `checks.json`, which spares the parser where it was made from this very text.
    """
    made_from = hash_in(checks)
    if made_from is not None and made_from == plan_hash(text) and (known := _slices_in(checks)) is not None:
        return PlannedFiles(known)
    from morph_tasks.plan.grammar import parse

    return planned_in(parse(text))


def planned_in(plan: Plan) -> PlannedFiles:
    """Return what a parsed plan names."""
    slices: dict[str, tuple[str, ...]] = {}
    left_out = []
    for one in plan.slices:
        kept = list(slices.get(one.id, ()))
        for word in one.paths:
            problem = path_problem(word.text)
            if problem:
                left_out.append(LeftOut(one.id, word.text[:120], problem))
            else:
                kept.append(normal_path(word.text))
        slices[one.id] = tuple(dict.fromkeys(kept))
    return PlannedFiles(slices, tuple(left_out))


def _slices_in(checks: Any) -> dict[str, tuple[str, ...]] | None:
    """Return the files by slice that a `checks.json` holds; None when they are not in their form."""
    slices = checks.get("slices")
    if not isinstance(slices, list) or not all(_is_slice(one) for one in slices):
        return None
    return {one["id"]: tuple(one["files"]) for one in slices}


def _is_slice(one: Any) -> bool:
    files = one.get("files") if isinstance(one, dict) and isinstance(one.get("id"), str) else None
    return isinstance(files, list) and all(isinstance(path, str) and path_problem(path) is None for path in files)
