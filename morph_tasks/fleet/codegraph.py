"""What the fleet does for the code graph: a new tree gets a copy, and a HEAD that moved gets a refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.layout import GRAPH
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def seed_graph(primary: Repo, tree: Repo) -> tuple[bool, list[str]]:
    """Copy the graph of the main tree to a new one; tells whether it did, and why it could not. Never raises."""
    if not (primary.root / GRAPH).exists():
        return False, []
    from morph_tasks.codegraph.seeding import seed

    try:
        seeded, trouble = seed(primary, tree)
    except (Refusal, OSError) as error:
        return False, [f"the code graph was not copied: {error}"]
    return seeded, [trouble] if trouble else []


def refresh_graph(repo: Repo) -> None:
    """Have the graph of the main tree refreshed in the background, after its HEAD may have moved. Never raises."""
    from morph_tasks.repo.trees import primary_root

    try:
        if (primary_root(repo) / GRAPH).exists():
            from morph_tasks.codegraph.background import kick

            kick(repo)
    except (Refusal, OSError):
        return  # what was done stands; `graph status` says that the graph is old
