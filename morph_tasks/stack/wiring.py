"""Which hooks the commands give a bring-up. The rooms of host services, the auth seed and heavy slots plug in here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from morph_tasks.stack.model import Hooks

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def hooks_for(
    repo: Repo, config: Mapping[str, Any], feature: str, *, say: Callable[[str], None] | None = None
) -> Hooks:
    """Return the hooks of a feature; {} as configuration gives those that `down` needs."""
    return Hooks(say=say)
