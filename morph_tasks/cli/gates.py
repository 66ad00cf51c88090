"""Commands on gates: gate-check, gate-decision, approve, unapprove."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.again import typed
from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, wait_option, warn
from morph_tasks.features.shape import GATES, TRUSTS
from morph_tasks.gates.approval import Approved, Consent
from morph_tasks.gates.approval import approve as approve_gate
from morph_tasks.gates.approval import unapprove as unapprove_gate
from morph_tasks.gates.check import Decision, decide
from morph_tasks.gates.check import gate_check as check_gate
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.reach.model import Answer

gate_argument = click.argument("gate", type=click.Choice(GATES))


class Signals(click.ParamType[str]):
    """A JSON object."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            found = json.loads(value)
        except ValueError as error:
            self.fail(f"not valid JSON ({error})", param, ctx)
        if not isinstance(found, dict):
            self.fail("expected a JSON object", param, ctx)
        return str(value)


class TrueFalse(click.ParamType[bool]):
    """`true` or `false`, spelled out."""

    name = "true|false"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if isinstance(value, bool):
            return value
        if str(value).strip().lower() not in ("true", "false"):
            self.fail("expected true or false", param, ctx)
        return str(value).strip().lower() == "true"


@click.command(
    "gate-check",
    help="Decide from facts on disk whether GATE of FEATURE pauses, and record the decision. "
    "A pause that was ordered by hand stands until `gate-decision --pause false`.",
    epilog=f"Exit 1 when the gate pauses. {EPILOG_CODES} Example: morph-spec gate-check shop review --json",
)
@feature_argument
@gate_argument
@click.option("--signals", type=Signals(), help="JSON with designSystemDivergence and standardsViolations.")
@click.option("--trust", type=click.Choice(TRUSTS), help="Decide as if the project had this trust.")
@wait_option
@json_option
def gate_check(feature: str, gate: str, signals: str | None, trust: str | None, as_json: bool) -> int:
    """Run `morph-spec gate-check`."""
    given = json.loads(signals) if signals else {}
    repo = open_repo()
    made = check_gate(repo, feature, gate, given=given, trust=trust, command=typed())
    changes = _changes(repo, feature) if gate == "review" else None
    _tell(feature, made, as_json, ok=not made.pause, changes=changes)
    return 1 if made.pause else 0


@click.command(
    "gate-decision",
    help="Record a decision on GATE of FEATURE by hand. A pause stays until it is lifted by hand; lifting it "
    "does not lift what the facts say.",
    epilog=f'{EPILOG_CODES} Example: morph-spec gate-decision shop plan --pause true --reason "ask legal first"',
)
@feature_argument
@gate_argument
@click.option("--pause", type=TrueFalse(), required=True, help="Whether the gate pauses.")
@click.option("--reason", default="", help="Why.")
@click.option("--signals", type=Signals(), help="JSON to keep with the decision.")
@wait_option
@json_option
def gate_decision(feature: str, gate: str, pause: bool, reason: str, signals: str | None, as_json: bool) -> int:
    """Run `morph-spec gate-decision`."""
    given = json.loads(signals) if signals else {}
    made = decide(open_repo(), feature, gate, pause=pause, reason=reason, signals=given, command=typed())
    _tell(feature, made, as_json, ok=True)
    return 0


@click.command(
    "approve",
    help="Approve GATE of FEATURE. Without --approver the approval is automatic: the project's trust must be `auto` "
    "and the gate must not pause. With --approver a person signs, also over a pause, and the reasons are kept.",
    epilog=f'{EPILOG_CODES} Example: morph-spec approve shop plan --approver "Ana Lima"',
)
@feature_argument
@gate_argument
@click.option("--mode", type=click.Choice(["auto"]), help="Approve automatically (the default without --approver).")
@click.option("--approver", help="Name of the person who signs.")
@click.option("--force", is_flag=True, help="Pass over the order of the gates, and nothing else.")
@click.option("--self-assessed", is_flag=True, help="Note that the review was done by whoever wrote the code.")
@wait_option
@json_option
def approve(
    feature: str, gate: str, mode: str | None, approver: str | None, force: bool, self_assessed: bool, as_json: bool
) -> int:
    """Run `morph-spec approve`."""
    if mode and approver is not None:
        raise click.UsageError("--mode auto and --approver exclude each other")
    if approver is not None and not approver.strip():
        raise click.UsageError("--approver needs a name")
    if self_assessed and gate != "review":
        raise click.UsageError("--self-assessed belongs to the review gate")
    consent = Consent((approver or "").strip(), force, self_assessed)
    return _stand(feature, approve_gate(open_repo(), feature, gate, consent, command=typed()), as_json)


@click.command(
    "unapprove",
    help="Take the approval of GATE of FEATURE back, the frozen plan with it.",
    epilog=f"{EPILOG_CODES} Example: morph-spec unapprove shop plan",
)
@feature_argument
@gate_argument
@wait_option
@json_option
def unapprove(feature: str, gate: str, as_json: bool) -> int:
    """Run `morph-spec unapprove`."""
    return _stand(feature, unapprove_gate(open_repo(), feature, gate, command=typed()), as_json)


def _changes(repo: Repo, feature: str) -> Answer:
    """Return what a reviewer looks at first: the changes that no test of a scenario reaches."""
    from morph_tasks.verify.reach.standing import standing

    return standing(repo, feature)


def _tell(feature: str, made: Decision, as_json: bool, *, ok: bool, changes: Answer | None = None) -> None:
    for name in made.ignored:
        warn(f"warning: signal {name} is read from disk or unknown; what was given is ignored")
    for line in made.warnings:
        warn(f"warning: {line}")
    payload = {
        "ok": ok,
        "feature": feature,
        "gate": made.gate,
        **made.record,
        "reasons": list(made.reasons),
        "notEvaluated": list(made.not_evaluated),
        "ignoredSignals": list(made.ignored),
        "warnings": list(made.warnings),
    }
    lines = [f"gate {made.gate} of {feature} {'pauses' if made.pause else 'passes'}"]
    lines += [f"  - {reason}" for reason in made.reasons]
    if changes is not None:
        from morph_tasks.verify.reach.wording import summary_lines

        payload |= changes.as_json()
        lines = [*summary_lines(changes, feature), *lines]
    say(payload, "\n".join(lines), as_json)


def _stand(feature: str, made: Approved, as_json: bool) -> int:
    for line in made.warnings:
        warn(f"warning: {line}")
    payload = {"ok": True, "feature": feature, "gate": made.gate, **made.record}
    payload |= {"changed": made.changed, "phase": made.phase}
    payload |= {"files": list(made.files), "warnings": list(made.warnings)}
    by = made.record.get("approver") or made.record.get("approvedBy") or "nobody known"
    state = f"approved by {by}" if made.record["approved"] else "not approved"
    unchanged = "" if made.changed else " (it was so already)"
    lines = [f"gate {made.gate} of {feature} is {state}{unchanged}; phase: {made.phase}"]
    say(payload, "\n".join([*lines, *(f"  {path}" for path in made.files)]), as_json)
    return 0
