"""What follows every step of a feature: the list of outputs, the page for the next session, build folders ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.dotnet import seed_build_ignores
from morph_tasks.features.handoff import NAME, write_handoff
from morph_tasks.features.outputs import outputs_of
from morph_tasks.features.store import FEATURES, feature_dir, update_feature

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def settle(repo: Repo, slug: str) -> tuple[list[str], str]:
    """Bring derived things up to date; return the files written and the next command.

    The step itself is done, so what cannot be written here is left out, not raised.
    """
    folder = feature_dir(repo.root, slug)
    files, step = [], ""

    def change(data: dict[str, Any]) -> None:
        data.setdefault("outputs", {}).update(outputs_of(folder))

    try:
        update_feature(repo.root, slug, change)
        step = write_handoff(repo.root, slug).next_command
        files.append(f"{FEATURES}/{slug}/{NAME}")
        files += [".gitignore"] if seed_build_ignores(repo, slug) else []
    except (Refusal, OSError):
        pass
    return files, step
