from __future__ import annotations

from pathlib import Path

from morph_tasks.features.outputs import outputs_of, phases


def test_what_exists_is_listed_by_phase(tmp_path: Path) -> None:
    assert outputs_of(tmp_path) == {}
    (tmp_path / "2-plan").mkdir()
    (tmp_path / "2-plan/plan.md").write_text("# Plan")
    (tmp_path / "3-implement/reports").mkdir(parents=True)
    assert outputs_of(tmp_path) == {"plan": ["2-plan/plan.md"]}
    (tmp_path / "3-implement/reports/F1.md").write_text("done")
    assert outputs_of(tmp_path)["implement"] == ["3-implement/reports/"]


def test_every_phase_says_what_it_makes() -> None:
    for phase in phases():
        assert {"id", "folder", "gate", "requiredOutputs", "optionalOutputs", "pausePoints"} <= set(phase)
