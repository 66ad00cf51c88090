from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.stack.inputs import changed, inputs_of
from morph_tasks.stack.logs import cleaned, secrets_of


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "compose.yaml").write_text(
        "include: [other/part.yaml]\nservices:\n  a:\n    image: ${IMAGE:-x}\n    env_file: [vars.env]\n"
        "    extends: {file: base.yml, service: b}\n    environment: {A: $PLAIN, P: 'pa$$word'}\n"
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other/part.yaml").write_text("services: {c: {image: '${DEEP?no}', env_file: own.env}}\n")
    (tmp_path / "other/own.env").write_text("O=1\n")
    (tmp_path / "base.yml").write_text("services: {b: {image: y}}\n")
    (tmp_path / "vars.env").write_text("V=1\n")
    return tmp_path


def test_nothing_changed(tree: Path) -> None:
    env = {"PLAIN": "1"}
    assert changed(inputs_of(tree, ("compose.yaml",), env), env) is None


@pytest.mark.parametrize("name", ["compose.yaml", "base.yml", "vars.env", "other/part.yaml", "other/own.env"])
def test_each_file_that_is_read_counts(tree: Path, name: str) -> None:
    kept = inputs_of(tree, ("compose.yaml",), {})
    with open(tree / name, "a") as file:
        file.write("# more\n")
    assert str(changed(kept, {})).endswith(f"{name} changed")


@pytest.mark.parametrize("name", [".env", "compose.override.yaml", "docker-compose.override.yml"])
def test_a_file_that_appears_counts(tree: Path, name: str) -> None:
    kept = inputs_of(tree, ("compose.yaml",), {})
    (tree / name).write_text("X=1\n")
    assert name in str(changed(kept, {}))


@pytest.mark.parametrize("name", ["IMAGE", "PLAIN", "DEEP", "COMPOSE_PROFILES", "DOCKER_HOST"])
def test_each_variable_that_is_named_counts(tree: Path, name: str) -> None:
    kept = inputs_of(tree, ("compose.yaml",), {"OTHER": "1"})
    assert changed(kept, {"OTHER": "2"}) is None
    assert changed(kept, {name: ""}) == f"the variable {name} changed"


def test_values_are_not_kept(tree: Path) -> None:
    assert "hush-hush" not in str(inputs_of(tree, ("compose.yaml",), {"PLAIN": "hush-hush"}))


def test_secrets_are_taken_out_of_what_is_shown() -> None:
    resolved = {
        "services": {
            "db": {
                "environment": {
                    "POSTGRES_PASSWORD": "pa$$word",
                    "API_TOKEN": "t0ken",
                    "URL": "postgres://u:inner@db/x",
                    "CONNECTION": "Server=db;Password=other;",
                    "MODE": "visible",
                    "USE_KEY": "true",
                    "EMPTY_SECRET": None,
                }
            },
            "list": {"environment": ["OLD_PASSWORD=listed", "PLAIN"]},
        }
    }
    hidden = secrets_of(resolved, ["credential"])
    text = "pa$word t0ken inner other listed credential visible true"
    assert cleaned(text, hidden) == "*** *** *** *** *** *** visible true"
