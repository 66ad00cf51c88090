"""The list of features as text or JSON. It has to be there at once, so nothing heavy is imported here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.features.shape import GATES
from morph_tasks.features.store import list_features
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView

_DESCRIPTION = 100  # characters shown in a line


def listing(*, archived: bool, as_json: bool, start: Path | None = None) -> str:
    """Return what `morph-spec list` prints; raises what opening the repository raises."""
    repo = open_repo(start)
    rows = list_features(repo.root, archived=archived, repo=repo)
    if as_json:
        import json

        payload = {"ok": True, "features": [_row(view, str(repo.root)) for view in rows]}
        return json.dumps(payload, indent=2, ensure_ascii=False)
    return _table(rows) if rows else "no features here (morph-spec create starts one)"


def _row(view: FeatureView, here: str) -> dict[str, Any]:
    records = view.data.get("approvalGates") or {}
    stamp = view.verification
    return {
        "feature": view.slug,
        "name": view.name,
        "workType": view.work_type,
        "status": view.status,
        "phase": view.phase,
        "gates": {
            gate: {"approved": view.gates[gate], "approvedBy": (records.get(gate) or {}).get("approvedBy")}
            for gate in GATES
        },
        "verification": {key: stamp.get(key) for key in ("status", "ts", "sha")} if stamp else None,
        "description": view.description,
        "flags": list(view.flags),
        "problem": view.problem or None,
        "updatedAt": view.updated_at,
        "tree": view.tree or here,
    }


def _table(rows: list[FeatureView]) -> str:
    cells = [[_mark(view), view.slug, *_state(view), _gates(view), _verified(view)] for view in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), _told(view)]).rstrip()
        for row, view in zip(cells, rows, strict=True)
    )


def _mark(view: FeatureView) -> str:
    return "⚠" if view.flags else " "


def _state(view: FeatureView) -> list[str]:
    return [view.work_type or "?", view.status or "?", view.phase or "?"]


def _gates(view: FeatureView) -> str:
    return " ".join(f"{gate}{'✓' if view.gates[gate] else '·'}" for gate in GATES)


def _verified(view: FeatureView) -> str:
    return f"{view.verification['status']} {view.verification.get('ts') or ''}".strip() if view.verification else "-"


def _told(view: FeatureView) -> str:
    words = " ".join((view.problem or view.description).split())
    flags = f"[{', '.join(view.flags)}] " if view.flags else ""
    tree = f" (in {view.tree})" if view.tree else ""
    return f"{flags}{words[:100]}{'…' if len(words) > 100 else ''}{tree}"
