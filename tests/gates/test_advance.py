from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.gates.advance import Advanced, advance
from morph_tasks.gates.approval import Consent
from morph_tasks.gates.check import decide
from morph_tasks.repo.git import Repo

AUTO, ANA, FORCE = Consent(), Consent(approver="Ana"), Consent(force=True)
YES = {"approved": True, "approvedBy": "manual"}
POLICY = {"approved": True, "approvedBy": "policy:chore"}


def folder(repo: Repo) -> Path:
    return repo.root / ".morph/features/shop"


def slices(repo: Repo, *ids: str) -> None:
    (folder(repo) / "2-plan/checks.json").write_text(json.dumps({"slices": [{"id": one} for one in ids]}))


def report(repo: Repo, slice_id: str, text: str = "Done.\n") -> None:
    path = folder(repo) / "3-implement/reports" / f"{slice_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def refused(repo: Repo, consent: Consent = AUTO, **named: Any) -> Refusal:
    before = snapshot(repo)
    with pytest.raises(Refusal) as caught:
        advance(repo, "shop", consent, **named)
    assert snapshot(repo) == before
    return caught.value


def snapshot(repo: Repo) -> Any:
    morph = repo.root / ".morph"
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(morph.rglob("*"))}


def step(made: Advanced) -> tuple[str, str]:
    return made.before, made.after


def test_the_whole_way(repo: Repo, saved: Any) -> None:
    slices(repo, "F1")
    (folder(repo) / "2-plan/plan.md").write_text("# Plan\n")
    assert step(advance(repo, "shop", AUTO)) == ("plan", "implement")
    assert saved(repo)["approvalGates"]["plan"]["planHash"] == "abc123"
    assert (folder(repo) / "3-implement/reports").is_dir()
    report(repo, "F1")
    made = advance(repo, "shop", AUTO)
    assert step(made) == ("implement", "review") and made.approval is None and made.skipped == ()
    assert step(advance(repo, "shop", ANA)) == ("review", "aguardando-merge")
    error = refused(repo, ANA)
    assert (error.code, error.fix) == ("nothing-to-advance", "morph-spec finish shop --merge")
    assert saved(repo)["outputs"] == {
        "plan": ["2-plan/plan.md", "2-plan/checks.json"],
        "implement": ["3-implement/reports/"],
    }
    assert "Next: `morph-spec finish shop --merge, or --pr`" in (folder(repo) / "handoff.md").read_text()


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_way_over_the_design(repo: Repo, language: str) -> None:
    (repo.root / ".morph/config").mkdir()
    (repo.root / ".morph/config/config.json").write_text(json.dumps({"language": language}))
    made = advance(repo, "shop", AUTO, design=True)
    assert step(made) == ("plan", "uiux")
    mockups, system = folder(repo) / "1-design/mockups.md", repo.root / ".morph/context/design-system.md"
    assert ("Tela" if language == "pt-BR" else "Screen") in mockups.read_text() and system.exists()
    assert {".morph/features/shop/1-design/mockups.md", ".morph/context/design-system.md"} <= set(made.files)
    assert refused(repo).code == "gate-paused"  # mockups that nothing evaluates yet
    assert refused(repo, design=True).code == "design-too-late"
    assert step(advance(repo, "shop", ANA)) == ("uiux", "implement")


def test_what_is_there_is_never_overwritten(repo: Repo) -> None:
    (folder(repo) / "1-design").mkdir()
    (folder(repo) / "1-design/mockups.md").write_text("mine")
    (repo.root / ".morph/context").mkdir()
    (repo.root / ".morph/context/design-system.md").write_text("ours")
    advance(repo, "shop", AUTO, design=True)
    assert (folder(repo) / "1-design/mockups.md").read_text() == "mine"
    assert (repo.root / ".morph/context/design-system.md").read_text() == "ours"


def test_the_design_may_begin_after_the_plan_was_approved(repo: Repo, write: Any) -> None:
    write(repo, {"approvalGates": {"plan": YES}})
    assert step(advance(repo, "shop", AUTO, design=True)) == ("implement", "uiux")


def test_a_design_that_policy_passed_over_is_looked_at_when_it_is_made(repo: Repo, write: Any, saved: Any) -> None:
    write(repo, {"workType": "chore", "approvalGates": {"plan": POLICY, "uiux": POLICY}})
    assert step(advance(repo, "shop", AUTO, design=True)) == ("implement", "uiux")
    assert set(saved(repo)["approvalGates"]) == {"plan"}


def test_a_gate_that_pauses_stops_the_step(repo: Repo, world: Any) -> None:
    world.plan_state = "stale"
    assert refused(repo).code == "gate-paused"
    assert refused(repo, FORCE).code == "gate-paused"
    assert step(advance(repo, "shop", ANA)) == ("plan", "implement")


def test_a_pause_by_hand_stops_the_step(repo: Repo) -> None:
    decide(repo, "shop", "plan", pause=True, reason="ask legal")
    assert "ask legal" in refused(repo).what
    decide(repo, "shop", "plan", pause=False)
    assert step(advance(repo, "shop", AUTO)) == ("plan", "implement")


@pytest.fixture
def implementing(repo: Repo, write: Any) -> Repo:
    write(repo, {"approvalGates": {"plan": YES}})
    slices(repo, "F1", "F2")
    report(repo, "F1")
    report(repo, "F2")
    return repo


@pytest.mark.parametrize(
    ("text", "problem"), [(None, "missing"), ("", "empty"), ("PARCIAL\nhalf", "partial"), ("# F2 PARTIAL", "partial")]
)
def test_every_slice_owes_a_final_report(implementing: Repo, text: str | None, problem: str) -> None:
    path = folder(implementing) / "3-implement/reports/F2.md"
    path.unlink() if text is None else path.write_text(text)
    error = refused(implementing, ANA)
    assert error.code == "reports-missing" and "3-implement/reports/F2.md" in error.what
    assert error.payload["reports"] == [{"slice": "F2", "path": "3-implement/reports/F2.md", "problem": problem}]
    made = advance(implementing, "shop", FORCE)
    assert made.after == "review" and "F2.md" in made.skipped[0]


def test_without_checks_no_slice_is_known(implementing: Repo) -> None:
    (folder(implementing) / "2-plan/checks.json").unlink()
    error = refused(implementing)
    assert error.code == "checks-missing" and "checks.json" in error.what
    assert "checks.json" in advance(implementing, "shop", FORCE).skipped[0]


def test_checks_of_another_plan_prove_nothing(implementing: Repo, world: Any) -> None:
    world.plan_state = "stale"
    assert refused(implementing).code == "checks-stale"
    assert advance(implementing, "shop", FORCE).skipped


@pytest.mark.parametrize("status", ["abandoned", "archived"])
def test_dead_work_goes_nowhere(repo: Repo, write: Any, status: str) -> None:
    write(repo, {"status": status})
    assert refused(repo, ANA).code == "feature-not-active"


def test_another_tree_owns_the_feature(repo: Repo, tmp_path: Path) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "First")
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    assert refused(repo, Consent("Ana", force=True)).code == "owner-tree-elsewhere"


def test_a_dotnet_project_ignores_its_build_before_the_first_code(repo: Repo) -> None:
    (repo.root / "App.csproj").write_text("")
    assert ".gitignore" in advance(repo, "shop", AUTO).files
    assert (repo.root / ".gitignore").read_text() == "bin/\nobj/\n"
