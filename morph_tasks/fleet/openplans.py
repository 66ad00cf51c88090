"""The plans of all features in work, each read where its state is: in the tree that owns it, else from its branch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.onbranch import read_objects
from morph_tasks.features.overview import everywhere
from morph_tasks.features.store import FEATURES
from morph_tasks.fleet.layout import primary_of
from morph_tasks.plan.files import PlannedFiles, planned_files
from morph_tasks.plan.service import CHECKS, PLAN, decoded, read_checks, read_plan
from morph_tasks.plan.skeleton import is_skeleton
from morph_tasks.repo.trees import feature_branch

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView
    from morph_tasks.repo.git import Repo

_OPEN = ("draft", "in_progress")


@dataclass(frozen=True)
class OpenPlan:
    """The plan of one feature; without `files`, `problem` says why there is nothing to compare."""

    feature: str
    where: str
    files: PlannedFiles | None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "where": self.where,
            "compared": self.files is not None,
            "slices": {name: list(paths) for name, paths in self.files.slices.items()} if self.files else None,
            "reason": self.problem or None,
        }


def open_plans(repo: Repo, *, without: str = "") -> list[OpenPlan]:
    """Return the plans of the features in work by name, the same from every tree; `without` leaves one out."""
    repo = primary_of(repo)
    found = everywhere(repo, archived=False)
    views = [view for view in found.rows if _is_open(view) and view.slug != without]
    tips = found.tips or {}
    there = _on_branches(repo, {view.slug: tips[view.slug] for view in views if view.source == "branch"})
    return [_plan_of(view, there.get(view.slug)) for view in views]


def _is_open(view: FeatureView) -> bool:
    return (view.status in _OPEN or bool(view.problem)) and "archived-elsewhere" not in view.flags


def _plan_of(view: FeatureView, there: tuple[bytes | None, bytes | None] | None) -> OpenPlan:
    try:
        text, checks = _text_on_branch(view.slug, *there) if there else _text_on_disk(view)
        if is_skeleton(text):
            return OpenPlan(view.slug, view.where, None, "its plan is not written yet")
        files = planned_files(text, checks)
    except Refusal as refusal:
        kind = f" (a {view.work_type} needs none)" if refusal.code == "plan-missing" and _needs_none(view) else ""
        return OpenPlan(view.slug, view.where, None, refusal.what + kind)
    if not files.files:
        return OpenPlan(view.slug, view.where, None, "its plan names no file")
    return OpenPlan(view.slug, view.where, files)


def _needs_none(view: FeatureView) -> bool:
    return view.work_type in ("chore", "hotfix")


def _text_on_disk(view: FeatureView) -> tuple[str, Any]:
    root = view.path.parents[2]
    return read_plan(root, view.slug), read_checks(root, view.slug)


def _text_on_branch(slug: str, plan: bytes | None, checks: bytes | None) -> tuple[str, Any]:
    shown = f"{FEATURES}/{slug}/{PLAN} on {feature_branch(slug)}"
    if plan is None:
        raise Refusal("plan-missing", f"there is no {shown}")
    try:
        made = json.loads((checks or b"null").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        made = None
    return decoded(plan, shown), made


def _on_branches(repo: Repo, tips: dict[str, str]) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Return what the branches hold of their plans: the text and `checks.json`."""
    names = {slug: [f"{tip}:{FEATURES}/{slug}/{name}" for name in (PLAN, CHECKS)] for slug, tip in tips.items()}
    said = read_objects(repo, (name for pair in names.values() for name in pair), kind="blob")
    return {slug: (said[plan], said[checks]) for slug, (plan, checks) in names.items()}


def not_compared(plans: Iterable[OpenPlan]) -> list[dict[str, Any]]:
    """Return what a comparison leaves out: whole plans, and paths that name no file."""
    found: list[dict[str, Any]] = []
    for one in plans:
        if one.files is None:
            found.append({"feature": one.feature, "slice": None, "path": None, "reason": one.problem})
        else:
            found += [{"feature": one.feature, **left.as_json()} for left in one.files.left_out]
    return found


def compared(plans: Sequence[OpenPlan]) -> dict[str, PlannedFiles]:
    """Return the plans that can be compared, by feature."""
    return {one.feature: one.files for one in plans if one.files is not None}
