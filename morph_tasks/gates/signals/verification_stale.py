"""Whether the last verify is about this code. A question that cannot be answered is not a yes."""

from __future__ import annotations

from morph_tasks.errors import Refusal
from morph_tasks.gates.signals.base import REVIEW, Facts, Reading

NAME = "verificationStale"
READS = "the content of the tree against `verification.fingerprint`"
PAUSES_WHEN = "the stamp is about other content, or that cannot be told"
GATES = (REVIEW,)


def read(facts: Facts) -> Reading:
    """Compare the stamp with the tree: `false`, `true`, or None with the reason when it is unknown."""
    if facts.stamp is None:
        return Reading({NAME: None})
    stale, why = _ask(facts)
    values = {NAME: stale, **({"verificationStaleReason": why} if why else {})}
    if facts.gate != REVIEW or stale is False:
        return Reading(values)
    told = f"the last verify is stale: {why}" if stale else f"not verified whether the last verify is stale: {why}"
    return Reading(values, told)


def _ask(facts: Facts) -> tuple[bool | None, str | None]:
    try:
        from morph_tasks.verify.stamp import stamp_staleness

        why = stamp_staleness(facts.repo, facts.data)
    except Refusal as error:
        return None, error.what
    except Exception as error:  # whatever went wrong, the answer is "unknown", and the gate must say so
        return None, f"{type(error).__name__}: {error}"
    return (False, None) if why is None else (True, str(why))
