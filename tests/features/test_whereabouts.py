"""Where a feature is that a tree does not have: each way out is typed, and leads on."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from morph_tasks.proc import run
from tests.conftest import Project

BORN = ("create", "cart", "--worktree", "--type", "feature", "--description", "Totals")


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    project = Project(tmp_path / "shop")
    project.root.mkdir()
    project.git("init", "-q", "-b", "main")
    project.write(".gitignore", "worktrees/\n")
    project.commit()
    project.morph(*BORN)
    tree = str(project.root / "worktrees/cart")
    project.git("-C", tree, "add", "-A")
    project.git("-C", tree, "commit", "-qm", "Cart")
    return project


def fix_of(shop: Project, *argv: str, code: str, cwd: Path | None = None) -> str:
    said = shop.morph(*argv, "--json", cwd=cwd)
    assert said.json["code"] == code, said.out
    return str(said.json["fix"])


def test_a_tree_that_was_switched_to_another_branch(shop: Project) -> None:
    tree = shop.root / "worktrees/cart"
    shop.git("-C", str(tree), "switch", "-qc", "off")
    asked = {
        ("finish", "cart", "--merge", "--force"): "branch-not-checked-out", ("worktree", "setup", "cart"): "path-taken",
        ("handoff", "cart"): "feature-not-in-tree", ("verify", "cart"): "feature-not-found",
    }  # fmt: skip
    fixes = {fix_of(shop, *argv, code=code) for argv, code in asked.items()}
    fixes.add(fix_of(shop, "approve", "cart", "plan", code="unregistered-worktree", cwd=tree))
    assert fixes == {f"git -C {tree} switch morph/cart"}
    run(shlex.split(fixes.pop()), cwd=shop.root)
    assert shop.morph("handoff", "cart").code == 0


@pytest.mark.parametrize("how", ["never", "deleted"])
def test_a_branch_that_holds_no_such_feature(shop: Project, how: str) -> None:
    name = "cart" if how == "deleted" else "t6"
    if how == "deleted":
        assert shop.morph("delete", "cart", "--with-worktree").code == 0
    else:
        shop.git("branch", f"morph/{name}")
    asked = [["worktree", "setup"], ["delete"], ["claim"], ["handoff"], ["finish", "--merge"]]
    fixes = {fix_of(shop, *argv, name, code="feature-not-found") for argv in asked}
    assert fixes == {f"git branch -m morph/{name} {name}"}
    run(shlex.split(fixes.pop()), cwd=shop.root)
    assert shop.morph("create", name, *BORN[2:]).code == 0


def test_the_way_to_an_archived_feature_does_not_loop(shop: Project) -> None:
    assert shop.morph("delete", "cart", "--archive", "--with-worktree").code == 0
    for argv in (["handoff", "cart"], ["delete", "cart"], ["verify", "cart"], ["archive", "cart"]):
        assert fix_of(shop, *argv, code="feature-not-found") == "morph-spec worktree setup cart"
    made, tree = shop.morph("worktree", "setup", "cart", "--json"), shop.root / "worktrees/cart"
    assert (made.code, made.json["archived"], made.json["handoff"], made.json["warnings"]) == (0, True, None, [])
    assert made.json["ports"]["base"] and (tree / ".morph/worktree.env").is_file()
    for argv in (["verify", "cart"], ["approve", "cart", "plan"]):
        said = shop.morph(*argv, "--json", cwd=tree).json
        assert (said["code"], said["message"]) == ("feature-not-found", "feature 'cart' is archived")
    assert shop.git("-C", str(tree), "status", "--porcelain") == ""
    assert shop.morph("worktree", "remove", "cart").code == 0 and not tree.exists()
    assert "git push origin morph/cart" in shop.morph("worktree", "setup", "cart").out


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_no_tree_for_what_is_in_the_default_branch(shop: Project, how: str) -> None:
    shop.write("worktrees/cart/totals.py", "TOTAL = 1\n")
    shop.git("-C", "worktrees/cart", "add", "-A")
    shop.git("-C", "worktrees/cart", "commit", "-qm", "Totals")
    if how == "merge":
        shop.morph("finish", "cart", "--merge", "--force", "--keep")
    else:
        shop.morph("archive", "cart", cwd=shop.root / "worktrees/cart")
        shop.git("merge", "-q", "--squash", "morph/cart")
        shop.git("commit", "-qm", "Cart")
    assert shop.morph("worktree", "remove", "cart").code == 0
    fix = fix_of(shop, "worktree", "setup", "cart", code="already-finished")
    run(shlex.split(fix), cwd=shop.root)
    assert not shop.git("branch", "--list", "morph/cart")


def test_a_name_in_the_wrong_case(shop: Project) -> None:
    assert fix_of(shop, "worktree", "setup", "Cart", code="feature-not-found") == "morph-spec worktree setup cart"
