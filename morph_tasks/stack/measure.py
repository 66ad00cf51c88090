"""The stack as the e2e node of a verify measures it: every way of not running has its own reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.stack.compose import compose_file
from morph_tasks.stack.model import DEFAULT_TIMEOUT_S, NOT_AVAILABLE, NOT_CONTAINERIZED, Hooks, StackResult, Status

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo


def undeclared(root: Path, config: Config, *, hosts: bool = False) -> StackResult | None:
    """Return the result for a tree without anything to bring up: a fair skip, or the failure of a missing file.

    None when there is a compose file, or `hosts` says that there are host services. Asks no engine.
    """
    if compose_file(root) is not None:
        return None
    if config.declares_docker:
        return StackResult(
            "fail",
            "compose-missing",
            "the project declares docker and has no compose file: the verification was never set up",
            fix="add compose.yaml to the root, or take docker out of project.stack and project.integrations",
        )
    return None if hosts else StackResult("skip", NOT_CONTAINERIZED)


def measure_stack(
    repo: Repo,
    config: Config,
    feature: str,
    *,
    fresh: bool = False,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    hooks: Hooks | None = None,
) -> StackResult:
    """Bring the stack up for a verify; what keeps it from running is a result, never an exception that is expected."""
    nothing = undeclared(repo.root, config, hosts=bool(hooks and hooks.hosts))
    if nothing is not None:
        return nothing
    from morph_tasks.stack.engine import EngineError
    from morph_tasks.stack.up import bring_up

    try:
        return bring_up(repo, config, feature, fresh=fresh, timeout_s=timeout_s, hooks=hooks)
    except Refusal as refusal:
        if refusal.code == "docker-not-available":
            return StackResult("skip", f"{NOT_AVAILABLE}: {refusal.payload.get('cause')}", refusal.what, refusal.fix)
        status: Status = "busy" if refusal.exit_code == 3 else "fail"
        return StackResult(status, refusal.code, refusal.what, refusal.fix, details=dict(refusal.payload))
    except EngineError as error:
        return StackResult("fail", "engine-failed", f"the Docker engine refused: {error}")
