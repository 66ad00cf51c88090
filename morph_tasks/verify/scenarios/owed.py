"""What a plan owes: its scenarios, and the slices that cover them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.probe import ask


@dataclass(frozen=True)
class OwedScenario:
    """One scenario; `proof` is test, e2e, eval or manual, `line` lies in plan.md from 1."""

    id: str
    title: str
    proof: str
    line: int


@dataclass(frozen=True)
class PlannedSlice:
    """One slice, its paths in one spelling."""

    id: str
    title: str
    files: tuple[str, ...]
    covers: tuple[str, ...]


@dataclass(frozen=True)
class Owed:
    """What a plan says; `problem` is why that cannot be told, and then nothing is.

    No plan, or one that nobody filled in, owes nothing.
    """

    scenarios: tuple[OwedScenario, ...] = ()
    slices: tuple[PlannedSlice, ...] = ()
    problem: str | None = None
    planned: bool = True

    @property
    def files(self) -> frozenset[str]:
        """Return every path that a slice names."""
        return frozenset(path for one in self.slices for path in one.files)


def owed(root: Path, feature: str) -> Owed:
    """Return what the plan of a feature owes: by `checks.json` when it belongs to the plan, else by the plan itself."""
    from morph_tasks.features.store import feature_dir
    from morph_tasks.plan.service import CHECKS, PLAN
    from morph_tasks.plan.skeleton import is_skeleton

    folder = feature_dir(root, feature)
    for name in (PLAN, CHECKS):
        ask("file", str(folder / name))
    try:
        if not (folder / PLAN).exists() or is_skeleton((folder / PLAN).read_text("utf-8", "replace")):
            return Owed(planned=False)
        return of_checks(_checked(root, feature, folder / CHECKS))
    except Refusal as refusal:
        return Owed(problem=refusal.what)
    except OSError as error:
        return Owed(problem=f"the plan cannot be read: {error.strerror}")


def of_checks(data: dict[str, Any]) -> Owed:
    """Return what a parsed `checks.json` says."""
    return Owed(
        tuple(OwedScenario(one["id"], one["title"], one["proof"], one["line"]) for one in data["scenarios"]),
        tuple(
            PlannedSlice(one["id"], one["title"], tuple(one["files"]), tuple(one["covers"])) for one in data["slices"]
        ),
    )


def _checked(root: Path, feature: str, checks: Path) -> dict[str, Any]:
    """Return the content of `checks.json` as it is, or as `plan-check` would write it now. Writes nothing."""
    from morph_tasks.plan.checks_file import checks_of
    from morph_tasks.plan.service import plan_state, read_report
    from morph_tasks.repo.files import confined, read_json

    if plan_state(root, feature) == "fresh":
        data: dict[str, Any] = read_json(confined(root, str(checks)))
        if _whole(data):
            return data
    report = read_report(root, feature)
    if not report.ok:
        many = len(report.errors)
        what = f"the plan has {many} error{'' if many == 1 else 's'}"
        raise Refusal("plan-invalid", what, fix=f"morph-spec plan-check {feature}")
    return checks_of(report)


def _whole(data: dict[str, Any]) -> bool:
    """Tell whether a file that names the right plan also holds what we read of it."""
    wanted = {"scenarios": ("id", "title", "proof", "line"), "slices": ("id", "title", "files", "covers")}
    return all(
        isinstance(data.get(name), list)
        and all(isinstance(one, dict) and all(key in one for key in keys) for one in data[name])
        for name, keys in wanted.items()
    )
