from __future__ import annotations

import json
from typing import Any

import click
import pytest

from morph_tasks.cli.e2e import e2e
from morph_tasks.cli.env import env
from morph_tasks.errors import Refusal
from tests.conftest import Project


def _run(command: click.Command, *args: str) -> Any:
    return command.main(args=list(args), standalone_mode=False)


@pytest.fixture
def feature(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    monkeypatch.chdir(project.root)
    return project


def test_env_prints_what_a_shell_can_load(feature: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(env) == 0  # the branch is morph/cart
    said = capsys.readouterr()
    assert "export COMPOSE_PROJECT_NAME=morph-cart\n" in said.out and said.err == ""
    port = next(line.partition("=")[2] for line in said.out.splitlines() if line.startswith("export PORT="))
    _run(env, "cart", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["feature"], document["env"]["PORT"]) == ("cart", port)
    _run(env, "cart", "--fish")
    assert f"set -gx PORT '{port}'" in capsys.readouterr().out
    _run(env, "cart", "--powershell")
    assert f"$env:PORT = '{port}'" in capsys.readouterr().out


def test_what_a_credentials_file_may_not_say_goes_to_stderr(
    feature: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    feature.write(".env.e2e", "PORT=1\nE2E_USER=tess\n")
    feature.config(e2e={"auth": {"mode": "none", "envFile": ".env.e2e"}})
    _run(env, "cart")
    said = capsys.readouterr()
    assert "export E2E_USER=tess" in said.out and "warning" not in said.out and "PORT=1\n" not in said.out
    assert said.err.count("PORT is not taken") == 1


@pytest.mark.parametrize(
    ("args", "code"),
    [(["nope"], "feature-not-found"), (["cart", "--json", "--fish"], "usage"), (["--fish", "--powershell"], "usage")],
)
def test_wrong_words_of_env_are_usage(feature: Project, args: list[str], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        _run(env, *args)
    assert (caught.value.code, caught.value.exit_code) == (code, 2)


def test_a_branch_without_a_feature_is_usage(feature: Project) -> None:
    feature.git("checkout", "-q", "-b", "other")
    with pytest.raises(Refusal) as caught:
        _run(env)
    assert (caught.value.code, caught.value.exit_code) == ("feature-not-named", 2)


def test_up_without_anything_to_bring_up(feature: Project) -> None:
    with pytest.raises(Refusal) as caught:
        _run(e2e, "up", "cart")
    assert caught.value.code == "not-containerized"
    feature.config(project={"stack": "python+docker"})
    with pytest.raises(Refusal) as caught:
        _run(e2e, "up", "cart")
    assert caught.value.code == "compose-missing"


def test_another_tree_is_sent_to_the_one_that_owns_the_feature(feature: Project) -> None:
    feature.git("checkout", "-q", "main")
    feature.git("worktree", "add", "-q", "../cart-tree", "morph/cart")
    with pytest.raises(Refusal) as caught:
        _run(e2e, "up", "cart", "--fresh")
    assert caught.value.code == "owner-tree-elsewhere"
    assert caught.value.fix.endswith("morph-spec e2e up cart --fresh")


@pytest.mark.parametrize("command", ["status", "down"])
def test_nothing_was_ever_up(
    feature: Project, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{feature.root}/none.sock")
    assert _run(e2e, command, "cart", "--json") == (0 if command == "down" else 1)
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is (command == "down")
    # Looking and taking down allocate nothing.
    assert not (feature.root / ".git/morph-spec/ports.json").exists()
