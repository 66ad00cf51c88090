"""Work trees lie below the main one: its proof must not see them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks import pytest_plugin
from morph_tasks.model.load import Config
from morph_tasks.verify.fallback import test_nodes as suites_of
from morph_tasks.verify.listing import files_on_disk, is_work_tree
from tests.conftest import Project


@pytest.fixture
def shop(python_project: Project) -> Project:
    """A Python project of which every test is green, with a task's work tree below, in which one is red."""
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    python_project.commit()
    assert python_project.morph("create", "cart", "--type", "chore", "--description", "x").code == 0
    assert python_project.morph("worktree", "provision", "t1", "--base", "main").code == 0
    tree = python_project.root / "worktrees/t1"
    (tree / "tests/test_total.py").write_text("def test_red():\n    assert False\n")
    (tree / "package.json").write_text('{"devDependencies": {"vitest": "1"}}')
    return python_project


def test_an_inferred_suite_runs_the_tests_of_its_own_tree_alone(shop: Project) -> None:
    made = shop.verify("cart")
    assert made["exit"] == 0, made
    assert [run["count"] for run in made["nodes"]["tests"]["runs"]] == [2]
    assert not [said for said in made["warnings"] if "vitest" in said]


def test_the_tree_itself_is_tested_all_the_same(shop: Project) -> None:
    said = shop.morph("verify", "cart", "--json", "--no-persist", cwd=shop.root / "worktrees/t1")
    assert (said.code in (1, 2) and "test_red" in said.out) or said.json.get("code") == "feature-not-found"
    env = {**os.environ, "PYTHONPATH": str(Path(pytest_plugin.__path__[0]))}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for cwd, args in ((shop.root / "worktrees/t1", []), (shop.root, ["worktrees/t1/tests"])):
        done = subprocess.run([*argv, *args], cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert "1 failed" in done.stdout, done.stdout
    done = subprocess.run(argv, cwd=shop.root, env=env, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


def test_neither_the_fingerprint_nor_declared_inputs_change(shop: Project) -> None:
    shop.verify("cart")
    proof, seen = shop.feature()["verification"], files_on_disk(shop.root, ["**/*.py"])
    (shop.root / "worktrees/t1/more.py").write_text("x = 1\n")
    assert shop.morph("worktree", "provision", "t2", "--base", "main").code == 0
    again = shop.verify("cart")
    assert all(run["reused"] for run in again["nodes"]["tests"]["runs"]) and shop.feature()["verification"] == proof
    assert files_on_disk(shop.root, ["**/*.py"]) == seen and not [path for path in seen if "worktrees" in path]
    assert "worktrees/t1/cart/total.py" in files_on_disk(shop.root, ["worktrees/t1/cart/*.py"])


def test_trees_are_told_from_other_nested_repositories(shop: Project, tmp_path: Path) -> None:
    assert is_work_tree(str(shop.root / "worktrees/t1")) and not is_work_tree(str(shop.root))
    shop.git("init", "-q", "nested")
    (shop.root / "sub").mkdir()
    (shop.root / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    assert not any(is_work_tree(str(shop.root / name)) for name in ("nested", "sub", "cart", "missing"))


@pytest.mark.parametrize("runner", ["vitest", "jest"])
def test_a_frontend_in_the_root_is_told_to_stay_out(project: Project, runner: str) -> None:
    project.write("package.json", f'{{"devDependencies": {{"{runner}": "1"}}}}')
    command = suites_of(project.root, Config({}, ""))[0].command
    assert "worktrees/" in command and command.startswith(f"npx {runner}")
    project.write("web/package.json", f'{{"devDependencies": {{"{runner}": "1"}}}}')


@pytest.mark.parametrize("where", ["package.json", "jest.config.cjs"])
def test_the_settings_of_jest_are_not_replaced(project: Project, where: str) -> None:
    project.write("package.json", '{"devDependencies": {"jest": "1"}}')
    project.write(where, '{"devDependencies": {"jest": "1"}, "jest": {"modulePathIgnorePatterns": ["x"]}}')
    assert suites_of(project.root, Config({}, ""))[0].command == "npx jest --ci"


@pytest.mark.parametrize(("runner", "name"), [("vitest", "v/a.test.mjs"), ("jest", "j/b.test.js")])
def test_real_runners_stay_out(project: Project, runner: str, name: str) -> None:
    packages = Path(__file__).parents[1] / "runners-npm/node_modules"
    if not packages.is_dir():
        assert os.environ.get("CI") != "true", "the packages of the runners are missing: scripts/test installs them"
        pytest.skip("the packages of the runners are not installed")
    project.write("package.json", f'{{"name": "x", "devDependencies": {{"{runner}": "1"}}}}')
    project.write(".gitignore", "node_modules\n")
    head = 'import { expect, it } from "vitest";' if runner == "vitest" else ""
    project.write(name, f'{head} it("a", () => expect(1).toBe(1))\n')
    project.commit()
    project.git("worktree", "add", "-q", "worktrees/t1", "-b", "t1")
    command = suites_of(project.root, Config({}, ""))[0].command
    for cwd in (project.root, project.root / "worktrees/t1"):
        (cwd / "node_modules").symlink_to(packages)
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=cwd, capture_output=True, text=True, check=True,
            env={**os.environ, "NO_COLOR": "1", "CI": "1"},
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert "1 passed" in said and "2 passed" not in said, said
