from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from morph_tasks.verify.linux import inside
from morph_tasks.verify.nodes import Node


def test_only_what_is_declared_enters_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE", "here")
    monkeypatch.setenv("OTHER_SECRET", "no")
    node = Node("tests", "unit", "make", env=("DATABASE", "NOT_SET"), set_env=(("A", "1"),))
    found = inside.environment(node, "cart", {"B": "2"})
    assert (found["DATABASE"], found["A"], found["B"], found["MORPH_FEATURE"]) == ("here", "1", "2", "cart")
    assert not {"OTHER_SECRET", "NOT_SET", "PATH", "HOME", "PYTHONPATH", "MORPH_TEST_REPORT"} & set(found)


def test_pytest_finds_the_plugin_beside_what_the_node_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/host/only")
    node = Node("tests", "unit", "pytest", runner="pytest", set_env=(("PYTHONPATH", "src"), ("PYTEST_PLUGINS", "mine")))
    found = inside.environment(node, "cart", {})
    assert found["PYTHONPATH"] == "src:/morph-spec/plugin"
    assert found["PYTEST_PLUGINS"] == "mine"
    of_image = inside.environment(
        Node("tests", "unit", "pytest", runner="pytest"), "cart", {}, ["PYTHONPATH=/app", "A=1"]
    )
    assert of_image["PYTHONPATH"] == "/app:/morph-spec/plugin"
    assert "A" not in of_image
    assert "morph-spec/plugin/morph_scenarios.py" in dict(inside.kit(node))
    assert "morph-spec/plugin/morph_scenarios.py" not in dict(inside.kit(Node("tests", "unit", "make")))


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ('.venv/bin/python -m pytest -o cache_dir="x"', 'python3 -m pytest -o cache_dir="x"'),
        ("venv/bin/python -m pytest", "python3 -m pytest"),
        ("python -m pytest", "python3 -m pytest"),
        ("python3 -m pytest", "python3 -m pytest"),
        ("pythonic -m x", "pythonic -m x"),
    ],
)
def test_an_inferred_suite_takes_the_python_of_the_image(command: str, run: str) -> None:
    assert inside.script(Node("tests", "pytest", command, declared=False)) == run
    assert inside.script(Node("tests", "pytest", command)) == command


@pytest.mark.parametrize(
    ("prebuild", "code", "said", "unbuilt"),
    [
        (("echo one; cd /", "echo two"), 0, "one two test", None),
        (("echo one", "echo two; exit 7", "echo three"), 7, "one two", "1"),
        (("false",), 1, "", "0"),
        (("echo a # and more",), 0, "a test", None),
    ],
)
def test_prebuilds_come_first_and_a_failed_one_is_noted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prebuild: tuple[str, ...],
    code: int,
    said: str,
    unbuilt: str | None,
) -> None:
    monkeypatch.setattr(inside, "UNBUILT", str(tmp_path / "unbuilt"))
    command = f"test $PWD = {tmp_path} && echo test"
    text = inside.script(Node("tests", "api", command, prebuild=prebuild))
    done = subprocess.run(["/bin/sh", "-c", text], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (code, said.split())
    note = tmp_path / "unbuilt"
    assert (note.read_text().strip() if note.exists() else None) == unbuilt
