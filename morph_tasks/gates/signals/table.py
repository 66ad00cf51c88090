"""The signals, in the order in which their reasons are told; and those that do not exist yet."""

from __future__ import annotations

from morph_tasks.gates.signals import (
    design_divergence,
    e2e_skip,
    plan_checks,
    plan_outdated,
    slice_count,
    standards_violations,
    verification_stale,
    verification_status,
    work_type,
)
from morph_tasks.gates.signals.base import REVIEW, UIUX, Facts, Signal

SIGNALS: dict[str, Signal] = {
    "workType": work_type,
    "planChecks": plan_checks,
    "sliceCount": slice_count,
    "planStaleByMerge": plan_outdated,
    "verificationStatus": verification_status,
    "verificationStale": verification_stale,
    "e2eSkipClass": e2e_skip,
    "designSystemDivergence": design_divergence,
    "standardsViolations": standards_violations,
}

# What the disk does not show by itself; nothing else can be said from outside.
GIVEN = ("designSystemDivergence", "standardsViolations")

# Signals of the contract that nothing reads yet. They are not green: the gate says so and pauses.
LATER: dict[str, tuple[str, ...]] = {
    "reviewReports": (REVIEW,),
    "scenarioCoverage": (REVIEW,),
    "promptModel": (REVIEW,),
    "mediaClaims": (REVIEW,),
    "screenChecklist": (UIUX, REVIEW),
}


def not_evaluated(facts: Facts) -> list[str]:
    """Return the signals of this gate that nothing evaluates yet. No mockup owes no screen checklist."""
    missing = [name for name, gates in LATER.items() if facts.gate in gates]
    if not (facts.folder / "1-design" / "mockups.md").exists():
        missing = [name for name in missing if name != "screenChecklist"]
    return missing


def as_markdown() -> str:
    """Return the table of signals for the documentation."""
    rows = ["| Signal | What it reads | Pauses when | Gates |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{name}` | {signal.READS} | {signal.PAUSES_WHEN} | {', '.join(signal.GATES)} |"
        for name, signal in SIGNALS.items()
    ]
    rows += [f"| `{name}` | *not evaluated yet* | until it is | {', '.join(gates)} |" for name, gates in LATER.items()]
    return "\n".join(rows) + "\n"
