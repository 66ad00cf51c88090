from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.codegraph.outdated import CURRENT, STALE, UNKNOWN, Landed, Outdated
from morph_tasks.errors import Refusal
from morph_tasks.gates import planning
from morph_tasks.gates.signals.base import Facts, Reading
from morph_tasks.gates.signals.plan_outdated import read
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))
POLICY = {"approvalGates": {"plan": {"approved": True, "approvedBy": "policy:chore"}}}
LANDED = tuple(Landed(f"{number}" * 40, "s", feature, True, True, ()) for number, feature in enumerate(["tea", None]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "2-plan").mkdir()
    (tmp_path / "2-plan/plan.md").write_text("# Plan\n")
    return tmp_path


def look(monkeypatch: pytest.MonkeyPatch, folder: Path, found: Outdated | Refusal, gate: str, data: Any = None) -> Any:
    def ask(*_: Any) -> Outdated:
        if isinstance(found, Refusal):
            raise found
        return found

    monkeypatch.setattr(planning, "outdated", ask)
    return read(Facts(REPO, "shop", folder, data or {}, gate))


def test_a_plan_that_a_merge_overtook_pauses_its_own_gate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    reading = look(monkeypatch, folder, Outdated(STALE, landed=LANDED), "plan")
    assert reading.values == {"planStaleByMerge": True, "planStaleByMergeReason": "0000000000 of morph/tea, 1111111111"}
    assert reading.pause and "0000000000 of morph/tea" in reading.pause and reading.warning is None


@pytest.mark.parametrize("gate", ["uiux", "review"])
def test_later_gates_hear_of_it(monkeypatch: pytest.MonkeyPatch, folder: Path, gate: str) -> None:
    reading = look(monkeypatch, folder, Outdated(STALE, landed=LANDED), gate)
    assert reading.pause is None and reading.warning and "stale by a merge" in reading.warning


@pytest.mark.parametrize("found", [Outdated(UNKNOWN, "no base"), Refusal("command-failed", "no base")])
def test_what_is_not_known_is_said_and_pauses_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path, found: Outdated | Refusal
) -> None:
    reading = look(monkeypatch, folder, found, "plan")
    assert (reading.values["planStaleByMerge"], reading.pause) == (None, None)
    assert reading.warning == "not verified whether the plan is stale by a merge: no base"


def test_a_plan_that_is_current_says_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert look(monkeypatch, folder, Outdated(CURRENT), "plan") == Reading({"planStaleByMerge": False})


def test_who_owes_no_plan_is_not_asked(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    never = Refusal("asked", "nobody should ask")
    assert look(monkeypatch, folder, never, "plan", POLICY) == Reading({"planStaleByMerge": None})
    assert look(monkeypatch, folder / "2-plan", never, "plan") == Reading({"planStaleByMerge": None})
