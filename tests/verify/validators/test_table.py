from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.model.load import Config
from morph_tasks.verify import validators
from morph_tasks.verify.validators import code_budget, table
from morph_tasks.verify.validators.model import Checked

NONE = Config({}, "")
FOLDER = Path(str(validators.__file__)).parent


def test_the_table_is_honest() -> None:
    modules = {f"morph_tasks.verify.validators.{path.stem}" for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    named = {module for module in modules if hasattr(import_module(module), "NAME")}
    assert named == set(table.VALIDATORS.values())
    for name in table.VALIDATORS:
        module: Any = table.load(name)
        assert name == module.NAME
        assert all(callable(getattr(module, part)) for part in ("applies", "facts", "check"))


def test_each_validator_is_a_node(tmp_path: Path) -> None:
    nodes = table.validator_nodes(tmp_path, NONE)
    assert [(node.family, node.id, node.validator) for node in nodes] == [
        ("validators", name, name) for name in table.VALIDATORS
    ]


@pytest.mark.parametrize("name", sorted(table.VALIDATORS))
def test_facts_are_json_and_name_the_base(tree: Any, name: str) -> None:
    facts = table.facts(tree.repo, NONE, name)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["base"] == tree.git("rev-parse", "main^{tree}")


@pytest.mark.parametrize("name", sorted({*table.VALIDATORS} - {"reuse"}))  # it needs a graph
def test_every_validator_can_look_at_a_tree(tree: Any, name: str) -> None:
    tree.write("a.py", "x = 1\n")
    tree.write("tests/test_a.py", "def test_x():\n    assert x == 1\n")
    assert table.run(tree.repo, NONE, name).status == "pass"


def test_a_measurement_that_fails_is_a_skip_that_says_so(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> Checked:
        raise ValueError("the text of a file: hunter2-x")

    monkeypatch.setattr(code_budget, "check", broken)
    monkeypatch.setattr(code_budget, "facts", broken)
    found = table.run(tree.repo, NONE, "code-budget")
    assert found.status == "skip"
    assert found.message.startswith("ValueError in test_table.py:")
    assert found.warnings and "was not checked" in found.warnings[0]
    assert "hunter2" not in str(found)
    assert "ValueError" in table.facts(tree.repo, NONE, "code-budget")["unknown"]


def test_a_refusal_keeps_its_sentence(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object) -> Checked:
        raise Refusal("git-failed", "git cannot open it")

    monkeypatch.setattr(code_budget, "check", refused)
    assert table.run(tree.repo, NONE, "code-budget").message == "git cannot open it"


def test_a_validator_that_does_not_apply_is_a_quiet_skip(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_budget, "applies", lambda repo, config: "not here")
    assert table.run(tree.repo, NONE, "code-budget") == Checked("skip", "not here", "not here")


def test_the_table_and_the_facts_load_no_detector() -> None:
    code = (
        "import sys; from pathlib import Path; from morph_tasks.verify.validators import table; "
        "from morph_tasks.model.load import Config; from morph_tasks.repo.git import open_repo; "
        "[table.facts(open_repo(), Config({}, ''), name) for name in table.VALIDATORS]; "
        "print([m for m in ('detect_secrets.plugins', 'pygments', 'requests', 'tokenize') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER, check=True)
    assert "detect_secrets" not in done.stdout and "pygments" not in done.stdout and "requests" not in done.stdout
