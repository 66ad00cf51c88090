"""`checks.json`: made from a plan without errors, and asked whether it still belongs to the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morph_tasks.plan.check import Report
    from morph_tasks.plan.values import Conflict, Slice

VERSION = 1  # not from the model: it would load pydantic


def checks_of(report: Report) -> dict[str, Any]:
    """Return the JSON form of a report without errors."""
    plan = report.plan
    return {
        "version": VERSION,
        "plan": {"hash": report.hash},
        "problem": plan.problem,
        "scenarios": [
            {"id": one.id, "title": one.title, "proof": one.proof, "line": one.place.line} for one in plan.scenarios
        ],
        "slices": [_slice(one) for one in plan.slices],
        "adrs": [{"id": one.id, "title": one.title, "scope": one.scope, "line": one.place.line} for one in plan.adrs],
        "conflicts": [_conflict(row) for row in plan.conflicts if not row.problem],
        "waves": [list(wave) for wave in report.waves],
    }


def carried(before: Any, made: dict[str, Any]) -> dict[str, Any]:
    """Return what is to be written, with the keys of the file before that this version does not make."""
    if hash_in(before) is None:
        return made
    plan = {**made["plan"], **{key: value for key, value in before["plan"].items() if key not in made["plan"]}}
    kept = {key: value for key, value in before.items() if key not in made}
    return {**made, "plan": plan, **kept}


def hash_in(data: Any) -> str | None:
    """Return the plan's hash that a parsed `checks.json` was made from; None when it tells none."""
    plan = data.get("plan") if isinstance(data, dict) and data.get("version") == VERSION else None
    found = plan.get("hash") if isinstance(plan, dict) else None
    return found if isinstance(found, str) else None


def _slice(one: Slice) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": one.title,
        "persona": one.persona.text if one.persona else None,
        "files": list(one.files),
        "covers": list(dict.fromkeys(one.covers)),
        "depends": list(dict.fromkeys(one.depends)),
        "surface": one.surface.text if one.surface else None,
        "standards": list(one.standards),
        "reuse": [{"verdict": found.verdict, "symbol": found.symbol, "why": found.why or None} for found in one.reuse],
        "line": one.place.line,
    }


def _conflict(row: Conflict) -> dict[str, Any]:
    return {"id": row.adr, "change": row.change, "scope": row.scope or None, "line": row.place.line}
