"""`morph-spec finish` and `doit finish:<feature>` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.gh import FakeGh

DODO = "from morph_tasks.tasks import *  # noqa: F403\n"


@pytest.fixture
def shop(project: Project) -> Project:
    """Two features, ready to end: `cart` in a tree of its own, and nothing to commit in the main tree."""
    project.write("dodo.py", DODO)
    project.write(".gitignore", "__pycache__/\n*.log\n")
    project.commit("tasks")
    made = project.morph("create", "cart", "--worktree", "--type", "feature", "--description", "Totals in cents")
    assert made.code == 0, made.err
    tree = project.root / "worktrees/cart"
    (tree / "cart.py").write_text("total = 0\n")
    assert project.morph("approve", "cart", "review", "--force", "--approver", "Ana", cwd=tree).code == 0
    Project(tree).commit("Add totals")
    return project


def test_merged_from_the_main_tree(shop: Project) -> None:
    said = shop.morph("finish", "cart", "--merge", "--json")
    assert said.code == 0, said.err
    made = said.json
    assert made["finished"] and made["integrated"] and made["worktreeRemoved"] and made["portsReleased"]
    assert (shop.root / "cart.py").exists() and shop.git("status", "--porcelain") == ""
    assert "warning: the last verify does not speak for this code" in said.err
    again = shop.morph("finish", "cart", "--merge", "--json")
    assert (again.code, again.json["code"]) == (1, "already-finished")


@pytest.mark.parametrize("argv", [[], ["--merge", "--pr"]])
def test_one_way_or_the_other(shop: Project, argv: list[str]) -> None:
    said = shop.morph("finish", "cart", *argv, "--json")
    assert (said.code, said.json["code"], said.json["ok"]) == (2, "usage", False)


def test_nothing_to_push_after_a_request(shop: Project) -> None:
    said = shop.morph("finish", "cart", "--pr", "--push", "--json")
    assert (said.code, said.json["code"]) == (1, "push-with-pr")


def test_from_inside_of_the_tree(shop: Project) -> None:
    tree = shop.root / "worktrees/cart"
    said = shop.morph("finish", "cart", "--merge", "--force", "--json", cwd=tree)
    assert (said.code, said.json["code"]) == (1, "cwd-inside-worktree")
    assert said.json["fix"] == f"cd {shop.root} && morph-spec finish cart --merge --force"
    foretold = shop.morph("finish", "cart", "--merge", "--dry-run", "--json", cwd=tree)
    assert foretold.code == 0 and foretold.json["preflight"] and foretold.json["cwdInsideWorktree"]
    assert "this is refused" in foretold.err


def test_words_for_people(shop: Project) -> None:
    said = shop.morph("finish", "cart", "--merge")
    lines = said.out.splitlines()
    assert lines[0] == "cart is finished: morph/cart is merged into main"
    assert lines[-2].startswith("next: integrated into the local main only")
    assert lines[-1].startswith("note: the repository does not hold what was only said")
    assert "  work tree removed" in lines and "  branch morph/cart deleted" in lines


def test_a_pull_request(shop: Project, origin: Path, gh: FakeGh) -> None:
    made = shop.morph("finish", "cart", "--pr", "--json").json
    assert made["awaiting"] == "merge" and made["pr"]["number"] == 1 and not made["integrated"]
    said = shop.morph("finish", "cart", "--merge")
    assert said.code == 1 and "error already-finished" in said.err and "gh pr merge 1" in said.err


def test_the_same_steps_under_doit(shop: Project) -> None:
    said = shop.doit("finish:cart", "mode=merge")
    assert said.code == 0, said.out + said.err
    order = [line.removeprefix(".  ") for line in said.out.splitlines() if line.startswith(".  ")]
    steps = ["preflight", "archive", "integrate", "teardown", "retention"]
    assert order == [*(f"finish:cart:{step}" for step in steps), "finish:cart"]
    assert "cart is finished: morph/cart is merged into main" in said.out
    assert not (shop.root / "worktrees/cart").exists() and (shop.root / "cart.py").exists()
    assert "error already-finished" in shop.doit("finish:cart", "mode=merge").out


@pytest.mark.parametrize("doit", [False, True])
def test_a_push_that_failed_is_a_failure_and_the_merge_stays(shop: Project, tmp_path: Path, doit: bool) -> None:
    shop.git("init", "-q", "--bare", str(tmp_path / "origin.git"))
    shop.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    hook = shop.root / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\necho not on a Friday >&2; exit 1\n")
    hook.chmod(0o755)
    if doit:
        said = shop.doit("finish:cart", "mode=merge", "push=1")
        assert said.code != 0 and "error push-failed: the merge stays" in said.out + said.err
    else:
        said = shop.morph("finish", "cart", "--merge", "--push", "--json")
        assert said.code == 1 and said.json["finished"] and said.json["integrated"] and not said.json["ok"]
    assert "not on a Friday" in said.out and (shop.root / "cart.py").exists()
    assert shop.git("branch", "--list", "morph/cart") == ""


def test_a_dry_run_under_doit(shop: Project) -> None:
    before = shop.git("for-each-ref")
    said = shop.doit("finish:cart", "mode=merge", "dry-run=1")
    assert said.code == 0 and "cart would be finished; nothing was changed" in said.out
    assert shop.git("for-each-ref") == before and not (shop.root / ".git/morph-spec/finish").exists()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["finish"], "feature-not-named"),
        (["finish:cart"], "usage"),
        (["finish:cart", "mode=merge", "fresh=1"], "unknown-option"),
        (["finish:cart", "mode=both"], "bad-option"),
        (["finish:cart", "mode=pr", "push=1"], "push-with-pr"),
        (["finish:none", "mode=merge"], "feature-not-found"),
        (["list-features", "mode=merge"], "unknown-option"),
    ],
)
def test_wrong_words_for_doit(shop: Project, argv: list[str], code: str) -> None:
    said = shop.doit(*argv)
    assert said.code != 0 and f"error {code}" in said.out + said.err
    assert (shop.root / "worktrees/cart").is_dir() and shop.git("branch", "--list", "morph/cart")


def test_a_slip_of_the_pen_leads_to_the_list(shop: Project) -> None:
    said = shop.morph("finish", "crat", "--merge", "--json")
    assert (said.code, said.json["code"], said.json["fix"]) == (2, "feature-not-found", "morph-spec list")


def test_one_line_in_the_list_of_doit(shop: Project) -> None:
    lines = [line for line in shop.doit("list").out.splitlines() if line.startswith("finish")]
    assert lines == ["finish          archive, integrate and take down a feature: doit finish:<feature> mode=merge"]


def test_what_a_finish_did_not_end_is_ended_by_doit(shop: Project) -> None:
    hook = shop.root / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\ngrep -q refs/heads/main && test $1 = prepared && exit 1\nexit 0\n")
    hook.chmod(0o755)
    said = shop.morph("finish", "cart", "--merge", "--json")
    assert (said.code, said.json["code"]) == (1, "reference-refused")
    assert said.json["fix"].endswith("then morph-spec finish cart --merge")
    hook.unlink()
    done = shop.doit("finish:cart", "mode=merge")
    assert done.code == 0 and "(taken up again)" in done.out, done.out + done.err


def test_help_says_it_all(project: Project) -> None:
    said = project.morph("finish", "--help").out
    for word in ("--merge", "--pr", "--push", "--keep ", "--keep-volumes", "--dry-run", "--force", "--discard-ignored"):
        assert word in said
    assert json.loads(project.morph("finish", "../x", "--merge", "--json").out)["code"] == "feature-not-found"
