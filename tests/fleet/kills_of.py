"""The commands that are killed, each with the repository that it is run in."""

from __future__ import annotations

from pathlib import Path

from tests.fleet.killing import Killing
from tests.fleet.scene import Scene, in_main_tree, with_tree, write
from tests.gh import make_gh

FINISH = ("finish", "cart", "--merge", "--force")


def finished(base: Path) -> Scene:
    """Make a repository whose feature was finished by a merge."""
    scene = with_tree(base)
    scene.morph(*FINISH)
    return scene


def hosted(base: Path) -> Scene:
    """Make a repository with a real origin and a `gh` that answers from a file."""
    scene = with_tree(base, origin=True)
    make_gh(base / "gh")
    return scene


def clean(base: Path) -> Scene:
    """Make a repository whose feature has everything committed, so that its tree can be removed."""
    scene = with_tree(base)
    scene.git("add", "-A", cwd=scene.tree)
    scene.git("commit", "-qm", "all of it", cwd=scene.tree)
    return scene


def with_dodo(base: Path) -> Scene:
    """Make a repository whose tasks doit knows."""
    scene = with_tree(base)
    write(scene.shop / "dodo.py", "from morph_tasks.tasks import *\n")
    scene.git("add", "dodo.py")
    scene.git("commit", "-qm", "tasks")
    return scene


KILLINGS = {
    "finish --merge": Killing(with_tree, FINISH),
    "finish --merge in the main tree": Killing(in_main_tree, FINISH),
    "finish --pr": Killing(hosted, ("finish", "cart", "--pr", "--force")),
    "worktree remove": Killing(clean, ("worktree", "remove", "cart")),
    "undo": Killing(finished, ("undo", "cart"), made=(".morph/archive/cart/feature.json",)),
}
BY_DOIT = Killing(with_dodo, ("finish:cart", "mode=merge", "force=1"), program="doit")
