from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.features.birth import Wish, create_feature
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.ports import blocks
from tests.conftest import Project, Said
from tests.faults import Moment, in_child
from tests.fleet.birthplace import lay_feature, repo_of, status

DELETE = ["delete", "cart", "--with-worktree", "--json"]


@pytest.fixture
def tree(project: Project) -> Path:
    """The work tree in which a feature was born; nothing of it is committed."""
    project.write(".gitignore", "*.log\n")
    project.commit()
    made = create_feature(repo_of(project), Wish("cart", "A cart", "feature", worktree=True)).tree
    assert made is not None
    return made.path


def commit(tree: Path, message: str = "Feature") -> str:
    repo = open_repo(tree)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", message)
    return str(repo.head())


def delete(project: Project, *args: str) -> Said:
    return project.morph(*DELETE, *args)


def refused(project: Project, *args: str, cwd: Path | None = None) -> Any:
    """The refusal of a deletion, after making sure that it changed nothing."""
    tree = project.root / "worktrees/cart"
    before = project.git("for-each-ref"), status(tree), status(project.root), blocks(repo_of(project))
    said = project.morph(*DELETE, *args, cwd=cwd)
    assert said.code == 1, said.out
    assert (project.git("for-each-ref"), status(tree), status(project.root), blocks(repo_of(project))) == before
    return said.json


def test_without_the_switch_the_command_to_type_is_named(project: Project, tree: Path) -> None:
    said = project.morph("delete", "cart", "--force", "--json")
    assert (said.code, said.json["code"]) == (1, "feature-has-worktree")
    assert "--with-worktree; or finish it" in said.json["fix"] and tree.is_dir()


def test_a_draft_goes_with_its_tree_and_its_branch_stays(project: Project, tree: Path) -> None:
    (tree / "run.log").write_text("only here\n")
    plan = (tree / ".morph/features/cart/2-plan/plan.md").read_bytes()
    said = delete(project)
    assert said.code == 0, said.out
    assert said.json["deleted"] and said.json["worktreeRemoved"] and not tree.exists()
    assert said.json["branch"] == "morph/cart" and not said.json["branchDeleted"]
    assert (Path(said.json["backup"]) / "cart/2-plan/plan.md").read_bytes() == plan
    assert said.json["backedUp"] == ["run.log"] and blocks(repo_of(project)) == {}
    assert status(project.root) == "" and project.git("worktree", "list").count("\n") == 0
    assert os.listdir(repo_of(project).store / "deletions") == []


def test_committed_work_stays_on_the_branch_without_the_feature(project: Project, tree: Path) -> None:
    (tree / "code.py").write_text("code\n")
    commit(tree)
    said = delete(project)
    listed = project.git("ls-tree", "-r", "--name-only", "morph/cart").splitlines()
    assert said.code == 0 and "code.py" in listed and not [name for name in listed if "features" in name]
    assert project.git("log", "-1", "--format=%s %H", "morph/cart") == f"Delete cart {said.json['commit']}"


def test_a_branch_that_goes_can_be_brought_back(project: Project, tree: Path) -> None:
    tip = commit(tree)
    said = delete(project, "--delete-branch")
    assert said.json["branchDeleted"] and said.json["branchTip"] == tip and said.json["branch"] is None
    assert project.git("branch", "--list", "morph/cart") == ""
    project.git(*said.json["hint"].split()[1:])
    assert project.git("show", "morph/cart:.morph/features/cart/feature.json")
    text = project.morph("worktree", "setup", "cart")
    assert text.code == 0
    text = project.morph("delete", "cart", "--with-worktree", "--delete-branch")
    assert "branch morph/cart stays" not in text.out and f"git branch morph/cart {tip}" in text.out


def test_it_may_be_archived_as_abandoned(project: Project, tree: Path) -> None:
    commit(tree)
    said = delete(project, "--archive")
    assert said.json["archived"] == ".morph/archive/cart" and not tree.exists()
    data = json.loads(project.git("show", "morph/cart:.morph/archive/cart/feature.json"))
    assert data["status"] == "abandoned"


def test_work_that_is_not_committed_is_never_thrown_away(project: Project, tree: Path) -> None:
    commit(tree)
    (tree / "code.py").write_text("code\n")
    assert refused(project, "--force")["code"] == "worktree-dirty"
    (tree / "code.py").unlink()
    (tree / ".morph/.gitignore").write_text("mine\n")
    assert refused(project)["code"] == "worktree-dirty"


@pytest.mark.parametrize("state", ["approved", "locked", "rebase", "cwd", "twice", "in the main tree"])
def test_what_forbids_it(project: Project, tree: Path, state: str) -> None:
    commit(tree)
    cwd, args, code = None, ["--delete-branch"], state
    if state == "approved":
        path = tree / ".morph/features/cart/feature.json"
        data = json.loads(path.read_text())
        data["approvalGates"] = {
            "plan": {"approved": True, "approvedBy": "human", "approver": "Ana", "timestamp": "now"}
        }
        path.write_text(json.dumps(data))
        commit(tree, "Approve")
        code = "gate-approved"
    if state == "locked":
        project.git("worktree", "lock", str(tree))
        code = "worktree-locked"
    if state == "rebase":
        (project.root / ".git/worktrees/cart/MERGE_HEAD").write_text(project.git("rev-parse", "main") + "\n")
        code = "operation-in-progress"
    if state == "cwd":
        cwd, code = tree, "cwd-inside-worktree"
    if state == "twice":
        project.git("worktree", "add", "-q", "--force", "../other", "morph/cart")
        code = "branch-checked-out"
    if state == "in the main tree":
        project.git("worktree", "remove", "--force", str(tree))
        project.git("switch", "-q", "morph/cart")
        project.git("worktree", "add", "-q", str(tree), "main")
        code = "branch-checked-out"
    assert refused(project, *args, cwd=cwd)["code"] == code


def test_the_way_out_of_an_approved_gate_keeps_what_was_typed(project: Project, tree: Path) -> None:
    """`--archive` alone led to `feature-has-worktree`, and that back to the gate."""
    assert project.morph("approve", "cart", "review", "--force", "--approver", "Ana", cwd=tree).code == 0
    commit(tree, "Approve")
    said = project.morph("delete", "cart", "--with-worktree").err
    assert said.endswith("or morph-spec delete cart --with-worktree --force to remove it for good\n")
    assert "morph-spec delete cart --force --with-worktree;" in project.morph("delete", "cart", "--force").err
    assert project.morph("delete", "cart", "--with-worktree", "--force").code == 0 and not tree.exists()


def test_the_way_out_for_a_branch_that_the_main_tree_has(project: Project) -> None:
    assert project.morph("create", "solo", "--type", "feature", "--description", "One").code == 0
    project.commit("Plan it")
    said = project.morph("delete", "solo", "--force", "--with-worktree", "--delete-branch", "--json").json
    assert said["code"] == "branch-checked-out"
    assert subprocess.run(said["fix"], shell=True, cwd=project.root, env=os.environ).returncode == 0
    assert project.git("branch", "--list", "morph/solo") == ""


def test_a_copy_that_is_committed_in_the_main_tree_goes_too(project: Project) -> None:
    lay_feature(project)
    project.commit()
    project.git("branch", "-f", "morph/cart")
    assert project.morph("worktree", "setup", "cart").code == 0
    assert delete(project).code == 0
    for branch in ("main", "morph/cart"):
        assert ".morph/features" not in project.git("ls-tree", "-r", "--name-only", branch)
    assert json.loads(project.morph("list", "--json").out)["features"] == []


def test_without_a_tree_it_is_a_plain_deletion(project: Project) -> None:
    lay_feature(project)
    said = delete(project, "--delete-branch")
    assert said.code == 0 and said.json["worktreeRemoved"] is False and said.json["branchDeleted"]
    assert delete(project).json["code"] == "feature-not-found"


@pytest.mark.parametrize("args", [["--delete-branch"], ["--with-worktree", "--delete-branch", "--archive"]])
def test_switches_that_do_not_go_together(project: Project, tree: Path, args: list[str]) -> None:
    said = project.morph("delete", "cart", *args, "--json")
    assert (said.code, said.json["code"]) == (2, "usage") and tree.is_dir()


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.soak)])
def test_a_deletion_that_is_killed_loses_nothing_and_is_completed(
    project: Project, tree: Path, tmp_path: Path, step: int
) -> None:
    (tree / "code.py").write_text("code\n")
    commit(tree)
    (tree / "run.log").write_text("only here\n")
    notes = tree / ".morph/features/cart/notes.md"
    notes.write_text("never committed\n")
    master = tmp_path / "master"
    shutil.copytree(project.root, master, symlinks=True)
    number, code = 1, -9
    while code == -9:
        shutil.rmtree(project.root)
        shutil.copytree(master, project.root, symlinks=True)
        code = in_child(
            [*DELETE, "--delete-branch"], project.root, moment=Moment("change", number, group=bool(number % 2))
        ).code
        again = in_child([*DELETE, "--delete-branch"], project.root)
        done = again.code == 2 and json.loads(again.out)["code"] == "feature-not-found"
        assert again.code == 0 or done, (number, again.out)
        kept = [path.read_text() for path in (project.root / ".git/morph-spec").rglob("*") if path.is_file()]
        assert "only here\n" in kept and "never committed\n" in kept, number
        assert not tree.exists() and project.git("worktree", "list").count("\n") == 0
        assert project.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
        assert status(project.root) == "" and blocks(repo_of(project)) == {}
        if again.code == 0:
            tip = json.loads(again.out)["branchTip"]
            assert project.git("show", f"{tip}:code.py") == "code"
        number += step
    assert number > 60  # so many changes there are at least
