from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.proc import ProcError
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.halfmade import half_made, listed_by_hand
from tests.repo.conftest import Tree

FILES = [("locked", "initializing\n"), ("gitdir", "{tree}/.git\n"), ("HEAD", f"{'0' * 40}\n"), ("commondir", "../..\n")]


def add(tree: Tree, name: str, *words: str) -> Path:
    path = tree.root.parent / name
    tree.git("worktree", "add", "-q", *words, str(path))
    return path


def test_what_is_listed_by_hand_is_what_git_lists(tree: Tree) -> None:
    add(tree, "on a branch", "-b", "some")
    add(tree, "detached", "--detach")
    locked = add(tree, "locked", "-b", "höhe")
    tree.git("worktree", "lock", "--reason", "in use", str(locked))
    gone = add(tree, "gone")
    for path in sorted(gone.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    gone.rmdir()
    repo = open_repo(tree.root)
    said = repo.git("worktree", "list", "--porcelain", "-z").split(b"\0\0")
    by_git = {
        tuple(line for line in block.split(b"\0") if line and not line.startswith((b"prunable", b"detached")))
        for block in said
    }
    by_hand = {
        tuple(line for line in block.split(b"\0") if not line.startswith(b"prunable")) for block in listed_by_hand(repo)
    }
    assert by_git - {()} == by_hand
    assert sum(b"prunable" in block for block in listed_by_hand(repo)) == 1


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("empty", [False, True])
def test_a_tree_in_the_making_hides_no_other(tree: Tree, count: int, empty: bool) -> None:
    other = add(tree, "other")
    admin = tree.git_dir / "worktrees" / "half"
    admin.mkdir()
    for place, (name, text) in enumerate(FILES[:count]):
        torn = empty and place == count - 1
        (admin / name).write_text("" if torn else text.format(tree=tree.root.parent / "half"))
    repo = open_repo(tree.root)
    paths = [one.path for one in repo.worktrees()]
    assert paths[:1] == [tree.root] and other in paths
    assert (admin in half_made(repo)) == (count < 4 or empty)


def test_another_failure_of_git_is_told(tree: Tree) -> None:
    repo = open_repo(tree.root)
    (tree.git_dir / "config").write_text("[broken")
    with pytest.raises(ProcError):
        repo.worktrees()
