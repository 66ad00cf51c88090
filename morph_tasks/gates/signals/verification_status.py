"""The colour of the last whole verify. Only `pass` is green."""

from __future__ import annotations

from morph_tasks.gates.signals.base import EVERY_GATE, REVIEW, Facts, Reading

NAME = "verificationStatus"
READS = "`verification.status` in `feature.json`"
PAUSES_WHEN = "anything but `pass`, at any gate; no stamp, at `review`"
GATES = EVERY_GATE


def read(facts: Facts) -> Reading:
    """Pause on a red stamp, and at the review on a missing one."""
    stamp = facts.stamp
    if stamp is None:
        none = "nothing was verified yet: run `morph-spec verify`" if facts.gate == REVIEW else None
        return Reading({NAME: None}, none)
    status = stamp["status"]
    if status != "pass":
        return Reading({NAME: status}, f"the last verify ended with {status!r}, which is no proof")
    scope = stamp.get("scope") or "feature"
    if scope != "feature" and facts.gate == REVIEW:
        return Reading({NAME: status}, f"the last verify covers only {scope}, not the feature")
    return Reading({NAME: status})
