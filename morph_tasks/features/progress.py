"""How many slices of a feature have their report: on disk, or on its branch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.onbranch import read_objects
from morph_tasks.features.reports import REPORTS, named_slices, problem_in, slice_reports
from morph_tasks.features.store import FEATURES

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_CHECKS = "2-plan/checks.json"


@dataclass(frozen=True)
class Slices:
    """Slices with a final report, of all that the plan names."""

    done: int
    total: int

    def as_json(self) -> dict[str, int]:
        """Return what boards print of it."""
        return {"done": self.done, "total": self.total}


def slices_of(folder: Path) -> Slices | None:
    """Return the slices of a feature's folder; None when no slices are known."""
    try:
        reports = slice_reports(folder)
    except Refusal:
        return None
    return Slices(sum(1 for one in reports if one.problem is None), len(reports))


def slices_on_branches(repo: Repo, tips: Mapping[str, str]) -> dict[str, Slices]:
    """Return the slices of features at the tips of their branches; one without known slices is left out."""
    plans = {slug: f"{tip}:{FEATURES}/{slug}/{_CHECKS}" for slug, tip in tips.items()}
    said = read_objects(repo, plans.values())
    named = {slug: ids for slug, name in plans.items() if (ids := _ids(said[name]))}
    reports = {
        (slug, one): f"{tips[slug]}:{FEATURES}/{slug}/{REPORTS}/{one}.md" for slug, ids in named.items() for one in ids
    }
    texts = read_objects(repo, reports.values())
    done = {key for key, name in reports.items() if (text := texts[name]) is not None and problem_in(text) is None}
    return {slug: Slices(sum((slug, one) in done for one in ids), len(ids)) for slug, ids in named.items()}


def _ids(content: bytes | None) -> list[str] | None:
    try:
        checks: Any = json.loads((content or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return named_slices(checks)
