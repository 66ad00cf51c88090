"""The rooms of host services and of the auth seed, as hooks of a bring-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from morph_tasks.stack.model import Context, HookOutcome, Hooks

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from morph_tasks.repo.git import Repo


def hooks_for(
    repo: Repo,
    config: Mapping[str, Any],
    feature: str,
    *,
    say: Callable[[str], None] | None = None,
    slot: Callable[[], AbstractContextManager[Any]] | None = None,
) -> Hooks:
    """Return the hooks of a feature by the parsed configuration; {} gives those that `down` needs."""
    e2e = config.get("e2e")
    block = e2e if isinstance(e2e, dict) else {}
    names = [str(one.get("name")) for one in block.get("hostServices") or [] if isinstance(one, dict)]

    def status(repo: Repo, project: str) -> tuple[dict[str, Any], ...]:
        return _status(repo, project, names)

    return Hooks(
        hosts=_hosts if names else None,
        seed=_seed if isinstance(block.get("auth"), dict) else None,
        stop_hosts=_stop,
        hosts_status=status if names else None,
        slot=slot,
        say=say,
    )


def _hosts(context: Context) -> HookOutcome:
    """Bring up the host services behind the containers."""
    from morph_tasks.stack.current import code_stamp
    from morph_tasks.stack.hosts import bring_up_hosts

    code = code_stamp(context.repo, context.config)
    found = bring_up_hosts(
        context.repo,
        context.config,
        context.project,
        context.env,
        code,
        fresh=context.fresh,
        secrets=sorted(context.secrets),
    )
    rows = tuple(
        {"name": one.name, "pid": one.pid, "health": one.health, "reused": one.reused, "why": one.why, "log": one.log}
        for one in found.services
    )
    failed = found.status == "fail"
    return HookOutcome(
        reason="host-service-failed" if failed else None,
        message=found.reason if failed else "",
        output=tuple(found.output.splitlines()),
        services=rows,
        warnings=found.warnings,
        changed=any(not one.reused for one in found.services),
    )


def _seed(context: Context) -> HookOutcome:
    """Run the auth seed against the stack."""
    from morph_tasks.stack.auth import seed
    from morph_tasks.stack.stale import volume_ages

    ages = volume_ages(context.project)
    found = seed(
        context.repo,
        context.config,
        context.env,
        needed=context.fresh,
        project=context.project,
        stack=" ".join(f"{name}@{moment}" for name, moment in sorted(ages.items())),
        volumes_since=min((moment for moment in ages.values() if moment is not None), default=None),
        secrets=sorted(context.secrets),
    )
    failed = found.status == "fail"
    return HookOutcome(
        reason="auth-seed-failed" if failed else None,
        message=found.reason if failed else "",
        output=tuple(found.output.splitlines()),
        warnings=found.warnings,
        changed=found.ran,
    )


def _stop(repo: Repo, project: str) -> tuple[str, ...]:
    from morph_tasks.stack.hosts import stop_all

    return tuple(f"host service {name}" for name in stop_all(repo, project).left)


def _status(repo: Repo, project: str, names: list[str]) -> tuple[dict[str, Any], ...]:
    from morph_tasks.stack.hosts import status_of

    return tuple(one.as_json() for one in status_of(repo, project, names=names))
