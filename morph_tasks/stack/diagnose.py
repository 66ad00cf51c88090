"""Why specs may fail against a stack on which every service is healthy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo


def environment_cause(repo: Repo, config: Config, feature: str, said: Iterable[str] = ()) -> str | None:
    """Return what in the environment, rather than in the code, is the likely cause of failed specs; None for nothing.

    `said` are lines of their output. Asked only after a failure: it resolves the compose file and reads logs.
    """
    from morph_tasks.stack import current
    from morph_tasks.stack.compose import Compose
    from morph_tasks.stack.engine import EngineError
    from morph_tasks.stack.env import known_env
    from morph_tasks.stack.sample import sample
    from morph_tasks.stack.stale import likely_cause

    env = known_env(repo, config, feature)
    if env is None:
        return None
    try:
        resolved, _ = Compose(repo.root, env.project, current.environment(env)).resolve()
        return likely_cause(feature, env.project, sample(env.project), resolved, said)
    except (Refusal, EngineError):
        return None
