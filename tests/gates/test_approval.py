from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.gates.approval import Consent, approve, unapprove
from morph_tasks.gates.check import decide, gate_check
from morph_tasks.repo.git import Repo

AUTO, ANA = Consent(), Consent(approver="Ana")
YES = {"approved": True, "approvedBy": "manual", "approver": "Ana"}
POLICY = {"approved": True, "approvedBy": "policy:chore", "timestamp": "2026-01-01T00:00:00Z"}


def refusal(repo: Repo, gate: str, consent: Consent) -> Refusal:
    path = repo.root / ".morph/features/shop/feature.json"
    before = path.read_bytes()
    with pytest.raises(Refusal) as caught:
        approve(repo, "shop", gate, consent)
    assert path.read_bytes() == before
    return caught.value


def set_trust(repo: Repo, trust: str) -> None:
    (repo.root / ".morph/config").mkdir(parents=True, exist_ok=True)
    (repo.root / ".morph/config/config.json").write_text(json.dumps({"trust": trust}))


def test_a_checked_plan_is_approved_automatically(repo: Repo, saved: Any) -> None:
    made = approve(repo, "shop", "plan", AUTO)
    record = saved(repo)["approvalGates"]["plan"]
    assert record == made.record and made.changed and made.phase == "implement"
    assert (record["approved"], record["approvedBy"], record["planHash"]) == (True, "auto", "abc123")
    assert "approver" not in record and record["timestamp"].endswith("Z")
    assert saved(repo)["status"] == "in_progress"


def test_a_person_signs_with_a_name(repo: Repo, saved: Any) -> None:
    approve(repo, "shop", "plan", ANA)
    record = saved(repo)["approvalGates"]["plan"]
    assert (record["approvedBy"], record["approver"], record["planHash"]) == ("manual", "Ana", "abc123")
    assert "overrode" not in record


def test_what_pauses_is_not_approved_automatically(repo: Repo, world: Any) -> None:
    world.plan_state = "stale"
    error = refusal(repo, "plan", AUTO)
    assert error.code == "gate-paused" and "--approver" in error.fix
    assert error.payload["reasons"] and error.payload["signals"]["planChecks"] == "stale"


def test_force_is_about_order_only(repo: Repo, world: Any) -> None:
    world.plan_state = "stale"
    assert refusal(repo, "plan", Consent(force=True)).code == "gate-paused"


def test_a_person_may_sign_over_a_pause_and_it_shows(repo: Repo, world: Any, saved: Any) -> None:
    world.plan_state = "stale"
    made = approve(repo, "shop", "plan", ANA)
    assert any("stale" in reason for reason in saved(repo)["approvalGates"]["plan"]["overrode"])
    assert any("stale" in line for line in made.warnings)


def test_the_review_waits_for_a_person_until_it_is_evaluated_whole(
    repo: Repo, write: Any, saved: Any, passed: Any
) -> None:
    write(repo, {"verification": passed, "approvalGates": {"plan": YES}})
    assert refusal(repo, "review", AUTO).payload["notEvaluated"]
    assert refusal(repo, "review", Consent(self_assessed=True)).code == "gate-paused"
    assert approve(repo, "shop", "review", ANA).phase == "aguardando-merge"
    assert "planHash" not in saved(repo)["approvalGates"]["review"]


@pytest.mark.usefixtures("complete")
def test_a_proven_review_is_approved_automatically(repo: Repo, write: Any, passed: Any) -> None:
    write(repo, {"verification": passed, "approvalGates": {"plan": YES}})
    assert approve(repo, "shop", "review", AUTO).record["approvedBy"] == "auto"


@pytest.mark.usefixtures("complete")
def test_a_hotfix_is_signed_by_a_person(repo: Repo, write: Any, passed: Any) -> None:
    write(repo, {"verification": passed, "workType": "hotfix", "approvalGates": {"plan": POLICY, "uiux": POLICY}})
    assert refusal(repo, "review", AUTO).code == "gate-paused"
    assert refusal(repo, "review", Consent(force=True)).code == "gate-paused"
    assert approve(repo, "shop", "review", ANA).record["approver"] == "Ana"


@pytest.mark.parametrize("gate", ["plan", "uiux", "review"])
def test_under_manual_trust_only_people_approve(repo: Repo, write: Any, gate: str) -> None:
    write(repo, {"approvalGates": {"plan": YES}} if gate != "plan" else {})
    set_trust(repo, "manual")
    assert refusal(repo, gate, AUTO).code == "trust-manual"
    assert approve(repo, "shop", gate, ANA).record["approvedBy"] == "manual"


def test_trust_assumed_in_a_check_does_not_open_the_door(repo: Repo) -> None:
    set_trust(repo, "manual")
    assert not gate_check(repo, "shop", "plan", trust="auto").pause
    assert refusal(repo, "plan", AUTO).code == "trust-manual"


def test_a_pause_by_hand_stops_the_automatic_approval(repo: Repo) -> None:
    decide(repo, "shop", "plan", pause=True, reason="ask legal first")
    error = refusal(repo, "plan", AUTO)
    assert error.code == "gate-paused" and "ask legal first" in error.what
    decide(repo, "shop", "plan", pause=False)
    assert approve(repo, "shop", "plan", AUTO).changed


def test_a_decision_by_hand_does_not_outweigh_facts(repo: Repo, world: Any) -> None:
    world.plan_state = "absent"
    decide(repo, "shop", "plan", pause=False, reason="looks fine to me")
    assert refusal(repo, "plan", AUTO).code == "gate-paused"


def test_what_the_session_said_at_the_check_still_counts(repo: Repo) -> None:
    gate_check(repo, "shop", "plan", given={"standardsViolations": ["raw sql"]})
    assert "raw sql" in refusal(repo, "plan", AUTO).what
    gate_check(repo, "shop", "plan", given={"standardsViolations": []})
    assert approve(repo, "shop", "plan", AUTO).changed


# Order


@pytest.mark.parametrize("gate", ["uiux", "review"])
def test_the_plan_comes_first(repo: Repo, gate: str, saved: Any) -> None:
    error = refusal(repo, gate, ANA)
    assert error.code == "gate-order" and error.payload["missing"] == ["plan"]
    assert error.fix.startswith("morph-spec approve shop plan --approver Ana, or ") and error.fix.endswith(" --force")
    approve(repo, "shop", gate, Consent(approver="Ana", force=True))
    assert saved(repo)["approvalGates"][gate]["outOfOrder"] is True


def test_the_design_comes_before_the_review_where_it_was_begun(repo: Repo, write: Any) -> None:
    write(repo, {"approvalGates": {"plan": YES}})
    (repo.root / ".morph/features/shop/1-design").mkdir()
    assert refusal(repo, "review", ANA).payload["missing"] == ["uiux"]


@pytest.mark.parametrize("status", ["abandoned", "archived"])
def test_dead_work_is_not_approved(repo: Repo, write: Any, status: str) -> None:
    write(repo, {"status": status})
    assert refusal(repo, "plan", ANA).code == "feature-not-active"


# Policy


def test_a_plan_approved_by_policy_is_approved_already(repo: Repo, write: Any, saved: Any, world: Any) -> None:
    world.plan_state = "absent"
    write(repo, {"workType": "chore", "approvalGates": {"plan": POLICY, "uiux": POLICY}})
    made = approve(repo, "shop", "plan", AUTO)
    assert not made.changed and made.record == POLICY and saved(repo)["approvalGates"]["plan"] == POLICY


def test_a_person_may_sign_a_plan_that_policy_passed(repo: Repo, write: Any, saved: Any) -> None:
    write(repo, {"workType": "chore", "approvalGates": {"plan": POLICY}})
    approve(repo, "shop", "plan", ANA)
    record = saved(repo)["approvalGates"]["plan"]
    assert (record["approvedBy"], record["planHash"]) == ("manual", "abc123")


def test_a_policy_taken_back_is_gone(repo: Repo, write: Any, world: Any) -> None:
    write(repo, {"workType": "chore", "approvalGates": {"plan": POLICY}})
    unapprove(repo, "shop", "plan")
    world.plan_state = "absent"
    assert refusal(repo, "plan", AUTO).code == "gate-paused"


# Again, and back


def test_approving_twice_changes_nothing_until_the_plan_does(repo: Repo, saved: Any, world: Any) -> None:
    approve(repo, "shop", "plan", AUTO)
    first = saved(repo)
    assert not approve(repo, "shop", "plan", AUTO).changed and saved(repo) == first
    world.plan_hash = "def456"
    assert approve(repo, "shop", "plan", AUTO).changed
    assert saved(repo)["approvalGates"]["plan"]["planHash"] == "def456"


def test_an_approval_taken_back_frees_the_plan(repo: Repo, saved: Any) -> None:
    approve(repo, "shop", "plan", ANA)
    made = unapprove(repo, "shop", "plan")
    record = saved(repo)["approvalGates"]["plan"]
    assert made.changed and made.phase == "plan"
    assert record["approved"] is False and "planHash" not in record and "approver" not in record


def test_taking_back_what_nobody_gave_changes_nothing(repo: Repo, saved: Any) -> None:
    before = saved(repo)
    assert not unapprove(repo, "shop", "review").changed
    assert saved(repo) == before


def test_later_approvals_are_named(repo: Repo, write: Any) -> None:
    write(repo, {"approvalGates": {"plan": YES, "review": YES}})
    assert "review" in unapprove(repo, "shop", "plan").warnings[0]


def test_another_tree_owns_the_feature(repo: Repo, tmp_path: Path) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "First")
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    assert refusal(repo, "plan", Consent(approver="Ana", force=True)).code == "owner-tree-elsewhere"
    with pytest.raises(Refusal) as caught:
        unapprove(repo, "shop", "plan")
    assert caught.value.code == "owner-tree-elsewhere"


def test_a_self_assessed_review_is_marked(repo: Repo, write: Any, saved: Any) -> None:
    write(repo, {"approvalGates": {"plan": YES}})
    approve(repo, "shop", "review", Consent(approver="Ana", self_assessed=True))
    assert saved(repo)["approvalGates"]["review"]["selfAssessed"] is True
