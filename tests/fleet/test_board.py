from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.fleet import claims
from morph_tasks.fleet.board import Post, as_json, board
from morph_tasks.fleet.statuses import in_parallel, uncommitted
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.ports import block_of
from tests.conftest import Project
from tests.gh import FakeGh

OLD = "2026-11-01T10:00:00.000Z"


@pytest.fixture(autouse=True)
def _no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MORPH_SESSION_ID", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)


def record(**keys: Any) -> str:
    return json.dumps({"status": "in_progress", "description": "A cart", "updatedAt": OLD, **keys})


def on_branch(project: Project, slug: str, text: str, **files: str) -> None:
    project.git("switch", "-q", "-c", f"morph/{slug}", "main")
    project.write(f".morph/features/{slug}/feature.json", text)
    for name, content in files.items():
        project.write(f".morph/features/{slug}/{name.replace('__', '/')}", content)
    project.commit(slug)
    project.git("switch", "-q", "main")


def posts(project: Project, where: Path | None = None) -> dict[str, Post]:
    return {post.view.slug: post for post in board(open_repo(where or project.root)).posts}


PLAN = {"2-plan__checks.json": json.dumps({"slices": [{"id": "F1"}, {"id": "F2"}, {"id": "F3"}]})}
REPORTS = {"3-implement__reports__F1.md": "# Done\n", "3-implement__reports__F2.md": "# PARTIAL\n"}


@pytest.fixture
def shop(project: Project, tmp_path: Path) -> Project:
    """A feature here, one in a tree, one on its branch, and some that are not active."""
    approved = {"plan": {"approved": True}}
    on_branch(project, "tree", record(approvalGates=approved), **PLAN, **REPORTS)
    on_branch(project, "branch", record(approvalGates=approved), **PLAN, **REPORTS, **{"1-design__x": "x\n"})
    project.git("worktree", "add", "-q", str(tmp_path / "a tree\nß"), "morph/tree")
    project.write(".morph/features/here/feature.json", record(status="draft"))
    project.write(".morph/features/gone/feature.json", record(status="abandoned"))
    project.write(".morph/features/broken/feature.json", "{")
    return project


def test_all_active_features_wherever_they_are(shop: Project, tmp_path: Path) -> None:
    found = posts(shop)
    assert list(found) == ["branch", "broken", "here", "tree"]
    assert [found[name].tree for name in found] == [
        None,
        shop.root,
        shop.root,
        Path(os.path.realpath(tmp_path)) / "a tree\nß",
    ]
    assert [found[name].view.source for name in found] == ["branch", "disk", "disk", "disk"]
    assert found["broken"].view.flags == ("unreadable",) and found["broken"].pending_gates is None
    assert found["here"].pending_gates == ["plan", "review"]
    assert found["tree"].pending_gates == ["review"] and found["branch"].pending_gates == ["uiux", "review"]


def test_it_is_the_same_from_every_tree(shop: Project, tmp_path: Path) -> None:
    shop.git("worktree", "add", "-q", str(tmp_path / "task"), "-b", "morph-task/x")
    first = as_json(board(open_repo(shop.root)))
    for where in (tmp_path / "a tree\nß", tmp_path / "task"):
        assert as_json(board(open_repo(where))) == first


def test_slices_are_counted_on_disk_and_on_branches(shop: Project) -> None:
    found = posts(shop)
    for name in ("tree", "branch"):
        slices = found[name].slices
        assert slices and (slices.done, slices.total) == (1, 3)
    assert found["here"].slices is None, "no plan is not no slices"


@pytest.mark.parametrize("checks", ["{", "[]", '{"slices": []}', '{"slices": [{"id": "x"}]}', "\xff"])
def test_slices_that_are_not_known_are_unknown(project: Project, checks: str) -> None:
    on_branch(project, "cart", record(), **{"2-plan__checks.json": checks})
    assert posts(project)["cart"].slices is None


def test_what_is_not_committed(shop: Project, tmp_path: Path) -> None:
    assert posts(shop)["tree"].changed and posts(shop)["tree"].changed.count == 0  # type: ignore[union-attr]
    tree = Project(tmp_path / "a tree\nß")
    tree.write("new file\n", "x")
    tree.write("README.md", "changed\n")
    found = posts(shop)
    assert found["tree"].changed and found["tree"].changed.count == 2
    # The main tree is on main: what is not committed there is nobody's.
    assert found["here"].changed is None and found["branch"].changed is None


def test_the_last_thing_that_was_done(shop: Project, tmp_path: Path) -> None:
    assert posts(shop)["here"].last_activity == "2026-11-01T10:00:00Z"
    for name in ("tree", "branch"):
        committed = int(shop.git("log", "-1", "--format=%ct", f"morph/{name}"))
        shown = datetime.fromtimestamp(committed, UTC).isoformat().replace("+00:00", "Z")
        assert posts(shop)[name].last_activity == shown
    path = Project(tmp_path / "a tree\nß").write("new", "x")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    assert posts(shop)["tree"].last_activity == "2096-10-02T07:06:40Z"


def test_how_far_the_work_went(shop: Project, origin: Path, gh: FakeGh) -> None:
    assert {post.remote for post in posts(shop).values()} == {"local"}
    shop.git("push", "-q", "origin", "morph/tree", "morph/branch")
    more = shop.git("commit-tree", "-p", "morph/branch", "-m", "more", "morph/branch^{tree}")
    shop.git("update-ref", "refs/heads/morph/branch", more)
    gh.pull("morph/tree")
    gh.pull("morph/here", isCrossRepository=True)
    document = {one["feature"]: one for one in as_json(board(open_repo(shop.root)))["features"]}
    assert [document[name]["remote"] for name in ("tree", "branch", "here")] == ["PR #1", "pushed", "local"]
    assert [document[name]["ahead"] for name in ("tree", "branch", "here")] == [0, 1, None]
    assert document["tree"]["pr"] == {"number": 1, "state": "OPEN", "url": "https://github.com/acme/shop/pull/1"}
    gh.change(1, state="CLOSED")
    assert posts(shop)["tree"].remote == "pushed"


def test_what_github_did_not_say(shop: Project, origin: Path, gh: FakeGh) -> None:
    gh.reply("pr", "list", code=1, stderr="error connecting to api.github.com")
    document = as_json(board(open_repo(shop.root)))
    assert document["prs"] == {"verified": False, "reason": "gh ended with 1: error connecting to api.github.com"}
    assert not any(one["remoteVerified"] for one in document["features"])


def test_a_feature_that_waits_for_its_merge(shop: Project, origin: Path, gh: FakeGh) -> None:
    shop.git("switch", "-q", "-c", "morph/done", "main")
    shop.write(".morph/archive/done/feature.json", record(status="archived"))
    shop.git("add", "-f", ".morph/archive")
    shop.git("commit", "-q", "-m", "archive")
    shop.git("switch", "-q", "main")
    assert "done" not in posts(shop)
    gh.pull("morph/done")
    post = posts(shop)["done"]
    assert (post.view.phase, post.remote, post.pending_gates, post.tree) == ("aguardando-merge", "PR #1", [], None)
    assert "pr-pending" in post.view.flags
    # A copy that was left here is not the feature.
    shop.write(".morph/features/done/feature.json", record())
    assert posts(shop)["done"].view.phase == "aguardando-merge"
    gh.change(1, state="MERGED")
    assert "done" not in posts(shop)


def test_claims_ports_and_handoff(shop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = open_repo(shop.root)
    monkeypatch.setenv("MORPH_SESSION_ID", "s1")
    claims.acquire(repo, "tree")
    block = block_of(repo, "tree")
    page = Project(tmp_path / "a tree\nß").write(".morph/features/tree/handoff.md", "x")
    shop.write(".morph/features/here/handoff.md", "x")
    document = {one["feature"]: one for one in as_json(board(repo))["features"]}
    tree = document["tree"]
    assert [one["session"] for one in tree["claims"]] == ["s1"] and document["here"]["claims"] == []
    assert (tree["claim"], document["here"]["claim"]) == ("s1", None)
    assert tree["ports"] == {"base": block.base, "range": 10} and document["here"]["ports"] is None
    assert tree["handoff"] == os.path.realpath(page) and document["here"]["handoff"].endswith("here/handoff.md")
    assert document["branch"]["handoff"] is None


def test_claims_that_cannot_be_read_are_unknown(shop: Project) -> None:
    repo = open_repo(shop.root)
    repo.store.mkdir(exist_ok=True)
    (repo.store / "claims.json").write_text("{")
    document = as_json(board(repo))
    assert document["claims"]["known"] is False and document["claims"]["reason"]
    assert {one["claims"] for one in document["features"]} == {None}


def test_looking_changes_nothing(shop: Project) -> None:
    index = (shop.root / ".git/index").read_bytes()
    before = sorted(os.walk(shop.root))
    board(open_repo(shop.root))
    assert (shop.root / ".git/index").read_bytes() == index
    assert sorted(os.walk(shop.root)) == before


def test_a_tree_that_git_cannot_read_is_unknown(shop: Project, tmp_path: Path) -> None:
    (shop.root / ".git/worktrees").joinpath(next(iter(os.listdir(shop.root / ".git/worktrees"))), "index").write_text(
        "x"
    )
    assert posts(shop)["tree"].changed is None
    assert uncommitted([tmp_path]) == {tmp_path: None}


def test_a_repository_without_a_main_tree(project: Project, tmp_path: Path) -> None:
    on_branch(project, "cart", record())
    bare = tmp_path / "bare.git"
    project.git("clone", "-q", "--bare", str(project.root), str(bare))
    project.git("--git-dir", str(bare), "worktree", "add", "-q", str(tmp_path / "w"), "morph/cart")
    assert posts(project, tmp_path / "w")["cart"].tree == Path(os.path.realpath(tmp_path / "w"))


def test_many_things_are_done_a_few_at_a_time() -> None:
    meeting = threading.Barrier(2, timeout=20)

    def together(number: int) -> int:
        meeting.wait()
        return number * 2

    assert in_parallel(together, [1, 2]) == {1: 2, 2: 4}
    assert in_parallel(together, []) == {}

    def fail(number: int) -> int:
        raise ValueError(number)

    with pytest.raises(ValueError, match=r"[0-9]"):
        in_parallel(fail, list(range(50)))
