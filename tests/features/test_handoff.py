from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features.handoff import handoff, next_step, write_handoff
from morph_tasks.repo.git import Repo, open_repo

YES = {"approved": True, "approvedBy": "manual", "approver": "Ana", "timestamp": "2026-01-01T00:00:00Z"}


def put(root: Path, data: Any, slug: str = "shop") -> Path:
    folder = root / ".morph/features" / slug
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "feature.json").write_text(json.dumps(data))
    return folder


def checked(folder: Path) -> None:
    (folder / "2-plan").mkdir(exist_ok=True)
    (folder / "2-plan/checks.json").write_text(json.dumps({"slices": [{"id": "F1"}]}))


def test_the_page_tells_where_the_feature_stands(tmp_path: Path) -> None:
    data = {
        "name": "The Shop",
        "description": "Sell\nthings",
        "approvalGates": {"plan": YES},
        "gateDecisions": {"review": {"pause": True, "reason": "nothing was verified"}},
        "verification": {"status": "fail", "ts": "2026-02-02T00:00:00Z", "sha": "abcdef0123456789"},
    }
    folder = put(tmp_path, data)
    checked(folder)
    page = write_handoff(tmp_path, "shop").path.read_text()
    assert page.startswith("# shop — The Shop\n")
    for part in (
        "Sell things",
        "phase `implement`",
        "gate `plan`: approved by Ana",
        "gate `review`: open; paused: nothing was verified",
        "last verify: fail, 2026-02-02T00:00:00Z, abcdef0123",
        "F1 (3-implement/reports/F1.md: missing)",
        "`.morph/features/shop/2-plan/checks.json`",
        "Next: `work on F1",
    ):
        assert part in page


def test_the_same_state_is_the_same_file(tmp_path: Path) -> None:
    put(tmp_path, {})
    path = write_handoff(tmp_path, "shop").path
    before = path.stat().st_mtime_ns, path.stat().st_ino
    write_handoff(tmp_path, "shop")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


@pytest.mark.parametrize(
    ("data", "files", "step"),
    [
        ({}, [], "morph-spec plan-check shop"),
        ({}, ["2-plan/checks.json"], "morph-spec advance shop"),
        ({"approvalGates": {"plan": YES}}, ["1-design/mockups.md"], "morph-spec advance shop"),
        ({"approvalGates": {"plan": YES}}, ["3-implement/reports/F1.md"], "morph-spec verify shop"),
        (
            {"approvalGates": {"plan": YES}, "verification": {"status": "pass"}},
            ["3-implement/reports/F1.md"],
            "morph-spec advance shop",
        ),
        (
            {"approvalGates": {"plan": YES}, "verification": {"status": "flaky"}},
            ["4-review/x"],
            "morph-spec verify shop",
        ),
        (
            {"approvalGates": {"plan": YES}, "verification": {"status": "pass"}},
            ["4-review/x"],
            "morph-spec gate-check shop review",
        ),
        ({"approvalGates": {"plan": YES, "review": YES}}, [], "morph-spec finish shop --merge, or --pr"),
    ],
)
def test_the_next_step(tmp_path: Path, data: Any, files: list[str], step: str) -> None:
    folder = put(tmp_path, data)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text" if not name.endswith(".json") else '{"slices": [{"id": "F1"}]}')
    assert next_step(folder, data) == step


def test_it_is_written_in_the_tree_that_owns_the_feature(repo: Repo, tmp_path: Path) -> None:
    put(repo.root, {"description": "frozen"})
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    put(tmp_path / "wt", {"description": "living"})
    made = handoff(repo, "shop")
    assert made.path == tmp_path / "wt/.morph/features/shop/handoff.md"
    assert not (repo.root / ".morph/features/shop/handoff.md").exists()
    assert "frozen" in handoff(repo, "shop", here=True).path.read_text()


def test_a_feature_that_is_only_on_its_branch(repo: Repo) -> None:
    record = repo.root / ".morph/features/shop/feature.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    repo.git("add", "-f", ".morph/features/shop")
    tree = repo.text("write-tree")
    repo.git("branch", "morph/shop", repo.text("commit-tree", "-m", "Shop", "-p", "HEAD", tree))
    repo.git("rm", "-rqf", ".morph/features/shop")
    with pytest.raises(Refusal) as refused:
        handoff(repo, "shop")
    assert refused.value.code == "feature-not-in-tree" and refused.value.payload["branch"] == "morph/shop"
    with pytest.raises(Refusal) as refused:
        handoff(open_repo(repo.root), "cart")
    assert refused.value.code == "feature-not-found"
