"""Approve a gate, or take an approval back. Nothing is waved through: a pause needs the name of a person."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.aftermath import settle
from morph_tasks.features.shape import GATES
from morph_tasks.features.store import feature_dir, now, read_feature, update_feature
from morph_tasks.features.view import approved, by_policy, phase_of
from morph_tasks.gates import planning
from morph_tasks.gates.check import (
    FACTS,
    Evaluation,
    evaluate,
    project_trust,
    recorded_signals,
    refuse_if_changed,
    sticky_pause,
)
from morph_tasks.repo.trees import require_owner_tree

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Consent:
    """How a gate is approved. `approver`: the person who signs; empty asks for an approval by policy (`auto`).

    `force` passes over the order of gates and nothing else.
    """

    approver: str = ""
    force: bool = False
    self_assessed: bool = False


@dataclass(frozen=True)
class Approved:
    """The gate as it stands now. `changed` is False when it already was so."""

    gate: str
    record: dict[str, Any]
    changed: bool
    phase: str
    warnings: tuple[str, ...] = field(default=())
    files: tuple[str, ...] = field(default=())


def approve(repo: Repo, slug: str, gate: str, consent: Consent, *, command: str = "") -> Approved:
    """Approve a gate.

    Raises Refusal `owner-tree-elsewhere`, `feature-not-active`, `gate-order`, `trust-manual`,
    `gate-paused`, `plan-missing` (exit 2), or what reading the feature raises.
    """
    require_owner_tree(repo, slug, command=command)
    data = read_feature(repo.root, slug)
    folder = feature_dir(repo.root, slug)
    if data.get("status") in ("abandoned", "archived"):
        raise Refusal("feature-not-active", f"feature {slug!r} is {data['status']}", feature=slug)
    skipped = _order(data, folder, gate)
    if skipped and not consent.force:
        by = f" --approver {shlex.quote(consent.approver)}" if consent.approver else ""
        again = command or f"approve {slug} {gate}{by}"
        raise Refusal(
            "gate-order",
            f"gate {skipped[0]} comes before {gate} and is not approved",
            fix=f"morph-spec approve {slug} {skipped[0]}{by}, or morph-spec {again} --force",
            missing=skipped,
        )
    record = _by_person(repo, slug, gate, data, consent) if consent.approver else _auto(repo, slug, gate, data)
    if skipped:
        record["outOfOrder"] = True
    if consent.self_assessed:
        record["selfAssessed"] = True
    before = (data.get("approvalGates") or {}).get(gate) or {}
    if not consent.approver and _says_already(before, record):
        return Approved(gate, before, False, phase_of(folder, data))

    def change(fresh: dict[str, Any]) -> None:
        refuse_if_changed(data, fresh, (*FACTS, "gateDecisions"))
        fresh.setdefault("approvalGates", {})[gate] = record
        if fresh.get("status", "draft") == "draft":
            fresh["status"] = "in_progress"

    after = update_feature(repo.root, slug, change)
    warnings = tuple(f"signed over: {reason}" for reason in record.get("overrode", ()))
    files, _ = settle(repo, slug)
    return Approved(gate, record, True, phase_of(folder, after), warnings, tuple(files))


def unapprove(repo: Repo, slug: str, gate: str, *, command: str = "") -> Approved:
    """Take an approval back, the hash of the plan with it; later gates stay and are named."""
    require_owner_tree(repo, slug, command=command)
    data = read_feature(repo.root, slug)
    folder = feature_dir(repo.root, slug)
    record = {"approved": False, "timestamp": now()}
    if not approved(data, gate):
        return Approved(gate, (data.get("approvalGates") or {}).get(gate) or record, False, phase_of(folder, data))

    def change(fresh: dict[str, Any]) -> None:
        fresh.setdefault("approvalGates", {})[gate] = record

    after = update_feature(repo.root, slug, change)
    later = [name for name in GATES[GATES.index(gate) + 1 :] if approved(after, name) and not by_policy(after, name)]
    warnings = tuple(f"gate {name} stays approved although {gate} no longer is" for name in later)
    files, _ = settle(repo, slug)
    return Approved(gate, record, True, phase_of(folder, after), warnings, tuple(files))


def judge(repo: Repo, slug: str, gate: str, data: dict[str, Any]) -> Evaluation:
    """Evaluate a gate as an approval sees it: with what the session recorded and what a person ordered."""
    said = evaluate(repo, slug, data, gate, trust=project_trust(repo), given=recorded_signals(data, gate))
    ordered = sticky_pause(data, gate)
    if not ordered:
        return said
    reason = ordered.get("reason") or "paused by a person"
    return replace(said, reasons=(reason, *said.reasons))


def _auto(repo: Repo, slug: str, gate: str, data: dict[str, Any]) -> dict[str, Any]:
    if by_policy(data, gate):
        return dict(data["approvalGates"][gate])
    # Hashed first: a plan that is edited meanwhile is stale by the time it is judged.
    tie = _plan_hash(repo, slug, gate)
    said = judge(repo, slug, gate, data)
    sign = f"morph-spec approve {slug} {gate} --approver <name>"
    if said.trust != "auto":
        raise Refusal("trust-manual", "in this project only people approve gates (trust: manual)", fix=sign)
    if said.reasons:
        raise Refusal(
            "gate-paused",
            f"gate {gate} pauses: {'; '.join(said.reasons)}",
            fix=f"settle it, or let a person sign: {sign}",
            gate=gate,
            reasons=list(said.reasons),
            signals=said.signals,
            notEvaluated=list(said.not_evaluated),
        )
    return {"approved": True, "timestamp": now(), "approvedBy": "auto", **tie}


def _by_person(repo: Repo, slug: str, gate: str, data: dict[str, Any], consent: Consent) -> dict[str, Any]:
    tie = _plan_hash(repo, slug, gate)
    over = list(judge(repo, slug, gate, data).reasons)
    return {
        "approved": True,
        "timestamp": now(),
        "approvedBy": "manual",
        "approver": consent.approver,
        **tie,
        **({"overrode": over} if over else {}),
    }


def _plan_hash(repo: Repo, slug: str, gate: str) -> dict[str, Any]:
    """Return what ties an approval of the plan to its text, and to what the tree has of the default branch."""
    if gate != "plan":
        return {}
    base = planning.plan_base(repo.root)
    return {"planHash": planning.plan_hash(repo.root, slug), **({"planBase": base} if base else {})}


def _order(data: dict[str, Any], folder: Path, gate: str) -> list[str]:
    """Return the gates that come first and are open; `uiux` only where the design was begun."""
    earlier = [name for name in GATES[: GATES.index(gate)] if name != "uiux" or (folder / "1-design").is_dir()]
    return [name for name in earlier if not approved(data, name)]


def _says_already(before: dict[str, Any], record: dict[str, Any]) -> bool:
    return all(before.get(key) == record.get(key) for key in ("approved", "planHash", "selfAssessed"))
