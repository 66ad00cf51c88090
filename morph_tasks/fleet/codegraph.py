"""What the fleet does for the code graph: a new tree gets a copy, a HEAD that moved a refresh; none keeps a tree."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from morph_tasks.codegraph.layout import FOLDER, GRAPH
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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


def derived_graph(tree: Path, dirty: Sequence[str]) -> list[str]:
    """Return which paths of a tree belong to its code graph, which is made again: nobody's work is in them."""
    found = [FOLDER]
    if ".graphifyignore" in dirty:
        from morph_tasks.codegraph.ignore_rules import NAME, leftover

        found += [NAME] if leftover(tree) else []
    return found


def drop_lent_rules(tree: Path) -> None:
    """Remove the rules that a killed run of graphify left in a tree, once nothing else keeps it from going."""
    from morph_tasks.codegraph.ignore_rules import drop_leftover

    with suppress(OSError):
        drop_leftover(tree)
