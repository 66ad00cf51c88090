from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.cli.quick import quick
from morph_tasks.features.listing import shown_pull
from morph_tasks.fleet import github
from morph_tasks.fleet import journal as journals
from morph_tasks.repo.git import open_repo
from tests.conftest import Project
from tests.gh import FakeGh


@pytest.fixture
def shop(project: Project) -> Project:
    """One feature here, one on its branch, one finished on its branch."""
    for name, path in (("pay", "features/pay"), ("cart", "archive/cart")):
        project.git("switch", "-q", "-c", f"morph/{name}", "main")
        project.write(f".morph/{path}/feature.json", json.dumps({"description": name, "workType": "bug"}))
        project.commit(name)
    project.git("switch", "-q", "main")
    project.write(".morph/features/here/feature.json", json.dumps({"description": "Here"}))
    return project


def listed(project: Project, *words: str, cwd: Path | None = None) -> dict[str, Any]:
    said = project.morph("list", "--json", *words, cwd=cwd)
    assert said.code == 0, said.err
    return {**said.json, "rows": {row["feature"]: row for row in said.json["features"]}}


def test_columns_without_origin(shop: Project) -> None:
    found = listed(shop)
    assert set(found["rows"]) == {"here", "pay"}
    assert [found["rows"][name]["where"] for name in ("here", "pay")] == ["root", "branch morph/pay"]
    assert [found["rows"][name]["source"] for name in ("here", "pay")] == ["disk", "branch"]
    assert [found["rows"][name]["pr"] for name in ("here", "pay")] == [None, None]
    assert found["prs"] == {"verified": False, "reason": "this repository has no remote called origin"}
    said = shop.morph("list").out
    assert len(said.splitlines()) == 2 and "branch morph/pay" in said
    assert "?" not in said and "not verified" not in said


def test_pull_requests_and_what_waits_for_one(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.pull("morph/cart", createdAt="2020-01-01T00:00:00Z")
    gh.pull("morph/pay", state="CLOSED")
    gh.pull("morph/here", isCrossRepository=True)
    found = listed(shop)
    assert list(found["rows"]) == ["cart", "here", "pay"]
    cart = found["rows"]["cart"]
    assert (cart["phase"], cart["flags"], cart["where"]) == ("aguardando-merge", ["pr-pending"], "branch morph/cart")
    assert cart["description"].startswith("waiting for its merge for ") and "no local copy" in cart["description"]
    assert cart["pr"] == {"number": 1, "state": "OPEN", "url": "https://github.com/acme/shop/pull/1"}
    assert found["rows"]["pay"]["pr"]["state"] == "CLOSED" and found["rows"]["here"]["pr"] is None
    assert found["prs"] == {"verified": True, "reason": None}
    lines = shop.morph("list").out.splitlines()
    assert "#1 OPEN" in lines[0] and "#2 CLOSED" in lines[2] and "  -  " in lines[1]
    assert lines[0].startswith("⚠") and "[pr-pending]" in lines[0]


def test_an_archive_that_waits_is_one_row(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.pull("morph/cart")
    shop.git("switch", "-q", "morph/cart")
    assert listed(shop, "--all")["rows"]["cart"]["phase"] == "aguardando-merge"
    assert [row["feature"] for row in listed(shop, "--all")["features"]].count("cart") == 1
    gh.change(1, state="MERGED")
    assert listed(shop, "--all")["rows"]["cart"]["phase"] == "archived"
    assert "cart" not in listed(shop)["rows"]


def test_a_copy_here_of_what_waits_keeps_its_row(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.pull("morph/cart")
    shop.write(".morph/features/cart/feature.json", json.dumps({"description": "Left behind"}))
    row = listed(shop)["rows"]["cart"]
    assert row["flags"] == ["archived-elsewhere", "pr-pending"] and row["description"] == "Left behind"


@pytest.mark.parametrize("code", [4, 0])
def test_what_is_not_known_is_a_question_mark(shop: Project, origin: Path, gh: FakeGh, code: int) -> None:
    gh.reply("pr", "list", code=code, stdout="oops", stderr="gh auth login")
    found = listed(shop)
    assert found["prs"]["verified"] is False and found["prs"]["reason"]
    assert found["rows"]["pay"]["pr"] is None
    said = shop.morph("list").out
    assert "  ?  " in said and said.splitlines()[-1] == f"pull requests not verified: {found['prs']['reason']}"


def test_what_github_did_not_say_of_a_finished_feature(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.reply("pr", "list", code=1, stderr="HTTP 502")
    made = journals.start(open_repo(shop.root), "cart", {"default": "main"}, write=False)
    made.done("integrate", pr={"number": 7, "url": "https://github.com/acme/shop/pull/7"})
    made.close("done")
    shop.write(".morph/features/broken/feature.json", "{")
    found = listed(shop)["rows"]
    assert found["cart"]["pr"] == {"number": 7, "state": None, "url": "https://github.com/acme/shop/pull/7"}
    assert found["broken"]["gates"]["plan"] == {"approved": None, "approvedBy": None}
    broken, cart, *_ = shop.morph("list").out.splitlines()
    assert "#7 ?  [pr-unverified]" in cart and "plan? uiux? review?" in broken


def test_an_answer_that_was_cut_leaves_questions(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.pull("other")
    answer = github.ask_pulls(open_repo(shop.root), limit=1)
    assert shown_pull(answer, "morph/pay") == "?" and shown_pull(answer, "other") == "#1 OPEN"


def test_a_github_that_hangs_is_left_after_a_while(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.hang("pr", "list")
    answer = github.ask_aside(open_repo(shop.root), wait_s=0.5)()
    assert not answer.verified and answer.reason == "gh did not answer within 0.5 s"


def test_no_gh(shop: Project, origin: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    found = shutil.which("git")
    assert found
    (bare / "git").symlink_to(found)
    assert listed_with_path(shop, bare)["prs"] == {"verified": False, "reason": "gh is not on the PATH"}


def listed_with_path(project: Project, path: Path, *words: str) -> Any:
    program = "import sys; from morph_tasks.entry import main; sys.argv[1:1] = ['list', '--json']; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=project.root, env={**os.environ, "PATH": str(path)},
        capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_no_branch_asks_neither_git_nor_github(shop: Project, origin: Path, gh: FakeGh, tmp_path: Path) -> None:
    gh.pull("morph/cart")
    empty = tmp_path / "empty"
    empty.mkdir()
    found = listed_with_path(shop, empty, "--no-branch")
    assert [row["feature"] for row in found["features"]] == ["here"] and found["ok"]
    assert "prs" not in found and "pr" not in found["features"][0]
    assert found["features"][0]["where"] == "root"
    assert shop.morph("list", "--no-branch").code == 0 and not gh.calls()


def test_no_branch_shows_the_copy_of_this_tree(shop: Project, tmp_path: Path) -> None:
    shop.write(".morph/features/pay/feature.json", json.dumps({"description": "Frozen"}))
    shop.git("worktree", "add", "-q", str(shop.root / "worktrees/pay"), "morph/pay")
    assert listed(shop)["rows"]["pay"]["description"] == "pay"
    frozen = listed(shop, "--no-branch")["rows"]["pay"]
    assert (frozen["description"], frozen["where"]) == ("Frozen", "root")
    there = listed(shop, "--no-branch", cwd=shop.root / "worktrees/pay")["rows"]["pay"]
    assert (there["description"], there["where"]) == ("pay", "worktree worktrees/pay")


def test_the_quick_way_knows_no_branch(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.root)
    assert quick(["list", "--no-branch", "--json"]) == 0
    assert quick(["list", "--nobranch"]) is None


def test_doit_lists_the_same(shop: Project) -> None:
    shop.write("dodo.py", "from morph_tasks.tasks import *\n")
    said = shop.doit("list-features")
    assert said.code == 0 and shop.morph("list").out.strip() in said.out
