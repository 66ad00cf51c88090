"""A quick look at the keys of `feature.json` that this tool acts on.

It spares the import of the full model on every read. What passes here passes the model (a test holds
the two together); what does not pass is given to the model, which explains it.
"""

from __future__ import annotations

from typing import Any

WORK_TYPES = ("feature", "bug", "chore", "hotfix")
STATUSES = ("draft", "in_progress", "abandoned", "archived")
GATES = ("plan", "uiux", "review")
TRUSTS = ("auto", "manual")

_TEXTS = ("name", "feature", "description", "request", "createdAt", "updatedAt", "archivedAt", "branch")
_GATE_TEXTS = ("timestamp", "approvedBy", "approver", "planHash")
_DECISION_TEXTS = ("reason", "decidedAt", "source")


def looks_valid(data: Any) -> bool:
    """Tell whether every known key holds a value of the right kind."""
    if not isinstance(data, dict):
        return False
    gates, decisions = data.get("approvalGates", {}), data.get("gateDecisions", {})
    return (
        _texts(data, _TEXTS)
        and data.get("workType", "feature") in WORK_TYPES
        and data.get("status", "draft") in STATUSES
        and isinstance(gates, dict)
        and all(_gate(record) for record in gates.values())
        and isinstance(decisions, dict)
        and all(_decision(record) for record in decisions.values())
        and _stamp(data.get("verification"))
        and isinstance(data.get("verifications", []), list)
        and all(isinstance(stamp, dict) and _stamp(stamp) for stamp in data.get("verifications", []))
        and isinstance(data.get("outputs", {}), dict)
    )


def _texts(record: dict[str, Any], keys: tuple[str, ...]) -> bool:
    return all(record.get(key) is None or isinstance(record[key], str) for key in keys)


def _gate(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("approved"), bool)
        and _texts(record, _GATE_TEXTS)
        and isinstance(record.get("selfAssessed", False), bool)
        and isinstance(record.get("overrode", []), list)
        and all(isinstance(reason, str) for reason in record.get("overrode", []))
    )


def _decision(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("pause"), bool)
        and _texts(record, _DECISION_TEXTS)
        and isinstance(record.get("signals", {}), dict)
        and record.get("trust", "auto") in TRUSTS
    )


def _stamp(record: Any) -> bool:
    if record is None:
        return True
    return (
        isinstance(record, dict)
        and isinstance(record.get("status"), str)
        and _texts(record, ("ts", "sha", "fingerprint", "scope", "e2eReason"))
        and isinstance(record.get("nodes", {}), dict)
    )
