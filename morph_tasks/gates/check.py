"""Whether a gate pauses: the facts, the project's trust, and what a person decided before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import feature_dir, now, read_feature, update_feature
from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.table import GIVEN, SIGNALS, not_evaluated
from morph_tasks.repo.trees import require_owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

GATE_CHECK, MANUAL = "gate-check", "manual"
FACTS = ("verification", "approvalGates", "workType", "status")
_PEOPLE = "people approve the gates of this project (trust: manual)"


@dataclass(frozen=True)
class Evaluation:
    """What the facts say of a gate. `reasons`: why they pause it; under `trust: manual` it pauses in any case."""

    gate: str
    trust: str
    reasons: tuple[str, ...]
    signals: dict[str, Any]
    not_evaluated: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Return every reason to pause; none means that the gate passes."""
        return self.reasons if self.trust == "auto" else (*self.reasons, _PEOPLE)


@dataclass(frozen=True)
class Decision:
    """A decision on a gate as it was recorded, with what is told but not kept."""

    gate: str
    record: dict[str, Any]
    reasons: tuple[str, ...]
    not_evaluated: tuple[str, ...] = ()
    ignored: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = ()

    @property
    def pause(self) -> bool:
        return bool(self.record["pause"])


def evaluate(
    repo: Repo, slug: str, data: dict[str, Any], gate: str, *, trust: str, given: dict[str, Any] | None = None
) -> Evaluation:
    """Read every signal of a gate. Writes nothing."""
    facts = Facts(repo, slug, feature_dir(repo.root, slug), {**data, "feature": slug}, gate, given or {})
    signals: dict[str, Any] = {}
    reasons = []
    warnings = []
    for signal in SIGNALS.values():
        reading = signal.read(facts)
        signals |= reading.values
        if reading.warning:
            warnings.append(reading.warning)
        if reading.pause:
            reasons.append(reading.pause)
    missing = not_evaluated(facts)
    if missing:
        reasons.append(f"not evaluated yet: {', '.join(missing)}; a person has to look")
    return Evaluation(gate, trust, tuple(reasons), signals, tuple(missing), tuple(warnings))


def gate_check(
    repo: Repo,
    slug: str,
    gate: str,
    *,
    given: dict[str, Any] | None = None,
    trust: str | None = None,
    command: str = "",
) -> Decision:
    """Decide a gate from the facts and record it; a pause that a person ordered stands, with fresh signals.

    `given` may hold the two signals only a session can see; other keys are ignored and named. Raises
    Refusal `owner-tree-elsewhere`, `bad-signals` (exit 2), or what reading the feature raises.
    """
    require_owner_tree(repo, slug, command=command or f"gate-check {slug} {gate}")
    kept, ignored = sort_signals(given or {})
    data = read_feature(repo.root, slug)
    said = evaluate(repo, slug, data, gate, trust=trust or project_trust(repo), given=kept)
    record: dict[str, Any] = {}

    def change(fresh: dict[str, Any]) -> None:
        refuse_if_changed(data, fresh)
        record.update(_decided(sticky_pause(fresh, gate), said))
        fresh.setdefault("gateDecisions", {})[gate] = dict(record)

    update_feature(repo.root, slug, change)
    told = said.told
    if record["source"] == MANUAL:
        told = (record["reason"] or "paused by a person", *told)
    return Decision(gate, record, told, said.not_evaluated, tuple(ignored), said.warnings)


def decide(
    repo: Repo,
    slug: str,
    gate: str,
    *,
    pause: bool,
    reason: str = "",
    signals: dict[str, Any] | None = None,
    command: str = "",
) -> Decision:
    """Record a decision taken by the session. What the disk shows cannot be said by hand: such keys are ignored."""
    require_owner_tree(repo, slug, command=command)
    facts = {name for name in SIGNALS if name not in GIVEN} | {
        "e2eStatus",
        "e2eReason",
        "verificationStaleReason",
        "planStaleByMergeReason",
    }
    said = signals or {}
    ignored = tuple(key for key in said if key in facts)
    kept = {key: value for key, value in said.items() if key not in facts}
    sort_signals(kept)
    why = reason.strip() or ("paused by a person" if pause else None)
    record = {
        "pause": pause,
        "reason": why,
        "signals": kept,
        "trust": project_trust(repo),
        "decidedAt": now(),
        "source": MANUAL,
    }
    update_feature(repo.root, slug, lambda data: data.setdefault("gateDecisions", {}).update({gate: record}))
    return Decision(gate, record, (why,) if pause and why else (), ignored=ignored)


def sort_signals(given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the signals a session may give and the names that are ignored; raises Refusal `bad-signals`."""
    kept = {key: value for key, value in given.items() if key in GIVEN}
    diverges, violated = kept.get("designSystemDivergence", False), kept.get("standardsViolations", [])
    if not isinstance(diverges, bool):
        raise _bad("designSystemDivergence", "true or false", diverges)
    if not isinstance(violated, list) or not all(isinstance(one, str) for one in violated):
        raise _bad("standardsViolations", "a list of texts", violated)
    return kept, [key for key in given if key not in GIVEN]


def sticky_pause(data: dict[str, Any], gate: str) -> dict[str, Any] | None:
    """Return the decision of a person that pauses this gate, if one stands."""
    record = (data.get("gateDecisions") or {}).get(gate) or {}
    return record if record.get("source") == MANUAL and record.get("pause") is True else None


def recorded_signals(data: dict[str, Any], gate: str) -> dict[str, Any]:
    """Return what the session said with the decision in force."""
    record = (data.get("gateDecisions") or {}).get(gate) or {}
    return {key: value for key, value in (record.get("signals") or {}).items() if key in GIVEN}


def refuse_if_changed(seen: dict[str, Any], fresh: dict[str, Any], keys: tuple[str, ...] = FACTS) -> None:
    """Raise Refusal `changed-meanwhile` (exit 3) when the facts of a decision moved while it was taken."""
    for key in keys:
        if seen.get(key) != fresh.get(key):
            raise Refusal("changed-meanwhile", f"{key} of the feature changed meanwhile", fix="try again", exit_code=3)


def project_trust(repo: Repo) -> str:
    """Return who may approve gates in this project: `auto` or `manual`."""
    from morph_tasks.model.load import load_config

    return load_config(repo).trust


def _decided(sticky: dict[str, Any] | None, said: Evaluation) -> dict[str, Any]:
    if sticky:
        return {**sticky, "signals": said.signals}
    return {
        "pause": bool(said.told),
        "reason": "; ".join(said.told) or None,
        "signals": said.signals,
        "trust": said.trust,
        "decidedAt": now(),
        "source": GATE_CHECK,
    }


def _bad(key: str, wanted: str, found: Any) -> Refusal:
    return Refusal("bad-signals", f"signal {key}: found {found!r}, expected {wanted}", exit_code=2)
