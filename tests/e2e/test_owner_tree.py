"""State belongs to one tree: who changes a feature from another one is told where to go, and nothing is written."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Project, Said

PLAN = """\
# Cart

## Problem
It drifts.

## Scenarios

### C1 — Totals are in cents
Given two lines, then the sum is in cents.
- proof: manual

## Decisions

### Conflicts with the record
none

## Slices

### F1 — Totals
- persona: python-senior
- files: cart.py
- covers: C1
- reuse: CREATE Cart — why: nothing holds lines yet
"""

# Every command that changes a feature, as typed; `--force` consents to much, but not to another tree.
CHANGES = [
    "approve cart plan --approver Ana",
    "approve cart review --approver Ana --force",
    "unapprove cart plan",
    "advance cart",
    "advance cart --force --approver Ana",
    "gate-decision cart plan --pause true --reason later",
    "gate-check cart plan",
    "gate-check cart review --trust auto",
    "retype cart bug",
    "archive cart",
    "plan-check cart",
    "verify cart --record-baseline",
    "e2e up cart",
]
REMOVALS = ["delete cart", "delete cart --force", "delete cart --archive --force"]


@dataclass(frozen=True)
class Shop:
    """The main tree, the tree that owns `cart`, and a tree of a task."""

    main: Project
    owner: Project
    task: Project

    def other(self, name: str) -> Project:
        return {"main": self.main, "task": self.task}[name]


def trees(project: Project) -> Shop:
    return Shop(project, Project(project.root / "worktrees" / "the cart's"), Project(project.root / "worktrees/task"))


@pytest.fixture
def shop(project: Project, prepared: Callable[[str, Callable[[], None]], None]) -> Shop:
    """A feature whose tree is alive, with a frozen copy of it on main: nothing but the guard stops a command."""
    prepared("shop with a frozen copy", lambda: frozen(project))
    made = trees(project)
    project.git("worktree", "add", "-q", str(made.owner.root), "morph/cart")
    project.git("worktree", "add", "-q", str(made.task.root), "-b", "morph-task/task")
    return made


def frozen(project: Project) -> None:
    project.write(".gitignore", "worktrees/\n.morph/state.json\n.morph/logs/\n.morph/evidence/\n")
    project.config(project={"tests": [{"id": "unit", "command": "true", "runner": "none"}]})
    project.write("compose.yaml", "services: {web: {image: busybox}}\n")
    project.commit("settings")
    said = project.morph("create", "cart", "--type", "feature", "--description", "A cart", "--no-checkout")
    assert said.code == 0, said.err
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    project.commit("the copy that freezes")
    project.git("branch", "-f", "morph/cart", "main")


def everything(*projects: Project) -> dict[str, str]:
    """Return all files of the trees and of the private store by their content, and what git holds."""
    found = {}
    for project in projects:
        for folder, below, names in os.walk(project.root):
            below[:] = [name for name in below if name not in (".git", "__pycache__")]
            for name in names:
                path = Path(folder, name)
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        found[f"status of {project.root}"] = project.git("status", "--porcelain")
    main = projects[0]
    found["refs"] = main.git("for-each-ref")
    store = main.root / ".git/morph-spec"
    for path in store.rglob("*"):
        if path.is_file() and path.suffix != ".lock" and "cache" not in path.parts:
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def refused(said: Said, code: str) -> dict[str, str]:
    assert (said.code, said.json["code"], said.json["ok"]) == (1, code, False), said.out
    document: dict[str, str] = said.json
    return document


@pytest.mark.parametrize("where", ["main", "task"])
def test_a_change_from_another_tree_is_refused_and_nothing_is_written(shop: Shop, where: str) -> None:
    before = everything(shop.main, shop.owner, shop.task)
    owner = os.path.realpath(shop.owner.root)
    for command in CHANGES:
        said = refused(shop.other(where).morph(*shlex.split(command), "--json"), "owner-tree-elsewhere")
        assert owner in said["message"] and said["owner"] == owner
        # The very command, for a shell.
        there, _, again = said["fix"].partition(" && ")
        assert shlex.split(there) == ["cd", owner]
        assert shlex.split(again)[0] == "morph-spec"
        assert set(shlex.split(again)[1:]) >= set(shlex.split(command))
        assert everything(shop.main, shop.owner, shop.task) == before, command
    for command in REMOVALS:
        said = refused(shop.other(where).morph(*shlex.split(command), "--json"), "feature-has-worktree")
        assert owner in said["message"]
        assert everything(shop.main, shop.owner, shop.task) == before, command


def test_without_an_owner_the_state_is_in_the_main_tree(shop: Shop) -> None:
    shop.main.git("worktree", "remove", "--force", str(shop.owner.root))
    before = everything(shop.main, shop.task)
    for command in [*CHANGES, *REMOVALS]:
        said = refused(shop.task.morph(*shlex.split(command), "--json"), "unregistered-worktree")
        assert said["fix"].startswith(f"cd {os.path.realpath(shop.main.root)} && morph-spec {command.split()[0]} ")
        assert everything(shop.main, shop.task) == before, command


@pytest.mark.parametrize("where", ["main", "task"])
def test_the_tasks_are_guarded_like_the_commands(shop: Shop, where: str) -> None:
    for tree in (shop.main, shop.owner, shop.task):
        tree.write("dodo.py", "from morph_tasks.tasks import *\n")
    before = everything(shop.main, shop.owner, shop.task)
    for task in ("plan-check:cart", "gate-check:cart:plan"):
        said = shop.other(where).doit(task)
        assert said.code != 0 and os.path.realpath(shop.owner.root) in said.out + said.err
        assert everything(shop.main, shop.owner, shop.task) == before, task


def test_what_the_refusal_says_to_type_works(shop: Shop) -> None:
    for command in ("plan-check cart", "approve cart plan --approver 'Ana Lima'", "gate-check cart plan"):
        fix = shop.main.morph(*shlex.split(command), "--json").json["fix"]
        done = subprocess.run(fix, shell=True, cwd=shop.task.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert shop.owner.feature()["approvalGates"]["plan"]["approver"] == "Ana Lima"
    assert not shop.main.feature()["approvalGates"].get("plan", {}).get("approved")


def test_in_the_owner_tree_nothing_changes(shop: Shop) -> None:
    for command in ("plan-check cart", "gate-decision cart plan --pause false", "approve cart plan --approver Ana"):
        said = shop.owner.morph(*shlex.split(command))
        assert said.code == 0, said.err
    inside = shop.owner.root / ".morph/features"
    assert shop.owner.morph("advance", "cart", "--force", "--approver", "Ana", cwd=inside).code == 0


def test_a_feature_without_a_tree_of_its_own_is_changed_in_the_main_tree(shop: Shop) -> None:
    shop.main.git("worktree", "remove", "--force", str(shop.owner.root))
    assert shop.main.morph("plan-check", "cart").code == 0
    assert shop.main.morph("approve", "cart", "plan", "--approver", "Ana").code == 0


def test_a_tree_in_the_middle_of_a_rebase_still_owns_its_feature(shop: Shop) -> None:
    shop.owner.write("x", "1\n")
    shop.owner.commit("x")
    subprocess.run(["git", "rebase", "-q", "--force-rebase", "--exec", "false", "main"], cwd=shop.owner.root,
                   capture_output=True)  # fmt: skip
    assert shop.owner.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    refused(shop.main.morph("unapprove", "cart", "plan", "--json"), "owner-tree-elsewhere")
    assert shop.owner.morph("plan-check", "cart").code == 0


def test_a_tree_whose_folder_is_gone_owns_nothing(shop: Shop) -> None:
    os.rename(shop.owner.root, shop.owner.root.with_name("moved"))
    assert shop.main.morph("plan-check", "cart").code == 0
    # In the moved tree git still knows the branch, so it owns its feature there.
    assert Project(shop.owner.root.with_name("moved")).morph("plan-check", "cart").code == 0


def test_verify_counts_only_in_the_owner_tree(shop: Shop) -> None:
    copies = [tree.root / ".morph/features/cart/feature.json" for tree in (shop.main, shop.task)]
    before = [copy.read_bytes() for copy in copies]
    for tree, reason in ((shop.main, "owner-tree-elsewhere"), (shop.task, "unregistered-worktree")):
        document = tree.verify("cart")
        assert (document["persisted"], document["reason"]) == (False, reason)
    assert [copy.read_bytes() for copy in copies] == before and "verification" not in shop.owner.feature()
    document = shop.owner.verify("cart")
    assert (document["persisted"], document["reason"]) == (True, None)
    assert shop.owner.feature()["verification"]["status"] == "pass"
    assert [copy.read_bytes() for copy in copies] == before
    # Without a living owner it counts in the main tree, and still not in the task's.
    shop.main.git("worktree", "remove", "--force", str(shop.owner.root))
    assert shop.task.verify("cart")["reason"] == "unregistered-worktree"
    assert shop.main.verify("cart")["persisted"] is True


def test_readers_follow_the_branch(shop: Shop) -> None:
    assert shop.owner.morph("plan-check", "cart").code == 0
    assert shop.owner.morph("approve", "cart", "plan", "--approver", "Ana").code == 0
    for tree in (shop.main, shop.task):
        [row] = tree.morph("list", "--json").json["features"]
        assert (row["phase"], row["gates"]["plan"]["approved"]) == ("implement", True)
        assert (row["where"], row["source"]) == ("worktree worktrees/the cart's", "disk")
        [post] = tree.morph("fleet", "--json").json["features"]
        assert (post["phase"], post["tree"]) == ("implement", os.path.realpath(shop.owner.root))
        said = tree.morph("handoff", "cart", "--json")
        assert said.json["path"].startswith(os.path.realpath(shop.owner.root))
        assert not (tree.root / ".morph/features/cart/handoff.md").exists()
    assert "phase `implement`" in (shop.owner.root / ".morph/features/cart/handoff.md").read_text()
    said = shop.main.morph("handoff", "cart", "--here", "--json")
    assert said.json["path"].startswith(os.path.realpath(shop.main.root) + "/.morph")


def test_readers_follow_the_branch_when_no_tree_has_it(shop: Shop) -> None:
    shop.owner.morph("plan-check", "cart")
    shop.owner.morph("approve", "cart", "plan", "--approver", "Ana")
    shop.owner.commit("approved")
    shop.main.git("worktree", "remove", "--force", str(shop.owner.root))
    shop.main.git("rm", "-rq", ".morph/features")
    shop.main.git("commit", "-q", "-m", "no copy")
    for tree in (shop.main, shop.task):
        [row] = tree.morph("list", "--json").json["features"]
        assert (row["phase"], row["where"], row["source"]) == ("implement", "branch morph/cart", "branch")
    [post] = shop.main.morph("fleet", "--json").json["features"]
    assert (post["phase"], post["tree"], post["slices"]) == ("implement", None, {"done": 0, "total": 1})
    said = shop.main.morph("handoff", "cart", "--json")
    assert (said.code, said.json["code"]) == (1, "feature-not-in-tree")
    assert said.json["fix"] == "morph-spec worktree setup cart" and "morph/cart" in said.json["message"]
    assert not (shop.main.root / ".morph/features").exists()


def test_without_a_copy_here_the_place_is_named(shop: Shop) -> None:
    shop.main.git("rm", "-rq", ".morph/features")
    shop.main.git("commit", "-q", "-m", "no copy")
    owner = os.path.realpath(shop.owner.root)
    for command in ("verify cart", "explain cart", "trace cart", "why-failed cart"):
        said = shop.main.morph(*shlex.split(command), "--json")
        assert (said.code, said.json["code"]) == (2, "feature-not-found")
        again = ["cd", owner, "&&", "morph-spec", *shlex.split(command), "--json"]
        assert owner in said.json["message"] and shlex.split(said.json["fix"]) == again
    shop.main.git("worktree", "remove", "--force", str(shop.owner.root))
    said = shop.main.morph("verify", "cart", "--json")
    assert (said.json["code"], said.json["fix"]) == ("feature-not-found", "morph-spec worktree setup cart")


def test_the_list_of_guarded_commands_is_whole() -> None:
    """A new command has to be looked at: does it change a feature?"""
    from morph_tasks.cli.main import COMMANDS

    guarded = {command.split()[0] for command in [*CHANGES, *REMOVALS]}
    # They read, are about no feature, or find the owner themselves and have tests of their own.
    others = {
        "create", "list", "explain", "why-failed", "trace", "env", "heavy", "completion", "finish", "undo", "fleet",
        "claim", "branch", "handoff", "worktree", "suite", "graph",
    }  # fmt: skip
    assert set(COMMANDS) == guarded | others
    assert not guarded & others


def test_json_of_a_refusal_is_one_document(shop: Shop) -> None:
    said = shop.main.morph("approve", "cart", "plan", "--approver", "Ana", "--json")
    assert json.loads(said.out) == said.json and said.err == ""
    said = shop.main.morph("approve", "cart", "plan", "--approver", "Ana")
    assert said.out == "" and "error owner-tree-elsewhere" in said.err and "fix: cd " in said.err
