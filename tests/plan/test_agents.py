from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.framework_files import framework_path
from morph_tasks.plan.agents import OWN, Agents, agents_of, read_agents


def put(root: Path, text: str) -> None:
    path = root / OWN
    path.parent.mkdir(parents=True)
    path.write_text(text)


def refusal(root: Path) -> Refusal:
    with pytest.raises(Refusal) as refused:
        read_agents(root)
    return refused.value


def test_the_personas_of_the_package(tmp_path: Path) -> None:
    agents = read_agents(tmp_path)
    assert {"python-senior", "ts-senior", "dotnet-senior", "ef-modeler", "maf-expert", "ui-designer"} <= set(agents.ids)
    assert "form" in agents.surfaces


def test_the_file_of_a_project_wins(tmp_path: Path) -> None:
    put(tmp_path, '\ufeff{"agents": [{"id": "me"}, {"id": "ui-designer", "surfaces": {"x": {}}}], "more": 1}')
    assert read_agents(tmp_path) == Agents(("me", "ui-designer"), ("x",), OWN)


@pytest.mark.parametrize("text", ["", "{", '{"agents": [}', "\0"])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, text: str) -> None:
    put(tmp_path, text)
    refused = refusal(tmp_path)
    assert refused.code == "corrupt-file" and OWN in refused.what


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ([], "agents"),
        ({}, "agents"),
        ({"agents": {}}, "agents"),
        ({"agents": ["me"]}, "agents[0]"),
        ({"agents": [{"id": "me"}, {"name": "x"}]}, "agents[1]"),
        ({"agents": [{"id": 3}]}, "agents[0]"),
        ({"agents": [{"id": " me"}]}, "agents[0]"),
        ({"agents": [{"id": "me"}, {"id": "me"}]}, "agents[1].id"),
        ({"agents": [{"id": "ui-designer", "surfaces": ["form"]}]}, "agents[0].surfaces"),
    ],
)
def test_a_file_of_another_shape_says_where(tmp_path: Path, data: Any, where: str) -> None:
    put(tmp_path, json.dumps(data))
    refused = refusal(tmp_path)
    assert refused.code == "invalid-agents"
    assert OWN in refused.what and where in refused.what and OWN in refused.fix


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / OWN).mkdir(parents=True)
    assert refusal(tmp_path).code == "unreadable-file"


def test_the_shipped_file_is_whole() -> None:
    data = json.loads(framework_path("agents.json").read_text("utf-8"))
    assert agents_of(data, "x")
    for row in data["agents"]:
        assert set(row) <= {"id", "domains", "standards", "surfaces", "maxTurns", "persona"}
        assert row["domains"] and row["persona"].strip() and isinstance(row["standards"], list)
        assert isinstance(row["maxTurns"], int) and row["maxTurns"] >= 1
        for surface in row.get("surfaces", {}).values():
            assert surface["when"] and surface["standards"]
            assert not set(surface["standards"]) & set(row["standards"])
