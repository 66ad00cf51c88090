from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.model.load import Config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.stack import whose
from morph_tasks.stack.env import known_env, stack_env
from morph_tasks.stack.envfile import parse
from morph_tasks.stack.shells import FISH, POSIX, POWERSHELL, lines
from tests.conftest import Project


@pytest.fixture
def repo(project: Project) -> Repo:
    return open_repo(project.root)


def _config(**data: Any) -> Config:
    return Config(data, "x")


def test_the_layout_of_the_block(repo: Repo) -> None:
    assert known_env(repo, _config(), "cart") is None
    found = stack_env(repo, _config(project={"stack": "dotnet+nextjs"}), "cart")
    base = int(found.values["MORPH_PORT_BASE"])
    assert found.values == {
        "PORT": str(base),
        "API_PORT": str(base + 1),
        "POSTGRES_PORT": str(base + 2),
        "REDIS_PORT": str(base + 3),
        "COMPOSE_PROJECT_NAME": "morph-cart",
        "MORPH_FEATURE": "cart",
        "MORPH_PORT_BASE": str(base),
        "MORPH_PORT_RANGE": f"{base}-{base + 9}",
        "PLAYWRIGHT_BASE_URL": f"http://localhost:{base}",
        "ASPNETCORE_URLS": f"http://localhost:{base + 1}",
    }
    assert "ASPNETCORE_URLS" not in stack_env(repo, _config(), "cart").values
    assert known_env(repo, _config(), "cart") == stack_env(repo, _config(), "cart")


def test_declared_names_of_ports(repo: Repo) -> None:
    names = {
        "postgres": "PG_PORT",
        "redis": "PG_PORT",
        "web": "PATH",
        "api": "1BAD",
        "mysql": "MY_PORT",
    }
    found = stack_env(repo, _config(e2e={"portEnvNames": names}), "cart")
    assert found.values["PG_PORT"] == found.values["POSTGRES_PORT"]
    said = "\n".join(found.warnings)
    for port, why in (("redis", "twice"), ("web", "reserved"), ("api", "not the name"), ("mysql", "no port")):
        assert any(f"portEnvNames.{port}" in line and why in line for line in found.warnings), said
    assert "MY_PORT" not in found.values


@pytest.mark.parametrize("odd", [[], "PG", 3, {"web": None}, {"web": {"a": 1}}])
def test_names_that_make_no_sense_are_named_and_not_used(repo: Repo, odd: Any) -> None:
    found = stack_env(repo, _config(e2e={"portEnvNames": odd}), "cart")
    assert any("portEnvNames" in line for line in found.warnings)
    assert set(found.values) == set(stack_env(repo, _config(), "cart").values)


def test_credentials_come_in_and_ports_of_another_tree_do_not(project: Project, repo: Repo) -> None:
    project.write(".env.e2e", "PORT=1\nexport PG_PORT='2'\nE2E_USER=tess\nE2E_PASSWORD='it''s'\nASPNETCORE_URLS=x\n")
    config = _config(e2e={"auth": {"envFile": ".env.e2e"}, "portEnvNames": {"postgres": "PG_PORT"}})
    found = stack_env(repo, config, "cart")
    assert found.values["PORT"] != "1" and found.values["PG_PORT"] == found.values["POSTGRES_PORT"]
    assert found.values["E2E_USER"] == "tess"
    assert "ASPNETCORE_URLS" not in found.values
    for name in ("PORT", "PG_PORT", "ASPNETCORE_URLS"):
        assert any(f" {name} is not taken" in line for line in found.warnings)
    assert "tess" in found.secrets and found.values["PORT"] not in found.secrets


def test_a_missing_credentials_file_is_said(repo: Repo) -> None:
    found = stack_env(repo, _config(e2e={"auth": {"envFile": ".env.none"}}), "cart")
    assert any(".env.none" in line for line in found.warnings)


def test_env_files_as_people_write_them() -> None:
    text = (
        '\ufeff# comment\r\nA=1\r\n export B = two words # note\nC=\'a $b # c\'\nD="x\\ny\\"z"\nE=\nF: yaml\n'
        "=nope\n1X=2\njust words\nG='two\nlines'\nURL=http://a/#b\nOPEN='never\n"
    )
    values, odd = parse(text)
    assert values == {
        "A": "1",
        "B": "two words",
        "C": "a $b # c",
        "D": 'x\ny"z',
        "E": "",
        "F": "yaml",
        "G": "two\nlines",
        "URL": "http://a/#b",
    }
    assert odd == [8, 9, 10, 14]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_env_file_breaks_the_parser(text: str) -> None:
    values, odd = parse(text)
    assert all(isinstance(value, str) for value in values.values()) and odd == sorted(odd)


HARD = [
    "plain",
    "",
    "it's",
    "$HOME `id` $(id)",
    'a "b" c',
    "two\nlines\n",
    "back\\slash",
    "tab\tx",
    "é日",
    "a;b&c|d",
    "-n",
]


@pytest.mark.parametrize("value", HARD)
def test_a_posix_shell_reads_back_the_very_value(value: str) -> None:
    script = 'eval "$1"; printf "%s." "$NAME"'
    done = subprocess.run(["sh", "-c", script, "sh", lines({"NAME": value})], capture_output=True, check=True)
    assert done.stdout.decode() == value + "."


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not here")
def test_fish_reads_back_the_very_values() -> None:
    for value in HARD:
        script = f"{lines({'NAME': value}, FISH)}\nprintf '%s.' $NAME"
        done = subprocess.run(["fish", "-c", script], capture_output=True, check=True)
        assert done.stdout.decode() == value + "."


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("it's", "$env:N = 'it''s'"),
        ("it\u2019s", "$env:N = 'it\u2019\u2019s'"),
        ("a$b`c", "$env:N = 'a$b`c'"),
        ('a\n"$b`c', '$env:N = "a`n`"`$b``c"'),
    ],
)
def test_powershell_gets_one_line_each(value: str, line: str) -> None:
    assert lines({"N": value}, POWERSHELL) == line


def test_fish_escapes_by_its_own_rules() -> None:
    assert lines({"N": "it's \\ $x\ny"}, FISH) == "set -gx N 'it\\'s \\\\ $x'\\n'y'"
    assert lines({"N": "$x"}, POSIX) == "export N='$x'"


def test_the_branch_tells_the_feature(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "morph/cart", "../cart-tree")
    project.git("worktree", "add", "-q", "-b", "morph-task/agent-1", "../task-tree")
    folder = project.root.parent
    assert whose.feature_here(open_repo(folder / "cart-tree"), None) == "cart"
    assert whose.feature_here(open_repo(folder / "task-tree"), None) == "task/agent-1"
    assert whose.feature_here(open_repo(project.root), "task/agent-1") == "task/agent-1"
    for named, code in ((None, "feature-not-named"), ("nope", "feature-not-found"), ("task/nope", "feature-not-found")):
        with pytest.raises(Refusal) as caught:
            whose.feature_here(open_repo(project.root), named)
        assert (caught.value.code, caught.value.exit_code) == (code, 2)


def test_values_do_not_depend_on_where_one_asks(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "morph/cart", "../cart-tree")
    tree = open_repo(project.root.parent / "cart-tree")
    there = whose.tree_for(open_repo(project.root), "cart")
    assert there.root == tree.root
    assert json.dumps(stack_env(there, _config(), "cart").values) == json.dumps(
        stack_env(tree, _config(), "cart").values
    )


def test_a_task_tree_keeps_the_feature_it_was_made_for(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "morph-task/agent-1", "../task-tree")
    tree = open_repo(project.root.parent / "task-tree")
    assert stack_env(tree, _config(), "task/agent-1").values["MORPH_FEATURE"] == "agent-1"
    (tree.root / ".morph").mkdir(exist_ok=True)
    (tree.root / ".morph/worktree.env").write_text("MORPH_FEATURE=cart\nPORT=1\n")
    found = stack_env(tree, _config(), "task/agent-1").values
    assert (found["MORPH_FEATURE"], found["COMPOSE_PROJECT_NAME"]) == ("cart", "morph-task-agent-1")
    assert found["PORT"] != "1"
