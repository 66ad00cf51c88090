"""The list of features as text or JSON. It has to be there at once, so nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.features.overview import everywhere, on_disk
from morph_tasks.features.shape import GATES
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import feature_branch

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView
    from morph_tasks.fleet.github import Pull, Pulls
    from morph_tasks.repo.git import Repo

_DESCRIPTION = 100  # characters shown in a line


def listing(*, archived: bool, as_json: bool, branches: bool = True, start: Path | None = None) -> str:
    """Return what `morph-spec list` prints; raises what opening the repository raises.

    `branches`: False for what this tree holds on disk and nothing else.
    """
    repo = open_repo(start)
    rows, pulls, noted = _rows(repo, archived) if branches else (_on_disk(repo, archived), None, {})
    if as_json:
        import json

        here = str(repo.root)
        payload: dict[str, Any] = {"ok": True, "features": [_row(view, here, pulls, noted) for view in rows]}
        if pulls is not None:
            payload["prs"] = pulls.as_json()
        return json.dumps(payload, indent=2, ensure_ascii=False)
    return _text(rows, pulls, noted)


def _on_disk(repo: Repo, archived: bool) -> list[FeatureView]:
    found = on_disk(repo, archived=archived)
    return [*found.rows, *found.archived]


def _rows(repo: Repo, archived: bool) -> tuple[list[FeatureView], Pulls, dict[str, Pull]]:
    """Return the features from everywhere, those that wait for a merge among them, and what GitHub said.

    Last: the pull requests of which only the journal of a finish tells, by feature.
    """
    from morph_tasks.fleet.github import ask_aside

    answer = ask_aside(repo)
    found = everywhere(repo, archived=archived)
    pulls = answer()
    rows = {view.slug: view for view in found.rows}
    noted: dict[str, Pull] = {}
    if pulls.items or found.ended or found.finished or (repo.store / "finish").is_dir():
        from morph_tasks.fleet.prs import pending

        for one in pending(repo, pulls, found=found):
            local = rows.get(one.slug)
            rows[one.slug] = replace(local, flags=(*local.flags, *one.flags)) if local else one.row
            if one.pull and not one.pull.state:
                noted[one.slug] = one.pull
    done = [view for view in found.archived if view.slug not in rows]
    return [*(rows[slug] for slug in sorted(rows)), *done], pulls, noted


def _row(view: FeatureView, here: str, pulls: Pulls | None, noted: Mapping[str, Pull]) -> dict[str, Any]:
    records = view.data.get("approvalGates") or {}
    stamp = view.verification
    row = {
        "feature": view.slug,
        "name": view.name,
        "workType": view.work_type,
        "status": view.status,
        "phase": view.phase,
        "gates": {
            gate: {
                "approved": None if view.problem else view.gates[gate],
                "approvedBy": (records.get(gate) or {}).get("approvedBy"),
            }
            for gate in GATES
        },
        "verification": {key: stamp.get(key) for key in ("status", "ts", "sha")} if stamp else None,
        "description": view.description,
        "flags": list(view.flags),
        "problem": view.problem or None,
        "updatedAt": view.updated_at,
        "tree": view.tree or here,
        "source": view.source,
        "where": view.where,
    }
    if pulls is not None:
        pull = pulls.current(feature_branch(view.slug)) or noted.get(view.slug)
        row["pr"] = pull.as_json() if pull else None
    return row


def _text(rows: Sequence[FeatureView], pulls: Pulls | None, noted: Mapping[str, Pull]) -> str:
    from morph_tasks.fleet.github import NO_ORIGIN

    # Without origin there is no question, so no column of question marks.
    asked = pulls if pulls is not None and pulls.reason != NO_ORIGIN else None
    lines = [_table(rows, asked, noted)] if rows else ["no features here (morph-spec create starts one)"]
    if asked and not asked.verified:
        lines.append(f"pull requests not verified: {asked.reason}")
    return "\n".join(lines)


def _table(rows: Sequence[FeatureView], pulls: Pulls | None, noted: Mapping[str, Pull]) -> str:
    cells = [[_mark(view), view.slug, *_state(view), _gates(view), _verified(view), view.where] for view in rows]
    if pulls is not None:
        for view, row in zip(rows, cells, strict=True):
            row.append(shown_pull(pulls, feature_branch(view.slug), noted.get(view.slug)))
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=True)), _told(view)]).rstrip()
        for row, view in zip(cells, rows, strict=True)
    )


def shown_pull(pulls: Pulls, branch: str, noted: Pull | None = None) -> str:
    """Return the pull request of a branch: `#12 OPEN`, `-` for none, `?` when that is not known.

    `noted`: one that GitHub was not heard about.
    """
    pull = pulls.current(branch) or noted
    if pull:
        return f"#{pull.number} {pull.state or '?'}"
    return "-" if pulls.verified and pulls.whole else "?"


def _mark(view: FeatureView) -> str:
    return "⚠" if view.flags else " "


def _state(view: FeatureView) -> list[str]:
    return [view.work_type or "?", view.status or "?", view.phase or "?"]


def _gates(view: FeatureView) -> str:
    return " ".join(f"{gate}{'?' if view.problem else '✓' if view.gates[gate] else '·'}" for gate in GATES)


def _verified(view: FeatureView) -> str:
    return f"{view.verification['status']} {view.verification.get('ts') or ''}".strip() if view.verification else "-"


def _told(view: FeatureView) -> str:
    words = " ".join((view.problem or view.description).split())
    flags = f"[{', '.join(view.flags)}] " if view.flags else ""
    return f"{flags}{words[:_DESCRIPTION]}{'…' if len(words) > _DESCRIPTION else ''}"
