"""What a finish and an undo do for the code graph, and that no graph costs them nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.codegraph import background
from morph_tasks.codegraph.background import Kicked
from morph_tasks.codegraph.freshness import freshness
from morph_tasks.codegraph.ignore_rules import lend
from morph_tasks.fleet.undo.service import undo
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import files_in, until
from tests.conftest import Project
from tests.fleet.finish.conftest import Cart


def test_the_graph_of_the_main_tree_follows_the_merge_and_the_undo(cart: Cart) -> None:
    cart.commit("kept.py", "def kept(): return 1\n", main=True)
    assert Project(cart.main).morph("graph", "build").code == 0
    cart.commit(".graphifyignore", (cart.main / ".graphifyignore").read_text(), main=True)
    assert "total.py" not in files_in(cart.main)
    cart.finish()
    until(lambda: freshness(open_repo(cart.main)).state == "fresh")
    assert "total.py" in files_in(cart.main)
    undo(open_repo(cart.main), "cart")
    until(lambda: freshness(open_repo(cart.main)).state == "fresh")
    assert "total.py" not in files_in(cart.main)


@pytest.fixture
def kicks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found: list[Path] = []

    def note(repo: object) -> Kicked:
        found.append(repo.root)  # type: ignore[attr-defined]
        return Kicked("fresh")

    monkeypatch.setattr(background, "kick", note)
    return found


def pretend_graph(folder: Path) -> None:
    (folder / "graphify-out").mkdir()
    (folder / "graphify-out/graph.json").write_text('{"nodes": [], "links": []}')


def test_without_a_graph_nothing_is_kicked(cart: Cart, kicks: list[Path]) -> None:
    cart.finish()
    undo(open_repo(cart.main), "cart")
    assert kicks == []


def test_a_dry_run_kicks_nothing_and_every_end_kicks_once(cart: Cart, kicks: list[Path]) -> None:
    cart.write(".git/info/exclude", "/graphify-out\n", main=True)
    pretend_graph(cart.main)
    cart.finish(dry_run=True)
    assert kicks == []
    cart.finish()
    assert kicks == [cart.main]


def test_what_graphify_left_in_the_tree_is_nobodys_work(cart: Cart, kicks: list[Path]) -> None:
    pretend_graph(cart.tree)  # git sees it
    cart.write(".graphifyignore", lend(b"*.lock\n").decode())
    made = cart.finish()
    assert made["ok"] and made["worktreeRemoved"] and not cart.tree.exists()
    assert "graphify-out" not in cart.git("ls-tree", "-r", "--name-only", "main")
    assert ".graphifyignore" not in cart.git("ls-tree", "-r", "--name-only", "main")


def test_rules_of_the_users_own_are_work(cart: Cart) -> None:
    cart.write(".graphifyignore", "*.lock\n")
    assert cart.refused().code == "worktree-dirty"
