"""Why the running application was not looked at. Neither the machine nor the operator says anything about the code."""

from __future__ import annotations

from typing import Any

from morph_tasks.gates.signals.base import REVIEW, Facts, Reading

NAME = "e2eSkipClass"
READS = "`verification.nodes.e2e` and `verification.e2eReason` in `feature.json`"
PAUSES_WHEN = "`environment`, `requested` or `unknown`; `project` (it does not containerize) passes"
GATES = (REVIEW,)

# By the beginning of the reason: one that only quotes another class is unknown.
_CLASSES = {
    "project does not containerize": "project",
    "docker is not available": "environment",
    "--skip-e2e": "requested",
    "skipped by --skip-e2e": "requested",
    "requested": "requested",
}


def read(facts: Facts) -> Reading:
    """Classify a skipped end-to-end node at the review."""
    stamp = facts.stamp
    if facts.gate != REVIEW or stamp is None:
        return Reading()
    status, reason = _status(stamp), stamp.get("e2eReason")
    values: dict[str, Any] = {"e2eStatus": status, "e2eReason": reason, NAME: None}
    if status in ("skip", None):
        values[NAME] = classify(reason)
    # Other colours are the business of the stamp's own status.
    if values[NAME] in ("project", None):
        return Reading(values)
    said = f"{reason!r}" if reason else "no reason recorded"
    return Reading(values, f"the end-to-end node did not run ({values[NAME]}: {said})")


def classify(reason: str | None) -> str:
    """Return `project`, `environment`, `requested` or `unknown` for the reason of a skip."""
    said = (reason or "").strip().lower()
    return next((kind for start, kind in _CLASSES.items() if said.startswith(start)), "unknown")


def _status(stamp: dict[str, Any]) -> str | None:
    node = (stamp.get("nodes") or {}).get("e2e")
    found = node.get("status") if isinstance(node, dict) else node
    return found if isinstance(found, str) else None
