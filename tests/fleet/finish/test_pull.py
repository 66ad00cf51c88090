"""`finish --pr`: the branch is pushed and a pull request opened; nothing is integrated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fleet.finish.conftest import Cart, add_origin
from tests.gh import FakeGh


@pytest.fixture(autouse=True)
def _origin(origin: Path) -> Path:
    return origin


def test_a_pull_request_waits_to_be_merged(cart: Cart, gh: FakeGh, origin: Path) -> None:
    start, tip = cart.tip("main"), cart.tip("morph/cart")
    made = cart.finish("pr")

    assert made["finished"] is True and made["integrated"] is False and made["awaiting"] == "merge"
    assert made["pr"] == {"number": 1, "url": "https://github.com/acme/shop/pull/1"}
    assert "gh pr merge 1" in made["nextStep"] and "publish" not in made and made["memoryNote"]
    assert cart.tip("main") == start
    assert cart.tip("morph/cart") == made["archiveCommit"] and cart.tip("morph/cart^") == tip
    assert cart.git("rev-parse", "morph/cart", cwd=origin) == made["archiveCommit"]
    assert made["worktreeRemoved"] and not cart.tree.exists() and made["branchDeleted"] is False
    [call] = gh.calls("pr", "create")
    assert call["argv"][call["argv"].index("--title") + 1] == "Totals of a cart"
    assert call["stdin"] == "Totals in cents\n\nFeature `cart`; its plan is in `.morph/archive/cart/`."


def test_a_feature_in_the_main_tree_stays_on_its_branch(own: Cart, gh: FakeGh, tmp_path: Path) -> None:
    add_origin(own, tmp_path / "own.git")
    made = own.finish("pr")
    assert own.git("symbolic-ref", "--short", "HEAD") == "morph/cart" and own.tip("morph/cart")
    assert made["worktreeRemoved"] is None and own.git("status", "--porcelain") == ""


def test_once_is_enough(cart: Cart, gh: FakeGh) -> None:
    cart.finish("pr")
    for mode in ("pr", "merge"):
        refusal = cart.refused(mode)
        assert refusal.code == "already-finished" and refusal.payload["pr"]["number"] == 1
        assert "#1" in refusal.what and "gh pr merge 1" in refusal.fix
    assert len(gh.calls("pr", "create")) == 1 and cart.tip("main") == cart.tip("origin/main")


def test_a_pull_request_that_was_closed_can_be_merged_by_hand(cart: Cart, gh: FakeGh) -> None:
    cart.finish("pr")
    gh.change(1, state="CLOSED")
    made = cart.finish("merge")
    assert made["integrated"] and made["resumed"] and cart.tip("main") == made["mergeCommit"]
    assert cart.tip("morph/cart") == "" and made["archiveCommit"] is None


def test_a_pull_request_that_was_closed_can_be_opened_anew(cart: Cart, gh: FakeGh) -> None:
    cart.finish("pr")
    gh.change(1, state="CLOSED")
    made = cart.finish("pr")
    assert made["pr"]["number"] == 2 and made["resumed"]


def test_a_pull_request_that_was_merged(cart: Cart, gh: FakeGh) -> None:
    made = cart.finish("pr")
    gh.change(1, state="MERGED", headRefOid=made["archiveCommit"])
    for mode in ("pr", "merge"):
        refusal = cart.refused(mode)
        assert (refusal.code, refusal.fix) == ("already-finished", "morph-spec branch prune")


def test_when_github_does_not_answer_nothing_is_guessed(cart: Cart, gh: FakeGh) -> None:
    cart.finish("pr")
    gh.reply("pr", "list", code=1, stderr="connection refused")
    for mode in ("pr", "merge"):
        refusal = cart.refused(mode)
        assert refusal.code == "resume-undecidable" and "connection refused" in refusal.what


@pytest.mark.parametrize("what", ["no origin", "no gh", "not signed in", "no answer"])
def test_what_a_pull_request_needs_is_asked_before_anything_changes(
    cart: Cart, gh: FakeGh, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if what == "no origin":
        cart.git("remote", "remove", "origin")
    if what == "no gh":
        path = [place for place in os.environ["PATH"].split(os.pathsep) if not (Path(place) / "gh").exists()]
        monkeypatch.setenv("PATH", os.pathsep.join(path))
    if what == "not signed in":
        gh.reply("repo", "view", code=4, stderr="To get started with GitHub CLI, please run:  gh auth login")
    if what == "no answer":
        gh.reply("pr", "list", code=1, stderr="connection refused")
    codes = {"no origin": "no-origin", "no gh": "gh-missing", "not signed in": "gh-not-authenticated"}
    assert cart.refused_untouched("pr").code == codes.get(what, "gh-failed")
    assert not gh.calls("pr", "create")


def test_a_request_that_somebody_opened_before(cart: Cart, gh: FakeGh) -> None:
    cart.git("push", "-q", "origin", "morph/cart")
    gh.pull("morph/cart")
    refusal = cart.refused_untouched("pr")
    assert refusal.code == "already-finished" and "morph-spec archive cart && git push" in refusal.fix
    assert not gh.calls("pr", "create")


def test_a_request_of_a_fork_is_not_ours(cart: Cart, gh: FakeGh) -> None:
    gh.pull("morph/cart", isCrossRepository=True, baseRefName="release")
    assert cart.finish("pr")["pr"]["number"] == 2


def test_a_conflict_is_for_the_request_to_solve(cart: Cart, gh: FakeGh) -> None:
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    made = cart.finish("pr")
    assert any("will conflict with main in README.md" in line for line in made["warnings"]) and made["pr"]


def test_a_push_that_is_refused_is_taken_up(cart: Cart, gh: FakeGh) -> None:
    cart.hook("pre-push", "echo 'not on a Friday' >&2; exit 1")
    refusal = cart.refused("pr")
    assert refusal.code == "push-failed" and "not on a Friday" in refusal.what and "finish cart --pr" in refusal.fix
    assert cart.tree.is_dir() and not gh.calls("pr", "create")
    cart.hook("pre-push", "exit 0")
    made = cart.finish("pr")
    assert made["resumed"] and made["pr"]["number"] == 1 and made["worktreeRemoved"] and made["archiveCommit"]


def test_another_branch_of_that_name_is_never_forced(cart: Cart, gh: FakeGh, origin: Path) -> None:
    cart.git("push", "-q", "origin", "main:refs/heads/morph/cart")
    cart.commit("x.txt", main=True)
    cart.git("push", "-q", "-f", "origin", "main:refs/heads/morph/cart")
    theirs = cart.git("rev-parse", "morph/cart", cwd=origin)
    assert cart.refused("pr").code == "push-failed"
    assert cart.git("rev-parse", "morph/cart", cwd=origin) == theirs


def test_a_request_that_a_broken_run_opened_is_adopted(cart: Cart, gh: FakeGh) -> None:
    gh.reply("pr", "create", code=1, stderr="the connection broke", once=True)
    assert cart.refused("pr").code == "pr-failed"
    gh.pull("morph/cart")
    made = cart.finish("pr")
    assert made["pr"]["number"] == 1 and made["prAdopted"] and made["resumed"]
    assert len(gh.calls("pr", "create")) == 1


def test_a_request_that_was_merged_before_the_run_was_taken_up(cart: Cart, gh: FakeGh) -> None:
    gh.reply("pr", "create", code=1, stderr="the connection broke", once=True)
    assert cart.refused("pr").code == "pr-failed"
    gh.pull("morph/cart", state="MERGED", headRefOid=cart.tip("morph/cart"))
    made = cart.finish("pr")
    assert made["integrated"] is True and made["awaiting"] is None and "git fetch" in made["nextStep"]
    assert made["worktreeRemoved"] and len(gh.calls("pr", "create")) == 1


def test_a_broken_request_can_end_as_a_merge(cart: Cart, gh: FakeGh) -> None:
    gh.reply("pr", "create", code=1, stderr="no", once=True)
    assert cart.refused("pr").code == "pr-failed"
    made = cart.finish("merge")
    assert (
        made["integrated"] and made["resumed"] and made["mode"] == "merge" and cart.tip("main") == made["mergeCommit"]
    )


def test_a_work_tree_with_a_session_in_it(cart: Cart, gh: FakeGh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(cart.tree))
    made = cart.finish("pr")
    assert made["teardownDeferred"] == "session-anchored" and cart.tree.is_dir() and made["pr"]


def test_a_stale_copy_in_the_main_tree(cart: Cart, gh: FakeGh) -> None:
    cart.write(".morph/features/cart/feature.json", '{"name": "stale"}', main=True)
    made = cart.finish("pr")
    assert made["shedBackup"] and not (cart.main / ".morph/features/cart").exists()
