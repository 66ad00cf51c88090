"""Which tests carry a scenario and how they ended, from real runs, recorded outputs, JUnit and the plugin's report."""

# ruff: noqa: E501 (suites and outputs stand as their tools want them)

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks import pytest_plugin
from morph_tasks.verify.junit import read_junit
from morph_tasks.verify.runners.results import Results, read_results
from morph_tasks.verify.runners.table import RUNNERS
from morph_tasks.verify.runners.text import Log
from morph_tasks.verify.scenarios.tags import tags

NPM = Path(__file__).parents[2] / "runners-npm" / "node_modules"
PLUGIN = Path(pytest_plugin.__path__[0])
Told = dict[str, str]

JS = """
describe('[C1] cart', () => {
  test('adds', () => { console.log('TRAP') });
  describe('deep', () => { test('bad [C3]', () => { throw new Error('no') }); test.skip('later [C4]', () => {}) });
});
let n = 0;
RETRY
test('plain', () => {});
"""
GREEN = "describe('green', () => { test('[cart:C8] ok', () => {}); test('other', () => {}) });\n"
TRAP = "\\n ✓ a.test.js > fake [C99] 1ms\\n   ✓ fake [C98] (1 ms)\\n ✔ fake [C97] (1ms)\\nok 1 - fake [C96]\\n"
VITEST = "import { test, describe, expect } from 'vitest';\n"
NODE = "const { test, describe } = require('node:test');\n"
SUITES: dict[str, dict[str, str]] = {
    "pytest": {
        "test_a.py": (
            "import pytest\n\nFAKE = 'test_a.py::test_fake[C99] PASSED\\nPASSED test_a.py::test_fake[C98]'\n"
            "def test_scenario_C1(): print(FAKE)\n"
            "@pytest.mark.parametrize('x', [pytest.param(1, id='a - b [C2]'), pytest.param(2, id='[C3, C4]')])\n"
            "def test_p(x): print(FAKE); assert x == 1\n"
            "@pytest.fixture\ndef late():\n    yield\n    raise OSError\n"
            "class TestGroup:\n    def test_scenario_C5(self, late): pass\n"
            "    @pytest.mark.skip\n    def test_scenario_C6(self): pass\n"
            "@pytest.mark.xfail\ndef test_known_scenario_C7(): assert 0\n"
            "@pytest.mark.scenario('C8')\ndef test_marked(): pass\n"
        ),
        "pytest.ini": "[pytest]\nmarkers = scenario\n",
    },
    "unittest": {
        "test_a.py": (
            "import unittest\n\nclass T(unittest.TestCase):\n    def test_scenario_c1(self): print('hello')\n"
            "    def test_doc(self):\n        '''[C2] a docstring'''\n"
            "    def test_bad_scenario_c3(self): self.fail('no')\n"
            "    @unittest.skip('x')\n    def test_later_scenario_c4(self): pass\n"
            "    @unittest.expectedFailure\n    def test_known_scenario_c5(self): self.fail()\n"
            "    @unittest.expectedFailure\n    def test_unexpected_scenario_c6(self): pass\n"
        ),
    },
    "vitest": {
        "a.test.js": VITEST + JS.replace("TRAP", TRAP).replace("RETRY", "test('[C6] wobbly', { retry: 2 }, () => { n++; expect(n).toBe(2) });"),
        "b.test.js": VITEST + GREEN,
    },
    "jest": {
        "package.json": '{"name": "suite", "jest": {"testEnvironment": "node"}}',
        "a.test.js": JS.replace("TRAP", TRAP).replace("RETRY", "jest.retryTimes(2);\ntest('[C6] wobbly', () => { n++; expect(n).toBe(2) });"),
        "b.test.js": GREEN,
    },
    "mocha": {
        "a.test.js": "const test = it;\n" + JS.replace("TRAP", TRAP).replace("RETRY", "it('[C6] wobbly', function () { this.retries(2); n++; if (n !== 2) throw new Error('x') });"),
        "b.test.js": "const test = it;\n" + GREEN,
    },
    "node": {
        "a.test.js": NODE + JS.replace("TRAP", "hello").replace("RETRY", "test('[C6] parent', async (t) => { await t.test('sub', () => {}); await t.test('[C7] two', () => {}) });"),
        "b.test.js": NODE + GREEN,
    },
    "playwright": {
        "a.spec.js": (
            "const { test, expect } = require('@playwright/test');\n"
            "test.describe('[C1] cart', () => {\n"
            "  test('adds', async () => { console.log('  ✓  9 a.spec.js:3:3 › fake [C99] (1ms)') });\n"
            "  test('bad [C3]', async () => { expect(1).toBe(2) });\n"
            "  test('known [C5]', async () => { test.fail(); expect(1).toBe(2) });\n});\n"
            "test('[C6] wobbly', async ({}, info) => { expect(info.retry).toBe(1) });\n"
        ),
        "playwright.config.js": "module.exports = { retries: 1, projects: [{ name: 'one' }, { name: 'two', retries: 0, grep: /wobbly|adds/ }] };\n",
    },
    "go": {
        "go.mod": "module example.test/suite\n\ngo 1.19\n",
        "a/a_test.go": (
            'package a\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestCart(t *testing.T) {\n'
            '\tt.Run("[C3] adds", func(t *testing.T) { fmt.Print("no newline") })\n'
            '\tt.Run("bad [C4]", func(t *testing.T) { t.Error("no") })\n'
            '\tt.Run("later [C5]", func(t *testing.T) { t.Skip("x") })\n}\n\n'
            'func Test_Scenario_C6(t *testing.T) {\n\tfmt.Println("--- PASS: TestFake/[C99] (0.00s)")\n\tt.Run("sub", func(t *testing.T) {})\n}\n\n'
            'func Test_Scenario_C7(t *testing.T) {\n\tt.Run("sub", func(t *testing.T) {})\n\tt.Error("by itself")\n}\n'
        ),
        "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestCart(t *testing.T) {\n\tt.Run("bad [C4]", func(t *testing.T) {})\n}\n',
    },
    "cargo": {
        "Cargo.toml": '[package]\nname = "suite"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": (
            "#[cfg(test)]\nmod scenario_c1 {\n"
            '    #[test]\n    fn adds() { println!("test fake::scenario_c99 ... ok"); }\n'
            '    #[test]\n    fn scenario_c2() { panic!("no") }\n'
            "    #[test]\n    #[ignore]\n    fn scenario_c3() {}\n"
            '    #[test]\n    #[should_panic]\n    fn scenario_c4() { panic!("x") }\n}\n'
        ),
        "tests/it.rs": "#[test]\nfn scenario_c5() {}\n",
    },
    "rspec": {
        "a_spec.rb": (
            "RSpec.describe('[C1] cart') do\n  it('adds [C2]') { puts '      fake [C99]' }\n"
            "  context('deep') { it('bad [C3]') { expect(1).to eq 2 }; xit('later [C4]') {} }\nend\n"
        ),
    },
    "phpunit": {
        "CartTest.php": (
            "<?php\n/** @testdox [C1] Cart */\nclass CartTest extends PHPUnit\\Framework\\TestCase {\n"
            "  function testScenarioC3Adds() { $this->assertTrue(true); }\n"
            "  function test_scenario_C4_bad() { $this->assertTrue(false); }\n"
            "  /** @testdox later [C5] */\n  function testLater() { $this->markTestSkipped('x'); }\n}\n"
        ),
    },
    "ctest": {
        "CTestTestfile.cmake": 'add_test([=[good [C1]]=] "/bin/true")\nadd_test(bad_scenario_c2 "/bin/false")\nadd_test(later_scenario_c3 "/bin/sh" "-c" "exit 77")\nset_tests_properties(later_scenario_c3 PROPERTIES SKIP_RETURN_CODE 77)\n',
    },
}  # fmt: skip

Run = Callable[..., tuple[Path, Path]]


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Write a suite, run a command in it, and return its folder and its log; a missing program skips, except in CI."""
    # Not `tmp_path`: its name holds the test's, and some runners match patterns against whole paths.
    folder = tmp_path_factory.mktemp("suite")
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)

    def go(suite: str, command: str, program: str, **more: str) -> tuple[Path, Path]:
        search = os.pathsep.join([str(NPM / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        if shutil.which(program, path=search) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"`{program}` is not installed")
            pytest.skip(f"`{program}` is not installed")
        for name, text in SUITES[suite].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        if NPM.is_dir():
            (folder / "node_modules").symlink_to(NPM)
        env = {
            **os.environ, "PATH": search, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CARGO_NET_OFFLINE": "true",
            "GOCACHE": str(tmp_path_factory.getbasetemp() / "go-cache"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more,
        }  # fmt: skip
        if (home / ".rustup").is_dir():
            env.setdefault("RUSTUP_HOME", str(home / ".rustup"))
        for name in ("CI", "GITHUB_ACTIONS", "FORCE_COLOR", "NODE_TEST_CONTEXT", "PYTEST_ADDOPTS", "RUST_BACKTRACE"):
            env.pop(name, None)
        log = folder / "output.log"
        with open(log, "wb") as out:
            subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                stdout=out,
                stderr=out,
                env=env,
                stdin=subprocess.DEVNULL,
                timeout=300,
            )
        return folder, log

    return go


def shown(found: Results) -> Told:
    """Return scenario -> status; several statuses of one are joined, the order of the runner is no matter."""
    seen: dict[str, set[str]] = {}
    for test in found.tests:
        for one in test.scenarios:
            seen.setdefault(one, set()).add(test.status)
    return {one: "+".join(sorted(seen[one])) for one in sorted(seen)}


PYTEST = {
    "C1": "passed",
    "C2": "passed",
    "C3": "failed",
    "C4": "failed",
    "C5": "failed",
    "C6": "skipped",
    "C7": "skipped",
}
JS_TREE = {"C1": "failed+passed+skipped", "C3": "failed", "C4": "skipped", "cart:C8": "passed"}
FLAKY, STEADY = {"C6": "flaky"}, {"C6": "passed"}
GO = {"C3": "passed", "C4": "failed+passed", "C5": "skipped", "C6": "passed", "C7": "failed+passed"}
CARGO = {"C1": "failed+passed+skipped", "C2": "failed", "C3": "skipped", "C4": "passed", "C5": "passed"}
PLAYWRIGHT = {"C1": "failed+passed+skipped", "C3": "failed", "C5": "skipped", "C6": "failed+flaky"}
RED = {"C1": "failed", "C3": "failed"}

RUNS: list[Any] = [
    ("pytest", "pytest -v", "pytest", "pytest", PYTEST, True),
    ("pytest", "pytest -v -s", "pytest", "pytest", PYTEST, True),
    ("pytest", "pytest -v --color=yes -o console_output_style=count", "pytest", "pytest", PYTEST, True),
    ("pytest", "pytest -v -o log_cli=true", "pytest", "pytest", PYTEST, True),
    ("pytest", "pytest -rA", "pytest", "pytest", PYTEST | {"C6": None}, True),
    ("pytest", "pytest", "pytest", "pytest", {"C3": "failed", "C4": "failed", "C5": "failed"}, False),
    ("unittest", "python -m unittest -v", "python", "unittest", {"C1": "passed", "C2": "passed", "C3": "failed", "C4": "skipped", "C5": "skipped", "C6": "failed"}, True),
    ("unittest", "python -m unittest", "python", "unittest", {"C3": "failed"}, False),
    ("vitest", "vitest run --reporter=verbose", "vitest", "vitest", JS_TREE | FLAKY, True),
    ("vitest", "vitest run --reporter=tree", "vitest", "vitest", JS_TREE | FLAKY, True),
    ("vitest", "vitest run --reporter=json", "vitest", "vitest", JS_TREE | FLAKY, True),
    ("vitest", "vitest run --reporter=tap", "vitest", "vitest", JS_TREE | STEADY, True),
    ("vitest", "vitest run --reporter=tap-flat", "vitest", "vitest", JS_TREE | STEADY, True),
    # Tests of a red file have a name, but not their suites: only the failed one is known as C1.
    ("vitest", "vitest run", "vitest", "vitest", RED | {"C4": "skipped"} | FLAKY, False),
    ("vitest", "vitest run --reporter=dot", "vitest", "vitest", RED, False),
    ("vitest", "vitest run b.test", "vitest", "vitest", {}, False),
    ("jest", "jest --verbose", "jest", "jest", JS_TREE | STEADY, True),
    ("jest", "jest --json", "jest", "jest", JS_TREE | FLAKY, True),
    ("jest", "jest", "jest", "jest", RED, False),
    ("mocha", "mocha *.test.js", "mocha", "mocha", JS_TREE | STEADY, True),
    ("mocha", "mocha *.test.js --color", "mocha", "mocha", JS_TREE | STEADY, True),
    ("mocha", "mocha *.test.js --reporter list", "mocha", "mocha", JS_TREE | STEADY, True),
    ("mocha", "mocha *.test.js --reporter tap", "mocha", "mocha", JS_TREE | STEADY, True),
    ("mocha", "mocha *.test.js --reporter json", "mocha", "mocha", JS_TREE | FLAKY, True),
    ("mocha", "mocha *.test.js --reporter dot", "mocha", "mocha", RED, False),
    ("node", "node --test --test-reporter=spec", "node", "node-test", JS_TREE | {"C6": "passed", "C7": "passed"}, True),
    ("node", "node --test --test-reporter=tap", "node", "node-test", JS_TREE | {"C6": "passed", "C7": "passed"}, True),
    ("playwright", "playwright test --reporter=list", "playwright", "playwright", PLAYWRIGHT, True),
    ("playwright", "playwright test --reporter=json", "playwright", "playwright", PLAYWRIGHT, True),
    ("playwright", "playwright test --reporter=line", "playwright", "playwright", PLAYWRIGHT | {"C1": "failed+passed", "C5": "passed"}, True),
    ("playwright", "playwright test --reporter=dot", "playwright", "playwright", RED | {"C6": "failed"}, False),
    ("go", "go test -v ./...", "go", "go", GO, True),
    ("go", "go test -json ./...", "go", "go", GO, True),
    ("go", "go test ./...", "go", "go", {"C4": "failed", "C7": "failed"}, False),
    ("cargo", "cargo test --no-fail-fast", "cargo", "cargo", CARGO, True),
    ("cargo", "cargo test --no-fail-fast -- --nocapture --test-threads=1", "cargo", "cargo", CARGO, True),
    ("rspec", "rspec -fd a_spec.rb", "rspec", "rspec", {"C1": "failed+passed+skipped", "C2": "passed", "C3": "failed", "C4": "skipped"}, True),
    ("rspec", "rspec -fj a_spec.rb", "rspec", "rspec", {"C1": "failed+passed+skipped", "C2": "passed", "C3": "failed", "C4": "skipped"}, True),
    ("rspec", "rspec a_spec.rb", "rspec", "rspec", RED, False),
    ("phpunit", "phpunit --testdox CartTest.php", "phpunit", "phpunit", {"C1": "failed+passed+skipped", "C3": "passed", "C4": "failed", "C5": "skipped"}, True),
    ("ctest", "ctest", "ctest", "ctest", {"C1": "passed", "C2": "failed", "C3": "skipped"}, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("suite", "command", "program", "runner", "want", "named"), RUNS, ids=[f"{one[3]}: {one[1]}" for one in RUNS]
)
def test_a_real_run_tells_how_each_scenario_ended(
    run: Run, suite: str, command: str, program: str, runner: str, want: dict[str, str | None], named: bool
) -> None:
    folder, log = run(suite, command, program)
    found = read_results(runner, log, root=folder)
    assert shown(found) == {one: status for one, status in want.items() if status}, log.read_text()
    assert found.named is named


def test_the_report_of_the_plugin_speaks_for_pytest_whatever_it_prints(run: Run) -> None:
    report = Path("report.jsonl")
    folder, log = run("pytest", "pytest -q -s", "pytest", MORPH_TEST_REPORT=str(report), PYTHONPATH=str(PLUGIN), PYTEST_PLUGINS="morph_scenarios")  # fmt: skip
    found = read_results("pytest", log, report=folder / report, root=folder)
    assert shown(found) == PYTEST | {"C8": "passed"} and found.named
    marked = next(test for test in found.tests if "C8" in test.scenarios)
    assert (marked.name, marked.file, marked.line) == ("test_marked", "test_a.py", 17)
    assert "TestGroup > test_scenario_C5" in {test.name for test in found.tests}


JUNIT_RUNS: list[Any] = [
    ("pytest", "pytest --junitxml=junit.xml", "pytest", PYTEST),
    ("vitest", "vitest run --reporter=junit --outputFile=junit.xml", "vitest", JS_TREE | STEADY),
    ("node", "node --test --test-reporter=junit --test-reporter-destination=junit.xml", "node-test", JS_TREE | {"C6": "passed", "C7": "passed"}),
    ("playwright", "PLAYWRIGHT_JUNIT_OUTPUT_NAME=junit.xml playwright test --reporter=junit", "playwright", PLAYWRIGHT | {"C1": "failed+passed", "C5": "passed", "C6": "failed+passed"}),
    ("mocha", "mocha *.test.js --reporter xunit --reporter-option output=junit.xml", "mocha", JS_TREE | STEADY),
    ("phpunit", "phpunit --log-junit junit.xml CartTest.php", "phpunit", {"C3": "passed", "C4": "failed"}),
    ("ctest", "ctest --output-junit junit.xml", "ctest", {"C1": "passed", "C2": "failed", "C3": "skipped"}),
]  # fmt: skip


@pytest.mark.parametrize(("suite", "command", "runner", "want"), JUNIT_RUNS, ids=[one[2] for one in JUNIT_RUNS])
def test_junit_of_a_real_run_tells_the_same(run: Run, suite: str, command: str, runner: str, want: Told) -> None:
    program = next(word for word in command.split() if "=" not in word)
    folder, log = run(suite, command, program)
    found = read_results(runner, log, junit=read_junit([folder / "junit.xml"]), root=folder)
    assert shown(found) == want, (folder / "junit.xml").read_text()
    assert found.named
    if runner in ("pytest", "vitest", "playwright", "phpunit"):
        files = {test.file for test in found.tests}
        assert files and all(file and not os.path.isabs(file) and (folder / file).is_file() for file in files), files


def test_go_tests_are_found_in_their_files(run: Run) -> None:
    folder, log = run("go", "go test -v ./...", "go")
    places = {(test.name, test.file, test.line) for test in read_results("go", log, root=folder).tests}
    assert ("TestCart/bad_[C4]", "a/a_test.go", 8) in places
    assert ("TestCart/bad_[C4]", "b/b_test.go", 5) in places
    assert ("Test_Scenario_C6/sub", "a/a_test.go", 14) in places


RECORDED: list[Any] = [
    ("dotnet", "vstest", "Starting test execution, please wait...\n  Passed Shop.CartTests.Scenario_C1_adds [3 ms]\n  Failed Shop.CartTests.[C2] named [< 1 ms]\n  Error Message:\n   no\n  Standard Output Messages:\n Passed Fake [C99] [1 ms]\n  Skipped Shop.CartTests.Scenario_C3 [1 ms]\n  Passed Shop.CartTests.Adds(text: \"[C4]\") [1 s 20 ms]\n\nFailed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 3 ms - Shop.Tests.dll (net9.0)\n", {"C1": "passed", "C2": "failed", "C3": "skipped", "C4": "passed"}, True),
    ("dotnet", "mtp", "passed Shop.CartTests.Scenario_C1_adds (12ms)\nfailed Shop.CartTests.Scenario_C2 (1s 203ms)\n  no\nskipped Shop.CartTests.Scenario_C3 (0ms)\n\nTest run summary: Failed!\n  total: 3\n  failed: 1\n  succeeded: 1\n  skipped: 1\n", {"C1": "passed", "C2": "failed", "C3": "skipped"}, True),
    ("dotnet", "portuguese", "  Aprovado Shop.Scenario_C1 [3 ms]\n  Com falha Shop.Scenario_C2 [1 ms]\n  Ignorado Shop.Scenario_C3 [1 ms]\n", {"C1": "passed", "C2": "failed", "C3": "skipped"}, True),
    ("dotnet", "minimal", "Passed to the next step [C1]\n\nPassed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5\n", {}, False),
    ("cargo", "nextest", "    Starting 4 tests across 2 binaries\n        PASS [   0.005s] (1/4) suite scenario_c1::adds\n  TRY 1 FAIL [   0.004s] suite scenario_c2\n  TRY 2 PASS [   0.004s] suite scenario_c2\n        FAIL [   0.004s] suite::it scenario_c3\n        SKIP [   0.000s] suite::it scenario_c4\n------------\n     Summary [   0.020s] 3 tests run: 2 passed (1 flaky), 1 failed, 1 skipped\n   FLAKY 2/2 [   0.004s] suite scenario_c2\n        FAIL [   0.004s] suite::it scenario_c3\n", {"C1": "passed", "C2": "flaky", "C3": "failed", "C4": "skipped"}, True),
    ("go", "gotestsum", "PASS b.TestCart/[C3]_adds (0.00s)\nPASS b.TestCart (0.00s)\n=== RUN   TestCart/bad_[C4]\n    --- FAIL: TestCart/bad_[C4] (0.00s)\nFAIL a.TestCart/bad_[C4] (0.00s)\nFAIL a.TestCart (0.00s)\n\n=== Skipped\n=== SKIP: a TestCart/later_[C5] (0.00s)\n\n=== Failed\n=== FAIL: a TestCart/bad_[C4] (0.00s)\n=== FAIL: a TestCart (0.00s)\n\nDONE 5 tests, 1 skipped, 2 failures in 0.333s\n", {"C3": "passed", "C4": "failed", "C5": "skipped"}, True),
    ("go", "gotestsum-verbose", "=== RUN   TestA\n=== RUN   TestA/[C1]\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/[C1] (0.00s)\n=== RUN   TestB_Scenario_C2\n--- SKIP: TestB_Scenario_C2 (0.00s)\nPASS\nok  \texample.test/a\t0.004s\n\n=== Skipped\n=== SKIP: a TestB_Scenario_C2 (0.00s)\n\nDONE 3 tests, 1 skipped in 0.3s\n", {"C1": "passed", "C2": "skipped"}, True),
    ("gradle", "events", "> Task :app:test\n\nCartTest > adds [C1] PASSED\n\nCartTest > [C2] nested > bad() FAILED\n    java.lang.AssertionError at CartTest.java:12\n\nCartTest > later [C3] SKIPPED\n\n3 tests completed, 1 failed, 1 skipped\n", {"C1": "passed", "C2": "failed", "C3": "skipped"}, True),
    ("gradle", "logger", "> Task :test\n\ncom.shop.CartTest\n\n  Test adds [C1] PASSED (1.2s)\n  Test bad [C2] FAILED\n\n", {"C1": "passed", "C2": "failed"}, True),
    ("surefire", "failed", "[ERROR] com.shop.CartTest.scenario_C1_adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] scenario_C2(com.shop.CartTest)  Time elapsed: 0.01 s  <<< ERROR!\n[ERROR] Tests run: 2, Failures: 1, Errors: 1, Skipped: 0\n", {"C1": "failed", "C2": "failed"}, False),
    ("surefire", "tree", "[INFO] +--[C9] CartTest - 0.1 s\n[INFO] |  +-- [OK] adds [C1] - 0.01 s\n[INFO] |  +-- [XX] bad [C2] - 0.01 s\n[INFO] |  '-- [??] later [C3] - 0 s\n", {"C1": "passed", "C2": "failed", "C3": "skipped", "C9": "failed+passed+skipped"}, True),
    ("surefire", "console", ".\n+-- JUnit Jupiter [OK]\n| '-- CartTest [OK]\n|   +-- scenario_C1_adds() [OK]\n|   '-- scenario_C2() [X] expected: <1> but was: <2>\n", {"C1": "passed", "C2": "failed"}, True),
    ("karma", "mocha", "START:\n  [C1] cart\n    ✔ adds\n    deep\n      ✖ bad [C2]\nLOG: 'hello'\nFinished in 0.1 secs\n", {"C1": "failed+passed", "C2": "failed"}, True),
    ("karma", "progress", "Chrome 100.0.0.0 (Linux 0.0.0) [C1] cart bad [C2] FAILED\n\tError: no\nChrome 100.0.0.0 (Linux 0.0.0): Executed 2 of 2 (1 FAILED) (0.1 secs / 0.05 secs)\n", {"C1": "failed", "C2": "failed"}, False),
    ("bun", "piped", "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n(pass) [C1] cart > adds (2) [0.07ms]\n(fail) [C1] cart > deep > bad [C3] [0.18ms]\n(skip) [C1] cart > deep > later [C4]\n(pass) [C6] wobbly (attempt 2) [0.02ms]\n\n 2 pass\n 1 skip\n 1 fail\nRan 4 tests across 1 file. [18.00ms]\n", {"C1": "failed+passed+skipped", "C3": "failed", "C4": "skipped", "C6": "flaky"}, True),
    ("deno", "pretty", "running 4 tests from ./b_test.ts\n[C1] adds ...\n------- output -------\nfake [C99] ... ok (1ms)\n----- output end -----\n[C1] adds ... ok (758µs)\n[C2] parent ...\n  one [C3] ... ok (0ms)\n  two ...\n    deep ... FAILED (1ms)\n  two ... FAILED (due to 1 failed step) (2ms)\n[C2] parent ... FAILED (due to 1 failed step) (4ms)\nlater [C4] ... ignored (0ms)\n\n FAILURES \n\n[C2] parent ... two ... deep => ./b_test.ts:2:120\n\nFAILED | 1 passed (1 step) | 1 failed (2 steps) | 1 ignored (19ms)\n", {"C1": "passed", "C2": "failed+passed", "C3": "passed", "C4": "skipped"}, True),
    ("vitest", "1.6", " RUN  v1.6.0 /p\n\n ❯ a.test.js  (3 tests | 1 failed) 12ms\n   ❯ [C1] cart (2)\n     ✓ adds\n     × bad [C3]\n       → no\n   ✓ plain\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n", {"C1": "failed+passed", "C3": "failed"}, True),
    ("vitest", "projects", " RUN  v4.1.12 /p\n\n ✓ |unit| a.test.js > [C1] adds 1ms\n × |web| a.test.js > [C1] adds 1ms\n ✓  blue  a.test.js > [C2] adds 1ms\n\n Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 2 passed (3)\n", {"C1": "failed+passed", "C2": "passed"}, True),
    ("jest", "projects", "PASS unit src/a.test.js\n  ✓ [C1] adds (1 ms)\n\nFAIL web src/a.test.js\n  ✕ [C1] adds\n\n  ● [C1] adds\n\n    no\n\nTests:       1 failed, 1 passed, 2 total\n", {"C1": "failed+passed"}, True),
    ("jest", "console", "PASS b.test.js\n  ✓ [C1] adds (1 ms)\n\n  console.log\n    ✓ fake [C99] (1 ms)\n\n      at Object.log (a.test.js:2:36)\n\nPASS a.test.js\n  [C2] cart\n    ✓ adds (1 ms)\n\nTests:       2 passed, 2 total\n", {"C1": "passed", "C2": "passed"}, True),
    ("pytest", "reruns", "============================= test session starts ==============================\ntest_a.py::test_[C1] RERUN                     [ 50%]\ntest_a.py::test_[C1] PASSED                    [ 50%]\ntest_a.py::test_[C2] RERUN                     [100%]\ntest_a.py::test_[C2] FAILED                    [100%]\n============ 1 failed, 1 passed, 2 rerun in 0.05s ============\n", {"C1": "flaky", "C2": "failed"}, True),
    ("pytest", "xdist", "============================= test session starts ==============================\n[gw0] [ 50%] PASSED tests/test_a.py::test_[C1] \n[gw1] [100%] FAILED tests/test_a.py::test_[C2] \n============ 1 failed, 1 passed in 0.05s ============\n", {"C1": "passed", "C2": "failed"}, True),
    ("pytest", "sugar", "Test session starts (platform: linux, Python 3.11.7, pytest 7.0.1, pytest-sugar 1.1.1)\n test_a.py::test_[C1] ✓                        50% █████     \n test_a.py::TestX.test_[C2] R✓                100% ██████████\n\nResults (0.05s):\n       2 passed\n", {"C1": "passed", "C2": "flaky"}, True),
    ("phpunit", "pest", "\n   PASS  Tests\\Unit\\CartTest\n  ✓ it adds [C1]                       0.01s  \n  - it waits [C2] → later\n\n   FAIL  Tests\\Unit\\PriceTest\n  ⨯ it is bad [C3]                     0.02s  \n\n  Tests:    1 failed, 1 skipped, 1 passed (2 assertions)\n", {"C1": "passed", "C2": "skipped", "C3": "failed"}, True),
    ("phpunit", "debug", "PHPUnit 11.0.0 by Sebastian Bergmann and contributors.\n\nTest Passed (CartTest::testScenarioC1)\nTest Failed (CartTest::test_scenario_C2)\nTest Skipped (CartTest::testX#[C3])\n", {"C1": "passed", "C2": "failed", "C3": "skipped"}, True),
    ("none", "nothing", "PASSED test_a.py::test_[C1]\n", {}, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("runner", "text", "want", "named"),
    [(one[0], one[2], one[3], one[4]) for one in RECORDED],
    ids=[f"{one[0]}-{one[1]}" for one in RECORDED],
)
@pytest.mark.parametrize("colour", [False, True])
def test_an_output_tells_how_each_scenario_ended(
    tmp_path: Path, runner: str, text: str, want: Told, named: bool, colour: bool
) -> None:
    if colour:
        text = (
            text.replace("[C", "\x1b[1m[C").replace("PASSED", "\x1b[32mPASSED\x1b[0m").replace("✓", "\x1b[32m✓\x1b[39m")
        )
    log = tmp_path / "log"
    log.write_text(text, "utf-8")
    found = read_results(runner, log)
    assert (shown(found), found.named) == (want, named)


def junit(tmp_path: Path, text: str) -> Any:
    (tmp_path / "junit.xml").write_text(text, "utf-8")
    return read_junit([tmp_path / "junit.xml"])


def test_properties_and_suite_names_of_junit_carry_scenarios(tmp_path: Path) -> None:
    reading = junit(tmp_path, """<testsuites name="all [C9]"><testsuite name="outer [C1]" tests="3"><properties><property name="scenarios" value="C2, cart:C3"/></properties>
<testcase classname="Cart" name="a"><properties><property name="scenario" value="C04"/><property name="Scenario">[C5]</property><property name="other" value="C99"/></properties></testcase>
<testsuite name="inner" tests="1"><properties><property name="scenario" value="C6"/></properties><testcase classname="Cart" name="b"><failure message="no">C98</failure></testcase></testsuite>
<testcase classname="Cart [C7]" name="c"><skipped/></testcase></testsuite></testsuites>""")  # fmt: skip
    found = {
        test.name: (test.status, set(test.scenarios))
        for test in read_results("none", tmp_path / "gone", junit=reading).tests
    }
    assert found == {
        "Cart > a": ("passed", {"C9", "C1", "C2", "cart:C3", "C4", "C5"}),
        "Cart > b": ("failed", {"C9", "C1", "C2", "cart:C3", "C6"}),
        "Cart [C7] > c": ("skipped", {"C9", "C1", "C2", "cart:C3", "C7"}),
    }  # fmt: skip


def test_one_name_in_two_suites_is_two_tests_and_in_one_suite_a_retry(tmp_path: Path) -> None:
    case = '<testcase classname="Cart" name="[C1] a"{}'
    bad, good = case.format("><failure/></testcase>"), case.format("/>")
    two = junit(tmp_path, f"<testsuites><testsuite>{bad}</testsuite><testsuite>{good}</testsuite></testsuites>")
    assert [test.status for test in read_results("none", tmp_path, junit=two).tests] == ["failed", "passed"]
    again = junit(tmp_path, f"<testsuites><testsuite>{bad}{good}</testsuite></testsuites>")
    assert [test.status for test in read_results("none", tmp_path, junit=again).tests] == ["flaky"]
    worse = junit(tmp_path, f"<testsuites><testsuite>{good}{bad}</testsuite></testsuites>")
    assert [test.status for test in read_results("none", tmp_path, junit=worse).tests] == ["failed"]
    surefire = junit(tmp_path, f"<testsuite>{case.format('><flakyFailure/></testcase>')}</testsuite>")
    assert [test.status for test in read_results("none", tmp_path, junit=surefire).tests] == ["flaky"]


def test_a_class_of_a_report_is_found_in_its_file(tmp_path: Path) -> None:
    for path in ("api/tests/test_a.py", "api/mod/src/test/java/com/shop/CartTest.java", "api/web/a.test.ts"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    reading = junit(tmp_path, """<testsuite><testcase classname="tests.test_a.TestX" name="test_p[C1]"/><testcase classname="com.shop.CartTest$Inner" name="[C2] adds"/>
<testcase classname="web/a.test.ts" name="cart &gt; [C3] adds"/><testcase classname="gone.test_b" name="[C4]"/></testsuite>""")  # fmt: skip
    found = read_results("none", tmp_path, junit=reading, root=tmp_path, cwd="api").tests
    assert [(test.name, test.file) for test in found] == [
        ("TestX > test_p[C1]", "api/tests/test_a.py"),
        ("CartTest$Inner > [C2] adds", "api/mod/src/test/java/com/shop/CartTest.java"),
        ("cart > [C3] adds", "api/web/a.test.ts"),
        ("gone.test_b > [C4]", None),
    ]


def test_sources_are_asked_in_order_and_a_broken_one_is_none(tmp_path: Path) -> None:
    log, report = tmp_path / "log", tmp_path / "report"
    log.write_text("test_a.py::test_[C1] PASSED [100%]\n")
    reading = junit(tmp_path, '<testsuite><testcase classname="a" name="[C2]"/></testsuite>')
    report.write_text('{"nodeid": "test_a.py::test_[C3]", "outcome": "passed", "scenarios": []}\n{"nodeid": "test_a')
    assert shown(read_results("pytest", log, junit=reading, report=report)) == {"C3": "passed"}
    assert shown(read_results("pytest", log, junit=reading, report=tmp_path / "gone")) == {"C2": "passed"}
    report.write_text("")
    assert shown(read_results("pytest", log, junit=reading, report=report)) == {"C2": "passed"}
    cut = junit(tmp_path, '<testsuite><testcase classname="a" name="[C2]"/>')
    assert shown(read_results("pytest", log, junit=cut)) == {"C1": "passed"}
    report.write_text('{"ended": 5}\n')
    assert read_results("pytest", log, report=report) == Results((), True)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([("passed", False)], "passed"),
        ([("passed", True)], "flaky"),
        ([("failed", True)], "failed"),
        ([("failed", False), ("passed", False)], "flaky"),
        ([("passed", False), ("failed", False)], "failed"),
        ([("skipped", False), ("passed", False)], "passed"),
        ([("banana", False)], "skipped"),
    ],
)
def test_lines_of_the_report_about_one_test_are_one_result(tmp_path: Path, lines: list[Any], status: str) -> None:
    report = tmp_path / "report"
    report.write_text("".join(json.dumps({"nodeid": "a.py::t", "outcome": word, "flaky": flaky, "scenarios": ["C03"]}) + "\n" for word, flaky in lines))  # fmt: skip
    (test,) = read_results("pytest", tmp_path, report=report).tests
    assert (test.status, test.scenarios) == (status, ("C3",))


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_long_log_without_a_tag_is_not_read_through(
    tmp_path: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    line = b"test_a.py::test_one PASSED   [ 10%]\n"
    log.write_bytes(line * ((8 << 20) // len(line)))
    read, real = [], Log._chunks
    monkeypatch.setattr(Log, "_chunks", lambda self, *args: read.append(self.size) or real(self, *args))  # type: ignore[func-returns-value]
    assert read_results(runner, log).named == (runner == "pytest")
    # Once through the whole for the tags; all the rest looks at the ends alone.
    assert sum(size > 1 << 20 for size in read) == 1


def test_a_json_report_of_one_long_line_is_read_whole(tmp_path: Path) -> None:
    cases = [{"ancestorTitles": ["s"], "title": f"t{n}" + (" [C1]" if n == 4000 else ""), "status": "passed"} for n in range(5000)]  # fmt: skip
    log = tmp_path / "log"
    for text in (json.dumps, lambda data: json.dumps(data, indent=2)):
        log.write_text("hello {\n" + text({"numTotalTestSuites": 1, "testResults": [{"name": "a.js", "assertionResults": cases}]}) + "\nDone\n")  # fmt: skip
        for runner in ("jest", "vitest"):
            assert shown(read_results(runner, log)) == {"C1": "passed"}


def test_a_runner_that_nobody_knows_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("[C1] passed\n")
    assert read_results("evals", tmp_path / "log") == Results((), False)


TAGS = st.sampled_from(["", " [C1]", " [C2, C3]", " cart:C4", "_scenario_C5", " [cart:C6]"])
WORD = st.text(st.sampled_from("abcXYZ019 _-.,äß中'\"<>&()"), min_size=1, max_size=12).map(lambda text: " ".join(text.split()) or "x")  # fmt: skip
NAMES = st.lists(st.tuples(st.builds(lambda word, tag: f"{word}{tag}", WORD, TAGS), st.sampled_from(["passed", "failed", "skipped"])), max_size=8, unique_by=lambda one: one[0])  # fmt: skip


def _want(names: list[tuple[str, str]]) -> set[tuple[str, tuple[str, ...]]]:
    return {(status, tags(name)) for name, status in names if tags(name)}


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_names_survive_a_junit_report(tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str]]) -> None:
    from xml.sax.saxutils import quoteattr

    inside = {"passed": "", "failed": "<failure/>", "skipped": "<skipped/>"}
    cases = "".join(
        f'<testcase classname="k" name={quoteattr(name)}>{inside[status]}</testcase>' for name, status in names
    )
    found = read_results(
        "none", Path(), junit=junit(tmp_path_factory.mktemp("junit"), f"<testsuite>{cases}</testsuite>")
    )
    assert {(test.status, test.scenarios) for test in found.tests} == _want(names)


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_names_survive_the_lines_of_pytest(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str]]
) -> None:
    begin = "===== test session starts =====\n"
    lines = "".join(f"tests/test_a.py::test_p[{name}] {status.upper()}   [ 10%]\n" for name, status in names)
    log = tmp_path_factory.mktemp("log") / "log"
    log.write_text(f"{begin}{lines}===== {len(names)} passed in 0.01s =====\n", "utf-8")
    assert {(test.status, test.scenarios) for test in read_results("pytest", log).tests} == _want(names)


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_names_survive_a_tree(tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str]]) -> None:
    marks = {"passed": "✓", "failed": "✕", "skipped": "○ skipped"}
    lines = "".join(f"    {marks[status]} {name} (1 ms)\n" for name, status in names)
    log = tmp_path_factory.mktemp("log") / "log"
    log.write_text(f"PASS a.test.js\n  suite\n{lines}\nTests:       {len(names)} passed\n", "utf-8")
    assert {(test.status, test.scenarios) for test in read_results("jest", log).tests} == _want(names)
