from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from morph_tasks.model import schemas
from morph_tasks.plan.agents import read_agents
from morph_tasks.plan.check import check_plan
from morph_tasks.plan.checks_file import checks_of
from morph_tasks.plan.guide import EXAMPLE
from morph_tasks.plan.record import AdrIndex


@pytest.mark.parametrize("name", sorted(schemas.SCHEMAS))
def test_a_schema_is_what_its_model_says(name: str) -> None:
    """When this fails: python -m morph_tasks.model.schemas."""
    assert name not in schemas.drifted()
    jsonschema.Draft202012Validator.check_schema(json.loads(schemas.generate(name)))


def test_drift_is_said_and_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schemas, "framework_path", lambda name: tmp_path / name)
    assert schemas.main(["--check"]) == 1
    assert "stale checks.schema.json" in capsys.readouterr().out
    assert not (tmp_path / "schemas").exists()
    assert schemas.main([]) == 0
    assert "wrote checks.schema.json" in capsys.readouterr().out
    assert schemas.main(["--check"]) == 0
    assert schemas.drifted() == []


def test_the_schema_of_checks_accepts_what_is_written_and_refuses_the_rest(tmp_path: Path) -> None:
    made = checks_of(check_plan(EXAMPLE, read_agents(tmp_path), AdrIndex()))
    validator = jsonschema.Draft202012Validator(json.loads(schemas.generate("checks.schema.json")))
    assert list(validator.iter_errors(made)) == []
    for broken in ({**made, "version": 2}, {**made, "plan": {"hash": "x"}}, {**made, "waves": [["X1"]]}):
        assert list(validator.iter_errors(broken))
    assert list(validator.iter_errors({key: value for key, value in made.items() if key != "slices"}))
