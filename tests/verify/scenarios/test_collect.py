"""The real runners, asked for their tests in real repositories."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.repo.git import open_repo
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.scenarios.collect import Collection, collect

NPM = Path(__file__).parents[2] / "runners-npm" / "node_modules"
needs_npm = pytest.mark.skipif(not NPM.is_dir() or not shutil.which("node"), reason="the runners are not installed")


@pytest.fixture(autouse=True)
def _rust(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        if (home / folder).is_dir():
            monkeypatch.setenv(name, str(home / folder))


def _ask(project: Any, runner: str, command: str, cwd: str = ".", **more: Any) -> Collection:
    return collect(open_repo(project.root), "cart", [Node("tests", "t", command, cwd, runner)], **more)[0]


def _named(found: Collection) -> dict[str, tuple[str, ...]]:
    assert found.tests is not None, found
    return {one.name: one.scenarios for one in found.tests}


def _left(project: Any) -> str:
    return str(project.git("status", "--porcelain", "--ignored", "-uall"))


PYTEST = """\
import unittest
import pytest

IDS = ["C4"]
pytestmark = pytest.mark.scenario("C1")

@pytest.mark.scenario(*IDS)
@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.scenario("C5")), 3])
def test_many(x):
    raise SystemExit("never run")

class TestCart:
    @pytest.mark.skip(reason="later")
    def test_skipped(self): ...

class TestOld(unittest.TestCase):
    @unittest.skip("not now")
    def test_scenario_C7(self): ...

@pytest.mark.slow
def test_slow(): ...
"""


def test_pytest_tells_marks_cases_and_skips_and_leaves_nothing_behind(project: Any) -> None:
    project.write("tests/test_cart.py", PYTEST)
    project.write("pytest.ini", "[pytest]\nmarkers = slow\naddopts = --strict-markers --junitxml=reports/r.xml -x\n")
    project.commit()
    before = _left(project)
    found = _ask(project, "pytest", "python -m pytest -m 'not slow' --cache-clear")
    assert found.complete and found.problem is None
    many, skipped, old = found.tests or ()
    assert (many.name, many.file, many.cases) == ("test_many", "tests/test_cart.py", 3)
    assert many.scenarios == ("C4", "C1", "C5")
    assert (skipped.name, skipped.skipped) == ("TestCart > test_skipped", "later")
    assert (old.scenarios, old.skipped) == (("C1", "C7"), "not now")
    assert _left(project) == before, "no cache, no bytecode, no report"


def test_pytest_with_a_file_that_does_not_import_knows_the_others(project: Any) -> None:
    project.write("tests/test_a.py", "def test_scenario_C1(): pass\n")
    project.write("tests/test_broken.py", "import not_there\n")
    found = _ask(project, "pytest", "pytest -x")
    assert _named(found) == {"test_scenario_C1": ("C1",)}
    assert not found.complete and found.open == ("tests/test_broken.py",)
    assert found.problem and "No module named 'not_there'" in found.problem


@pytest.mark.parametrize(
    ("command", "why"),
    [("pytest --no-such-option", "unrecognized arguments"), ("pytest -p no_such_plugin", "no_such_plugin")],
)
def test_a_runner_that_does_not_answer_is_a_problem(project: Any, command: str, why: str) -> None:
    found = _ask(project, "pytest", command)
    assert not found.asked and found.problem and found.problem.startswith("not verified: tests/t did not list")
    assert why in found.problem and str(project.root) not in found.problem


def test_a_runner_that_hangs_is_ended(project: Any) -> None:
    project.write("conftest.py", "import time\ntime.sleep(600)\n")
    found = _ask(project, "pytest", "pytest", timeout_s=1.0)
    assert not found.asked and found.problem and "did not end within 1 s" in found.problem


def test_a_secret_that_a_runner_prints_is_not_told(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "abcdefghij-secret")
    project.write("conftest.py", "import os\nraise RuntimeError('error ' + os.environ['SHOP_API_KEY'])\n")
    found = _ask(project, "pytest", "pytest")
    assert found.problem and "abcdefghij" not in found.problem and "SHOP_API_KEY" in found.problem


@needs_npm
def test_vitest_lists_through_a_script_and_writes_no_report(project: Any) -> None:
    project.write(".gitignore", "node_modules\n")
    project.write("web/package.json", '{"scripts": {"test": "vitest run --reporter=junit --outputFile=r.xml"}}')
    project.write("web/vitest.config.mjs", "export default { test: { coverage: { enabled: true } } }\n")
    project.write(
        "web/a.test.ts",
        "import { describe, test } from 'vitest'\ndescribe('cart', () => {\n"
        "  test('[C1] adds', () => { throw 1 })\n  test.each([1, 2])('n %i [C2]', () => {})\n"
        "  test.skip('[C3] x', () => {})\n})\n",
    )
    os.symlink(NPM, project.root / "web/node_modules")
    project.commit()
    before = _left(project)
    found = _ask(project, "vitest", "npm test", "web")
    assert _named(found) == {"cart > [C1] adds": ("C1",), "cart > n 1 [C2]": ("C2",), "cart > n 2 [C2]": ("C2",)}
    assert {(one.file, one.line) for one in found.tests or ()} == {("web/a.test.ts", 3), ("web/a.test.ts", 4)}
    assert found.complete and _left(project) == before


@needs_npm
def test_vitest_with_a_file_that_breaks_is_a_problem(project: Any) -> None:
    os.symlink(NPM, project.root / "node_modules")
    project.write("a.test.ts", "import 'not-there'\n")
    found = _ask(project, "vitest", "npx vitest run")
    assert not found.asked and found.problem and "not-there" in found.problem


@needs_npm
def test_jest_lists_files(project: Any) -> None:
    os.symlink(NPM, project.root / "node_modules")
    project.write("package.json", '{"jest": {"testMatch": ["**/unit/*.test.js"]}}')
    project.write("unit/a.test.js", "throw new Error('never loaded')\n")
    project.write("other/b.test.js", "")
    found = _ask(project, "jest", "npx jest --ci")
    assert found.files == {"unit/a.test.js"} and found.tests is None and found.complete


@needs_npm
def test_playwright_lists_tests(project: Any) -> None:
    os.symlink(NPM, project.root / "node_modules")
    project.write(
        "playwright.config.js",
        "module.exports = { testDir: './e2e', reporter: 'html',\n"
        "  webServer: { command: 'false', url: 'http://127.0.0.1:9' } }\n",
    )
    project.write(
        "e2e/a.spec.js",
        "const { test } = require('@playwright/test')\ntest.describe('shop', () => {\n"
        "  test('[C1] buys', async () => {})\n  test.skip('[C2] later', async () => {})\n})\n",
    )
    found = _ask(project, "playwright", "npx playwright test")
    assert [(one.name, one.file, one.line, one.scenarios, bool(one.skipped)) for one in found.tests or ()] == [
        ("shop > [C1] buys", "e2e/a.spec.js", 3, ("C1",), False),
        ("shop > [C2] later", "e2e/a.spec.js", 4, ("C2",), True),
    ]


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
@pytest.mark.parametrize("command", ["go test ./...", "go test -json -coverprofile=c.out ./..."])
def test_go_lists_functions_by_package(project: Any, command: str) -> None:
    project.write("api/go.mod", "module example.test/api\n\ngo 1.19\n")
    for name in ("cart", "shop"):
        text = f'package {name}\n\nimport "testing"\n\nfunc TestScenarioC1(t *testing.T) {{ t.Fatal() }}\n'
        project.write(f"api/{name}/{name}_test.go", text)
    found = _ask(project, "go", command, "api")
    assert sorted((one.name, one.package, one.scenarios) for one in found.tests or ()) == [
        ("TestScenarioC1", "api/cart", ("C1",)),
        ("TestScenarioC1", "api/shop", ("C1",)),
    ]
    assert found.complete and not (project.root / "api/c.out").exists()
    project.write("api/cart/broken_test.go", "package cart\n\nfunc (\n")
    broken = _ask(project, "go", command, "api")
    assert not broken.complete and broken.problem


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_cargo_lists_functions_by_module(project: Any) -> None:
    project.write("Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
    project.write("src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds_scenario_c1() { panic!() }\n}\n")
    project.write("tests/flow.rs", "#[test]\nfn flows_scenario_c2() {}\n")
    found = _ask(project, "cargo", "cargo test --offline")
    assert [(one.name, one.file, one.scenarios) for one in found.tests or ()] == [
        ("tests::adds_scenario_c1", None, ("C1",)),
        ("flows_scenario_c2", "tests/flow.rs", ("C2",)),
    ]


def test_what_has_no_command_or_is_not_valid_is_not_asked(project: Any) -> None:
    repo = open_repo(project.root)
    broken = Node("tests", "b", "pytest", "nowhere", "pytest", invalid="cwd 'nowhere' is not a folder of the tree")
    none, bad = collect(repo, "cart", [Node("tests", "none", skip="no tests"), broken])
    assert (none.asked, none.why, none.problem) == (False, "no tests", None)
    assert not bad.asked and bad.problem and "nowhere" in bad.problem
