from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.gates import planning
from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.plan_checks import read
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))
POLICY = {"approvalGates": {"plan": {"approved": True, "approvedBy": "policy:chore"}}}


def look(gate: str = "plan", data: Any = None) -> Any:
    return read(Facts(REPO, "shop", Path("/none"), data or {}, gate))


@pytest.mark.parametrize(
    ("state", "pauses"), [("fresh", False), ("absent", True), ("stale", True), ("unreadable", True)]
)
def test_only_fresh_passes(world: Any, state: str, pauses: bool) -> None:
    world.plan_state = state
    reading = look()
    assert reading.values == {"planChecks": state} and bool(reading.pause) is pauses


def test_later_gates_do_not_ask(world: Any) -> None:
    world.plan_state = "stale"
    assert look("review").values == {} and look("uiux").pause is None


def test_a_plan_passed_by_policy_owes_no_checks(world: Any) -> None:
    world.plan_state = "absent"
    assert look(data=POLICY).pause is None
    taken_back = {"approvalGates": {"plan": {"approved": False, "approvedBy": "policy:chore"}}}
    assert look(data=taken_back).pause


def test_a_plan_that_cannot_be_read_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: Any) -> str:
        raise Refusal("unreadable-file", "plan.md cannot be read")

    monkeypatch.setattr(planning, "plan_state", ask)
    assert "cannot be read" in look().pause
