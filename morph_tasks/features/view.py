"""What is shown of a feature: its phase and flags, derived from its gates and folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.features.shape import GATES, looks_valid


@dataclass(frozen=True)
class FeatureView:
    """One row of the list. `phase` is None when it cannot be told; `data` is the raw `feature.json`.

    `tree`: the other work tree that owns the feature; None when it is this one. `source`: `disk`, or `branch` when it
    was read from the commit of its branch; `where`: in words, in which tree or on which branch its state is.
    """

    slug: str
    path: Path
    name: str
    description: str
    work_type: str | None
    status: str | None
    phase: str | None
    gates: dict[str, bool]
    verification: dict[str, Any] | None
    created_at: str | None
    updated_at: str | None
    flags: tuple[str, ...] = ()
    problem: str = ""
    tree: str | None = None
    source: str = "disk"
    where: str = ""
    data: dict[str, Any] = field(default_factory=dict, repr=False)


def derive_phase(data: dict[str, Any], *, design: bool, review: bool) -> str:
    """Return the phase. `design`, `review`: the folders `1-design/`, `4-review/` exist.

    Only gates are approvals; leaving `implement` has none, so there the folder of the next phase tells.
    """
    if data.get("status") == "archived":
        return "archived"
    if approved(data, "review"):
        return "aguardando-merge"
    if not approved(data, "plan"):
        return "plan"
    if design and not approved(data, "uiux"):
        return "uiux"
    return "review" if review else "implement"


def phase_of(path: Path, data: dict[str, Any]) -> str:
    """Return the phase of the feature in a folder."""
    return derive_phase(data, design=(path / "1-design").is_dir(), review=(path / "4-review").is_dir())


def approved(data: dict[str, Any], gate: str) -> bool:
    """Tell whether a gate is approved, by whomever."""
    record = (data.get("approvalGates") or {}).get(gate)
    return isinstance(record, dict) and record.get("approved") is True


def by_policy(data: dict[str, Any], gate: str) -> bool:
    """Tell whether a gate is approved by the policy of a work type, and not by anybody."""
    record = (data.get("approvalGates") or {}).get(gate) or {}
    return record.get("approved") is True and str(record.get("approvedBy", "")).startswith("policy:")


@dataclass(frozen=True)
class Folders:
    """Which folders of a feature exist: `1-design/` and `4-review/`."""

    design: bool
    review: bool


def view_of(path: Path, data: Any, *, archived: bool = False, folders: Folders | None = None) -> FeatureView:
    """Return the row of a feature whose file could be parsed; wrong values become a flag.

    `folders`: given for one that is not on disk.
    """
    if not looks_valid(data):
        return unreadable(path, "a value in feature.json is not what it must be", archived=archived)
    if archived:
        # Older archives kept the status they had; the folder is what says it.
        data = {**data, "status": data.get("status") if data.get("status") == "abandoned" else "archived"}
    found = folders or Folders((path / "1-design").is_dir(), (path / "4-review").is_dir())
    gates = {gate: approved(data, gate) for gate in GATES}
    return FeatureView(
        slug=path.name,
        path=path,
        name=data.get("name") or path.name,
        description=data.get("description") or "",
        work_type=data.get("workType", "feature"),
        status=data.get("status", "draft"),
        phase="archived" if archived else derive_phase(data, design=found.design, review=found.review),
        gates=gates,
        verification=data.get("verification"),
        created_at=data.get("createdAt"),
        updated_at=data.get("updatedAt") or data.get("createdAt"),
        flags=tuple(_flags(found, data, gates)),
        data=data,
    )


def unreadable(path: Path, problem: str, *, archived: bool = False) -> FeatureView:
    """Return the row of a feature whose file cannot be used."""
    return FeatureView(
        slug=path.name,
        path=path,
        name=path.name,
        description="",
        work_type=None,
        status=None,
        phase="archived" if archived else None,
        gates=dict.fromkeys(GATES, False),
        verification=None,
        created_at=None,
        updated_at=None,
        flags=("unreadable",),
        problem=problem,
    )


def _flags(folders: Folders, data: dict[str, Any], gates: dict[str, bool]) -> list[str]:
    flags = []
    if not (data.get("description") or "").strip():
        flags.append("no-description")
    skipped_design = gates["review"] and not gates["uiux"] and folders.design
    if skipped_design or ((gates["uiux"] or gates["review"]) and not gates["plan"]):
        flags.append("gate-order")
    if ((data.get("approvalGates") or {}).get("review") or {}).get("selfAssessed"):
        flags.append("self-assessed")
    return flags
