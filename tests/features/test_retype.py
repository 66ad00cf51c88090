from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features.retype import retype
from morph_tasks.features.store import read_feature
from morph_tasks.repo.git import Repo

SIGNED = {"approved": True, "approvedBy": "manual", "approver": "Ana", "planHash": "abc"}
CHORE = {"approved": True, "approvedBy": "policy:chore"}


@pytest.fixture
def put(repo: Repo) -> Any:
    def write(data: dict[str, Any]) -> Path:
        path = repo.root / ".morph/features/shop/feature.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"description": "d", **data}))
        return path

    return write


def test_policies_are_undone_and_signatures_stay(repo: Repo, put: Any) -> None:
    put({"workType": "chore", "approvalGates": {"plan": SIGNED, "uiux": CHORE}})
    made = retype(repo, "shop", "feature")
    data = read_feature(repo.root, "shop")
    assert data["workType"] == "feature" and data["approvalGates"] == {"plan": SIGNED}
    assert (made.undone, made.stamped, made.kept, made.phase) == (("uiux",), (), ("plan",), "implement")


def test_small_work_that_grows_is_planned_after_all(repo: Repo, put: Any) -> None:
    put({"workType": "chore", "approvalGates": {"plan": CHORE, "uiux": CHORE}})
    assert retype(repo, "shop", "bug").phase == "plan"


def test_a_feature_that_shrinks_passes_by_policy(repo: Repo, put: Any) -> None:
    put({"approvalGates": {"plan": {"approved": False}}})
    made = retype(repo, "shop", "hotfix")
    gates = read_feature(repo.root, "shop")["approvalGates"]
    assert {gate: record["approvedBy"] for gate, record in gates.items()} == dict.fromkeys(
        ("plan", "uiux"), "policy:hotfix"
    )
    assert made.stamped == ("plan", "uiux") and made.before == "feature"


def test_a_policy_is_replaced_by_the_new_types(repo: Repo, put: Any) -> None:
    put({"workType": "chore", "approvalGates": {"plan": CHORE, "uiux": SIGNED}})
    made = retype(repo, "shop", "hotfix")
    gates = read_feature(repo.root, "shop")["approvalGates"]
    assert gates["plan"]["approvedBy"] == "policy:hotfix" and gates["uiux"] == SIGNED
    assert made.undone == () and made.kept == ("uiux",)


def test_the_same_type_changes_nothing(repo: Repo, put: Any) -> None:
    path = put({"workType": "chore", "approvalGates": {"plan": CHORE}})
    before = path.read_bytes()
    assert retype(repo, "shop", "chore").undone == ()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"approvalGates": {"plan": SIGNED, "review": SIGNED}}, "review-approved"),
        ({"status": "abandoned"}, "feature-not-active"),
    ],
)
def test_settled_work_keeps_its_type(repo: Repo, put: Any, data: Any, code: str) -> None:
    path = put(data)
    before = path.read_bytes()
    for work_type in ("bug", "feature"):
        with pytest.raises(Refusal) as refused:
            retype(repo, "shop", work_type)
        assert refused.value.code == code
    assert path.read_bytes() == before


def test_another_tree_owns_the_feature(repo: Repo, put: Any, tmp_path: Path) -> None:
    put({})
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    with pytest.raises(Refusal) as refused:
        retype(repo, "shop", "bug", command="retype shop bug")
    assert refused.value.code == "owner-tree-elsewhere"
