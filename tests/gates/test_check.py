from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features.store import update_feature
from morph_tasks.gates import check
from morph_tasks.gates.check import decide, evaluate, gate_check
from morph_tasks.repo.git import Repo, open_repo

REVIEW_LATER = ("reviewReports", "scenarioCoverage", "promptModel", "mediaClaims")


def set_trust(repo: Repo, trust: str) -> None:
    (repo.root / ".morph/config").mkdir(parents=True, exist_ok=True)
    (repo.root / ".morph/config/config.json").write_text(json.dumps({"trust": trust}))


def test_a_gate_without_objections_passes_and_is_recorded(repo: Repo, saved: Any) -> None:
    made = gate_check(repo, "shop", "plan")
    assert not made.pause and made.reasons == ()
    record = saved(repo)["gateDecisions"]["plan"]
    assert record == made.record
    assert (record["pause"], record["reason"], record["trust"], record["source"]) == (False, None, "auto", "gate-check")
    assert record["signals"]["planChecks"] == "fresh" and record["decidedAt"].endswith("Z")


def test_every_reason_is_told(repo: Repo, write: Any, world: Any) -> None:
    world.plan_state = "stale"
    write(repo, {"verification": {"status": "fail"}})
    made = gate_check(repo, "shop", "plan", given={"standardsViolations": ["raw sql"], "designSystemDivergence": True})
    assert len(made.reasons) == 4
    assert all(part in made.record["reason"] for part in ("stale", "fail", "raw sql", "design"))


def test_the_review_pauses_on_what_nothing_evaluates_yet(repo: Repo, write: Any, passed: Any) -> None:
    write(repo, {"verification": passed})
    made = gate_check(repo, "shop", "review")
    assert made.pause and made.not_evaluated == REVIEW_LATER
    assert len(made.reasons) == 1 and all(name in made.reasons[0] for name in REVIEW_LATER)


@pytest.mark.usefixtures("complete")
def test_a_proven_review_passes(repo: Repo, write: Any, passed: Any) -> None:
    write(repo, {"verification": passed})
    assert not gate_check(repo, "shop", "review").pause


@pytest.mark.usefixtures("complete")
@pytest.mark.parametrize(
    ("data", "stale"),
    [
        ({}, None),
        ({"verification": {"status": "fail"}}, None),
        ({"verification": {"status": "flaky", "nodes": {"e2e": "pass"}}}, None),
        ({"verification": {"status": "pass", "nodes": {"e2e": "skip"}}}, None),
        ({"verification": {"status": "pass", "nodes": {"e2e": "pass"}}}, "the code changed"),
        ({"verification": {"status": "pass", "nodes": {"e2e": "pass"}}, "workType": "hotfix"}, None),
    ],
)
def test_an_unproven_review_pauses(repo: Repo, write: Any, world: Any, data: Any, stale: str | None) -> None:
    write(repo, data)
    world.stale = stale
    assert gate_check(repo, "shop", "review").pause


@pytest.mark.parametrize("gate", ["plan", "uiux", "review"])
def test_under_manual_trust_every_gate_pauses(repo: Repo, gate: str) -> None:
    set_trust(repo, "manual")
    made = gate_check(repo, "shop", gate)
    assert made.pause and made.record["trust"] == "manual" and "trust: manual" in made.record["reason"]


def test_trust_may_be_assumed_for_one_check(repo: Repo) -> None:
    set_trust(repo, "manual")
    assert not gate_check(repo, "shop", "plan", trust="auto").pause
    assert gate_check(repo, "shop", "plan", trust="manual").pause


def test_facts_of_the_disk_cannot_be_given(repo: Repo, write: Any) -> None:
    write(repo, {"verification": {"status": "fail"}, "workType": "hotfix"})
    given = {"verificationStatus": "pass", "workType": "feature", "e2eSkipClass": "project", "mood": "good"}
    made = gate_check(repo, "shop", "review", given=given)
    assert made.ignored == tuple(given)
    assert made.record["signals"]["verificationStatus"] == "fail" and made.record["signals"]["workType"] == "hotfix"


@pytest.mark.parametrize(
    "given",
    [
        {"designSystemDivergence": "false"},
        {"designSystemDivergence": 1},
        {"designSystemDivergence": None},
        {"standardsViolations": "raw sql"},
        {"standardsViolations": [1]},
        {"standardsViolations": None},
    ],
)
def test_a_signal_of_the_wrong_kind_is_usage(repo: Repo, saved: Any, given: Any) -> None:
    with pytest.raises(Refusal) as refused:
        gate_check(repo, "shop", "plan", given=given)
    assert (refused.value.code, refused.value.exit_code) == ("bad-signals", 2)
    assert "gateDecisions" not in saved(repo)


def test_a_pause_by_hand_sticks(repo: Repo, saved: Any, world: Any) -> None:
    decide(repo, "shop", "plan", pause=True, reason="ask legal first")
    world.plan_state = "stale"
    made = gate_check(repo, "shop", "plan")
    record = saved(repo)["gateDecisions"]["plan"]
    assert made.pause and made.reasons[0] == "ask legal first" and len(made.reasons) == 2
    assert (record["reason"], record["source"]) == ("ask legal first", "manual")
    assert record["signals"]["planChecks"] == "stale"
    world.plan_state = "fresh"
    assert gate_check(repo, "shop", "plan").pause


def test_only_a_hand_lifts_it(repo: Repo, saved: Any) -> None:
    decide(repo, "shop", "plan", pause=True)
    decide(repo, "shop", "plan", pause=False, reason="legal said yes")
    assert saved(repo)["gateDecisions"]["plan"]["reason"] == "legal said yes"
    made = gate_check(repo, "shop", "plan")
    assert not made.pause and made.record["source"] == "gate-check"


def test_lifting_a_pause_does_not_lift_the_facts(repo: Repo, write: Any) -> None:
    write(repo, {"verification": {"status": "fail"}})
    decide(repo, "shop", "plan", pause=False)
    assert gate_check(repo, "shop", "plan").pause


def test_a_pause_of_another_gate_is_no_matter(repo: Repo) -> None:
    decide(repo, "shop", "review", pause=True)
    assert not gate_check(repo, "shop", "plan").pause


def test_a_decision_by_hand_may_note_anything_but_facts(repo: Repo, saved: Any) -> None:
    made = decide(
        repo, "shop", "plan", pause=False, signals={"discoveryMode": "interview", "verificationStatus": "pass"}
    )
    assert made.ignored == ("verificationStatus",)
    assert saved(repo)["gateDecisions"]["plan"]["signals"] == {"discoveryMode": "interview"}


def test_other_keys_survive(repo: Repo, write: Any, saved: Any) -> None:
    write(repo, {"later": 1, "gateDecisions": {"uiux": {"pause": False, "x": 2}}})
    gate_check(repo, "shop", "plan")
    assert saved(repo)["later"] == 1 and saved(repo)["gateDecisions"]["uiux"] == {"pause": False, "x": 2}


def test_another_tree_owns_the_feature(repo: Repo, saved: Any, tmp_path: Path) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "First")
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    for call in (
        lambda: gate_check(repo, "shop", "plan", command="gate-check shop plan"),
        lambda: decide(repo, "shop", "plan", pause=False, command="gate-check shop plan"),
    ):
        with pytest.raises(Refusal) as refused:
            call()
        assert refused.value.code == "owner-tree-elsewhere"
        assert refused.value.fix == f"cd {tmp_path / 'wt'} && morph-spec gate-check shop plan"
    assert "gateDecisions" not in saved(repo)
    with pytest.raises(Refusal) as refused:
        gate_check(open_repo(tmp_path / "wt"), "shop", "plan")
    assert refused.value.code == "feature-not-found"


def test_facts_that_move_meanwhile_are_not_decided_on(repo: Repo, saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = check.evaluate

    def slow(*args: Any, **named: Any) -> Any:
        said = real(*args, **named)
        update_feature(repo.root, "shop", lambda data: data.update(verification={"status": "fail"}))
        return said

    monkeypatch.setattr(check, "evaluate", slow)
    with pytest.raises(Refusal) as refused:
        gate_check(repo, "shop", "plan")
    assert (refused.value.code, refused.value.exit_code) == ("changed-meanwhile", 3)
    assert "gateDecisions" not in saved(repo)


def test_evaluating_writes_nothing(repo: Repo, saved: Any) -> None:
    before = saved(repo)
    evaluate(repo, "shop", before, "review", trust="auto")
    assert saved(repo) == before
