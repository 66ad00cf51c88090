from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.fleet.birthplace import lay_feature, status


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with packages, a credentials file, and a feature that lies in the main tree."""
    project.write(".gitignore", "node_modules/\n.env\n*.local\n.morph/.gitignore\n")
    project.write(".worktreeinclude", "*.local\n")
    project.commit()
    project.write("node_modules/lib/index.js", "shared\n")
    project.write(".env", "A=1\n")
    project.write("a.local", "mine\n")
    lay_feature(project)
    return project


def test_a_new_tree_in_one_document(shop: Project) -> None:
    said = shop.morph("worktree", "setup", "cart", "--json")
    assert (said.code, said.err) == (0, "")
    told, tree = said.json, shop.root / "worktrees/cart"
    assert told["worktree"] == {"path": str(tree), "branch": "morph/cart"} and told["key"] == told["feature"] == "cart"
    assert told["ports"]["range"] == f"{told['ports']['base']}-{told['ports']['base'] + 9}"
    assert told["env"]["PORT"] == str(told["ports"]["base"]) and told["env"]["COMPOSE_PROJECT_NAME"] == "morph-cart"
    assert told["links"] == {"made": ["node_modules"], "kept": [], "skipped": []}
    assert told["copied"] == [".env"] and told["worktreeInclude"] == {"copied": ["a.local"], "skipped": []}
    assert told["editorSettings"] == {"status": "created", "path": ".vscode/settings.json"}
    assert told["moved"] and not told["resumed"] and told["warnings"] == [] and "worktreeRootWarning" not in told
    assert told["next"] == f"cd {tree}" and Path(told["handoff"]).is_file()
    again = shop.morph("worktree", "setup", "cart", "--json")
    assert (again.code, again.json["code"], again.json["fix"]) == (3, "feature-in-use", f"cd {tree}")


def test_a_new_tree_for_people(shop: Project) -> None:
    shop.config(worktree={"root": "inside", "links": ["node_modules", "missing"]})
    shop.write(".vscode/settings.json", "{} // mine\n")
    said = shop.morph("worktree", "setup", "cart")
    assert said.code == 0 and "worktree.root is not used" in said.err
    for line in (
        f"work tree of cart made: {shop.root}/worktrees/cart", "branch morph/cart", "compose project morph-cart",
        "linked: node_modules; not missing (the main tree has none)", "copied: .env, a.local",
        "moved here from the main tree", "add to .vscode/settings.json (comments):",
        f"next: cd {shop.root}/worktrees/cart",
    ):  # fmt: skip
        assert line in said.out, said.out


def test_a_task_and_where_it_begins(shop: Project) -> None:
    shop.morph("worktree", "setup", "cart")
    tree = shop.root / "worktrees/cart"
    said = shop.morph("worktree", "provision", "t1", "--json", cwd=tree)
    assert said.code == 0 and said.json["feature"] == "cart" and said.json["base"] == "morph/cart"
    assert status(shop.root / "worktrees/t1") == ""
    env = shop.morph("env", "--json", cwd=shop.root / "worktrees/t1").json["env"]
    assert env == said.json["env"] and env["MORPH_FEATURE"] == "cart"
    assert "begun at main" in shop.morph("worktree", "provision", "t2", "--base", "main", cwd=tree).out
    for name, code, exit_code in (("t1", "task-in-use", 3), ("../t", "invalid-name", 2), ("t 3", "invalid-name", 2)):
        said = shop.morph("worktree", "provision", name, "--json")
        assert (said.json["code"], said.code) == (code, exit_code)
    said = shop.morph("worktree", "provision", "t4", "--base", "nothing", "--json")
    assert (said.json["code"], said.code) == ("no-such-base", 2)


def test_links_and_environment_are_made_anew(shop: Project) -> None:
    shop.morph("worktree", "setup", "cart")
    tree = shop.root / "worktrees/cart"
    shop.morph("worktree", "provision", "t1", "--base", "morph/cart")
    (tree / "node_modules").unlink()
    shop.config(e2e={"portEnvNames": {"postgres": "PG_PORT"}})
    shutil.copytree(shop.root / ".morph/config", tree / ".morph/config")
    said = shop.morph("worktree", "link", "--json", cwd=tree)
    assert said.code == 0 and [row["key"] for row in said.json["worktrees"]] == ["cart"]
    assert said.json["worktrees"][0]["links"]["made"] == ["node_modules"]
    assert "PG_PORT=" in (tree / ".morph/worktree.env").read_text()
    said = shop.morph("worktree", "link", "--all", "--json")
    assert {(row["key"], row["feature"]) for row in said.json["worktrees"]} == {("cart", "cart"), ("task/t1", "cart")}
    assert shop.morph("worktree", "link", "task/t1").out.startswith("task/t1: linked: node_modules; ports ")
    for args, code, exit_code in (
        (["nothing"], "no-worktree", 1), ([], "feature-not-named", 2), (["cart", "--all"], "usage", 2)
    ):  # fmt: skip
        said = shop.morph("worktree", "link", *args, "--json")
        assert (said.json["code"], said.code) == (code, exit_code)


def test_a_tree_that_cannot_be_linked_does_not_stop_the_others(shop: Project) -> None:
    for name in ("a", "b"):
        shop.morph("worktree", "provision", name)
    env = shop.root / "worktrees/a/.morph/worktree.env"
    env.unlink()
    env.mkdir()
    said = shop.morph("worktree", "link", "--all", "--json")
    rows = {row["key"]: row["ok"] for row in said.json["worktrees"]}
    assert (said.code, said.json["ok"], rows) == (1, False, {"task/a": False, "task/b": True})
    assert "task/a: write-failed" in shop.morph("worktree", "link", "--all").out


def test_all_trees_and_how_they_stand(shop: Project) -> None:
    shop.morph("worktree", "setup", "cart")
    shop.morph("worktree", "provision", "t1")
    shop.git("worktree", "add", "-q", "../side", "-b", "side")
    shop.git("worktree", "lock", "--reason", "mine", "../side")
    shop.git("worktree", "add", "-q", "../gone", "-b", "morph/gone")
    shutil.rmtree(shop.root.parent / "gone")
    said = shop.morph("worktree", "list", "--json")
    rows = {row["branch"]: row for row in said.json["worktrees"]}
    assert {branch: row["kind"] for branch, row in rows.items()} == {
        "main": "root", "morph/cart": "feature", "morph-task/t1": "task", "side": "other", "morph/gone": "feature"
    }  # fmt: skip
    cart = rows["morph/cart"]
    assert (cart["key"], cart["feature"], cart["phase"], cart["dirty"]) == ("cart", "cart", "plan", True)
    assert cart["gates"] == {"plan": False, "uiux": False, "review": False} and cart["inContainer"]
    assert rows["morph-task/t1"]["dirty"] is False and rows["morph-task/t1"]["key"] == "task/t1"
    assert rows["side"]["locked"] == "mine" and rows["side"]["prunable"] is None and not rows["side"]["inContainer"]
    assert rows["morph/gone"]["dirty"] is None and rows["morph/gone"]["prunable"]
    text = shop.morph("worktree", "list", cwd=shop.root / "worktrees/t1").out
    assert (
        "[changes]" in text
        and "[locked: mine]" in text
        and "out of the container" in text
        and "not verified" in text
        and "git worktree repair <where it is now>" in text
    )
    assert len(text.splitlines()) == 5


def test_a_feature_is_born_in_a_tree_and_the_checkout_does_not_move(shop: Project) -> None:
    said = shop.morph("create", "pay", "--worktree", "--type", "bug", "--description", "Pay", "--json")
    assert said.code == 0, said.out
    told, tree = said.json, shop.root / "worktrees/pay"
    assert told["worktree"] == {"path": str(tree), "branch": "morph/pay"} and told["ports"]["base"]
    assert told["branch"] == {"name": "morph/pay", "checkedOut": False, "stayedOn": "main"}
    assert shop.git("branch", "--show-current") == "main" and not (shop.root / ".morph/features/pay").exists()
    assert (tree / ".morph/features/pay/feature.json").is_file() and Path(told["handoff"]).is_file()
    assert told["files"] == [
        ".morph/features/pay/feature.json",
        ".morph/features/pay/2-plan/plan.md",
        ".morph/.gitignore",
    ]
    assert {row["feature"] for row in shop.morph("list", "--json").json["features"]} == {"cart", "pay"}
    assert shop.morph("list", cwd=tree).code == 0
    text = shop.morph("create", "pays", "--worktree", "--type", "bug", "--description", "Pay", cwd=tree)
    assert (
        f"in {shop.root}/worktrees/pays; the checkout stays on main" in text.out and f"next: cd {shop.root}" in text.out
    )


@pytest.mark.parametrize("there", ["tree", "main", "archived", "branch", "committed", "folder"])
def test_a_birth_that_is_refused_leaves_nothing(shop: Project, there: str) -> None:
    name = "cart"
    if there == "tree":
        shop.morph("worktree", "setup", "cart")
    if there in ("archived", "branch", "committed", "folder"):
        name = "pay"
    if there == "archived":
        shop.write(".morph/archive/pay/feature.json", "{}")
    if there == "branch":
        shop.git("branch", "morph/pay")
    if there == "committed":
        shop.write(".morph/features/pay/feature.json", "{}")
        shop.git("add", "-f", ".morph/features/pay")
        shop.git("commit", "-qm", "pay")
        shutil.rmtree(shop.root / ".morph/features/pay")
    if there == "folder":
        shop.write("worktrees/pay/mine", "x")
    before = shop.git("for-each-ref"), shop.git("worktree", "list")
    said = shop.morph("create", name, "--worktree", "--type", "bug", "--description", "x", "--json")
    expected = {
        "tree": "feature-in-use", "main": "branch-exists", "archived": "feature-archived", "branch": "branch-exists",
        "committed": "feature-exists", "folder": "path-taken",
    }  # fmt: skip
    assert (said.json["code"], said.code) == (expected[there], 3 if there == "tree" else 1)
    assert (shop.git("for-each-ref"), shop.git("worktree", "list")) == before
    assert not os.path.lexists(shop.root / "worktrees/pay/.morph")


def test_a_birth_needs_one_answer(shop: Project) -> None:
    argv = ["create", "pay", "--type", "bug", "--description", "x", "--json", "--worktree"]
    said = shop.morph(*argv, "--no-checkout")
    assert (said.code, said.json["code"]) == (2, "usage") and not (shop.root / "worktrees").exists()
    said = shop.morph("create", "pay", "--worktree", "--json")
    assert (said.code, said.json["code"]) == (2, "description-missing")


def test_a_tree_is_removed_by_the_same_group(shop: Project) -> None:
    shop.morph("worktree", "provision", "t1")
    assert shop.morph("worktree", "remove", "t1").code == 0 and not (shop.root / "worktrees/t1").exists()
    assert {"list", "link", "provision", "reap", "remove", "setup"} <= set(shop.morph("worktree", "--help").out.split())


def test_paths_that_are_not_utf_8_do_not_break_the_document(tmp_path: Path) -> None:
    project = Project(tmp_path / os.fsdecode(b"s\xff"))
    project.root.mkdir()
    project.git("init", "-q", "-b", "main")
    project.git("commit", "-q", "--allow-empty", "-m", "First")
    said = project.morph("worktree", "provision", "t1", "--json")
    assert said.code == 0 and os.fsencode(said.json["worktree"]["path"]) == os.fsencode(project.root / "worktrees/t1")
    said = project.morph("worktree", "list", "--json")
    assert json.loads(said.out)["worktrees"][1]["branch"] == "morph-task/t1"
    assert project.morph("worktree", "list").code == 0


def test_names_are_taken_as_they_are_meant(shop: Project) -> None:
    assert shop.morph("worktree", "provision", "task/a3", "--json").json["worktree"]["branch"] == "morph-task/a3"
    assert [row["key"] for row in shop.morph("worktree", "link", "a3", "--json").json["worktrees"]] == ["task/a3"]
    assert shop.morph("worktree", "link", "task/b", "--json").json["fix"] == "morph-spec worktree provision b"
    shop.morph("worktree", "setup", "cart")
    said = shop.morph("worktree", "provision", "cart", "--json").json
    assert said["code"] == "path-taken" and "`worktree setup`" in said["message"]
    assert said["fix"] == f"cd {shop.root}/worktrees/cart"
    for words in (["nope"], ["--target", "/nope"]):
        assert shop.morph("worktree", "remove", *words).code == 2


def test_a_feature_that_the_main_tree_is_on_can_have_a_tree(shop: Project) -> None:
    shop.morph("create", "pay", "--type", "bug", "--description", "Pay")
    assert shop.git("branch", "--show-current") == "morph/pay"
    said = shop.morph("worktree", "setup", "pay", "--json")
    assert (said.code, said.json["code"]) == (3, "feature-in-use")
    assert said.json["fix"] == f"git -C {shop.root} switch main && morph-spec worktree setup pay"
    shop.git("switch", "-q", "main")
    assert shop.morph("worktree", "setup", "pay").code == 0
