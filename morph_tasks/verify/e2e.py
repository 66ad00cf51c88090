"""The node that runs the application: the stack comes up, then browser specs, or a smoke where there are none."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.stack.model import StackResult
    from morph_tasks.verify.run import Run

COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
# Ceilings in seconds: until every service is ready, and for the pages to answer.
_READY_S = 180.0
_SMOKE_S = 30.0

Fields = dict[str, Any]


def e2e_node(root: Path, config: Config) -> Node:
    """Return the e2e node: what the project declares decides between a run, a skip that is fair, and a failure."""
    from morph_tasks.stack.measure import undeclared

    for name in COMPOSE_FILES:
        ask("file", str(root / name))
    block = config.data.get("e2e") or {}
    nothing = undeclared(root, config, hosts=bool(block.get("hostServices")))
    if nothing is None:
        return Node("e2e", "e2e", reuse=False, declared=False)
    if nothing.status == "fail":
        return Node("e2e", "e2e", invalid=nothing.message, reason=nothing.reason)
    return Node("e2e", "e2e", skip=nothing.reason)


def measure_application(run: Run, log: Path) -> Fields:
    """Bring the application up and ask it; returns the fields of a record. Raises Refusal `busy` (exit 3)."""
    from morph_tasks.stack.measure import measure_stack
    from morph_tasks.stack.wiring import hooks_for
    from morph_tasks.verify.heavy import bring_up_slot

    slot = partial(bring_up_slot, run.slot)
    hooks = hooks_for(run.repo, run.config.data, run.feature, say=run.progress.note, slot=slot)
    found = measure_stack(
        run.repo, run.config, run.feature, fresh=run.request.fresh_e2e, timeout_s=_READY_S, hooks=hooks
    )
    if found.status == "busy":
        raise Refusal(found.reason or "busy", found.message, fix=found.fix, exit_code=3, **found.details)
    stack = _shown(found)
    if found.status != "pass":
        _write(log, found)
        # The sentence of a skip is what the review gate classifies.
        said = found.reason if found.status == "skip" else None
        return {
            **_nothing(found.warnings), "stack": stack, "status": found.status, "attempts": [found.status],
            "reason": None if said else found.reason, "message": said or _with_fix(found),
            "detail": list(found.output),
        }  # fmt: skip
    return {**_asked(run, found, log), "stack": stack}


def environment_for(run: Run) -> dict[str, str] | str:
    """Return the environment of the running application for a suite that needs it, or why there is none."""
    from morph_tasks.stack.env import stack_env

    view = run.view(run.node("e2e")) or {}
    if view.get("runId") != run.run_id or not (view.get("stack") or {}).get("up"):
        why = view.get("message") or view.get("reason") or "it was not brought up"
        return f"the application is not running: {why}"
    return stack_env(run.repo, run.config, run.feature).values


def _asked(run: Run, stack: StackResult, log: Path) -> Fields:
    from morph_tasks.stack.diagnose import environment_cause
    from morph_tasks.stack.specs import NoSpecs, find_specs, run_specs

    specs = find_specs(run.repo.root, run.config)
    ports = [port["published"] for row in stack.services for port in row["ports"] if port["protocol"] == "tcp"]
    if isinstance(specs, NoSpecs):
        return _smoked(stack, [*stack.warnings, *map(str, specs.unexecuted)])
    result = run_specs(
        run.repo, run.config, specs, stack.env, log=log, feature=run.feature, run_id=run.run_id, ports=ports
    )
    fields = result.as_json()
    warnings = [*stack.warnings, *result.warnings]
    if result.status == "fail" and (cause := environment_cause(run.repo, run.config, run.feature, result.detail)):
        warnings.append(f"the cause may not be the code: {cause}")
    fields |= {"warnings": warnings, "attempts": [result.status]}
    return {**fields, "artifacts": [str(path) for path in result.artifacts]}


def _smoked(stack: StackResult, warnings: list[str]) -> Fields:
    """Ask every published port: an application that is up answers below 500."""
    from morph_tasks.stack.smoke import Published, known_http, smoke

    known = known_http(stack.env)
    published = {
        port["published"]: row["service"]
        for row in stack.services
        for port in row["ports"]
        if port["protocol"] == "tcp"
    }
    services = [Published(service, port, http=port in known) for port, service in published.items() if port]
    found = smoke(services, deadline_s=_SMOKE_S)
    asked = [f"{one.service} :{one.port} {one.said}" for one in found.asked]
    return {
        **_nothing((*warnings, *found.warnings)), "status": found.status, "reason": found.reason,
        "message": found.message, "detail": asked if found.status != "pass" else [], "attempts": [found.status],
    }  # fmt: skip


def _shown(stack: StackResult) -> dict[str, Any]:
    return {
        "up": stack.status == "pass",
        "project": stack.project,
        "baseUrl": stack.base_url,
        "reusedBecause": stack.reused_because,
        "services": list(stack.services),
        "hostServices": list(stack.hosts),
    }


def _nothing(warnings: tuple[str, ...]) -> Fields:
    return {"exitCode": None, "count": None, "counts": None, "tests": [], "named": True, "warnings": list(warnings)}


def _with_fix(stack: StackResult) -> str:
    return f"{stack.message}; fix: {stack.fix}" if stack.fix else stack.message


def _write(log: Path, stack: StackResult) -> None:
    log.write_text("\n".join([f"{stack.reason}: {stack.message}", *stack.output, ""]), encoding="utf-8")
