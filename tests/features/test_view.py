from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.features.shape import GATES
from morph_tasks.features.view import by_policy, derive_phase, view_of
from morph_tasks.framework_files import framework_path

YES = {"approved": True, "approvedBy": "manual"}


@pytest.mark.parametrize(
    ("gates", "design", "review", "phase"),
    [
        ({}, False, False, "plan"),
        ({}, True, True, "plan"),
        ({"plan": {"approved": False}}, False, False, "plan"),
        ({"plan": YES}, False, False, "implement"),
        ({"plan": YES}, True, False, "uiux"),
        ({"plan": YES, "uiux": YES}, True, False, "implement"),
        ({"plan": YES}, False, True, "review"),
        ({"plan": YES}, True, True, "uiux"),
        ({"plan": YES, "review": YES}, False, True, "aguardando-merge"),
    ],
)
def test_the_phase_follows_the_gates(gates: dict[str, Any], design: bool, review: bool, phase: str) -> None:
    assert derive_phase({"approvalGates": gates}, design=design, review=review) == phase


def test_archived_beats_gates() -> None:
    assert derive_phase({"status": "archived"}, design=False, review=False) == "archived"


def test_old_features_without_a_type_are_features(tmp_path: Path) -> None:
    view = view_of(tmp_path, {"description": "d"})
    assert (view.work_type, view.status, view.phase, view.name) == ("feature", "draft", "plan", tmp_path.name)


@pytest.mark.parametrize(
    ("data", "flags"),
    [
        ({"description": "d"}, ()),
        ({}, ("no-description",)),
        ({"description": " \n"}, ("no-description",)),
        ({"description": "d", "approvalGates": {"review": YES}}, ("gate-order",)),
        ({"description": "d", "approvalGates": {"uiux": YES}}, ("gate-order",)),
        ({"description": "d", "approvalGates": {"plan": YES, "review": YES}}, ()),
        (
            {"description": "d", "approvalGates": {"plan": YES, "review": {**YES, "selfAssessed": True}}},
            ("self-assessed",),
        ),
    ],
)
def test_flags(tmp_path: Path, data: dict[str, Any], flags: tuple[str, ...]) -> None:
    assert view_of(tmp_path, data).flags == flags


def test_a_review_before_the_design_is_out_of_order(tmp_path: Path) -> None:
    (tmp_path / "1-design").mkdir()
    data = {"description": "d", "approvalGates": {"plan": YES, "review": YES}}
    assert view_of(tmp_path, data).flags == ("gate-order",)


def test_only_a_standing_policy_counts() -> None:
    gates = {
        "plan": {"approved": True, "approvedBy": "policy:chore"},
        "uiux": {"approved": False, "approvedBy": "policy:x"},
    }
    assert by_policy({"approvalGates": gates}, "plan")
    assert not by_policy({"approvalGates": gates}, "uiux")
    assert not by_policy({"approvalGates": {"plan": YES}}, "plan")


def test_the_shipped_phases_are_the_ones_derived_here() -> None:
    phases = json.loads(framework_path("phases.json").read_text())["phases"]
    assert [phase["id"] for phase in phases] == ["plan", "uiux", "implement", "review", "aguardando-merge", "archived"]
    gates: dict[str, Any] = {}
    folders: set[str] = set()
    for phase in phases:  # walk the path: approve the gate, make the folder of the next one
        folders.add(phase["folder"] or "")
        if phase["id"] == "uiux":
            assert derive_phase({"approvalGates": gates}, design=True, review=False) == "uiux"
        status = "archived" if phase["id"] == "archived" else "in_progress"
        data = {"approvalGates": gates, "status": status}
        assert derive_phase(data, design="1-design" in folders, review="4-review" in folders) == phase["id"]
        if phase["gate"]:
            gates[phase["gate"]] = YES
            assert phase["pausePoints"] == [phase["gate"]] and phase["gate"] in GATES
