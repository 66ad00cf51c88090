"""The real runners, on small suites that print what could be taken for a summary."""

# ruff: noqa: E501 (suites stand as their tools want them)

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.runners.model import Reading
from morph_tasks.verify.runners.read import read_output

NPM = Path(__file__).parents[2] / "runners-npm" / "node_modules"
Run = Callable[..., Reading]

SUITES: dict[str, dict[str, str]] = {
    "pytest": {
        "test_a.py": "def test_one():\n    print('==== 99 failed in 0.10s ====')\n\ndef test_two():\n    pass\n",
        "test_b.py": "import pytest\n\ndef test_bad():\n    assert 1 == 2\n\n@pytest.mark.skip(reason='9 failed')\ndef test_skip():\n    pass\n",
        "test_c.py": "import not_there\n",
    },
    "unittest": {
        "test_a.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        print('Ran 99 tests in 0.1s\\n\\nOK')\n",
        "test_b.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_bad(self):\n        self.fail('no')\n",
    },
    "jest": {
        "package.json": '{"name": "suite", "jest": {"testEnvironment": "node"}}',
        "a.test.js": "test('one', () => { process.stdout.write('Tests:       9 failed, 9 total\\n') });\ntest.todo('later');\n",
        "b.test.js": "test('bad', () => { expect(1).toBe(2) });\n",
        "c.test.js": "require('not-there');\n",
    },
    "mocha": {
        "a.js": "describe('s', () => { it('one', () => console.log('  99 passing (1s)')); it('later') });\n",
        "b.js": "it('bad', () => { throw new Error('no') });\n",
    },
    "vitest": {
        "a.test.js": "import { test } from 'vitest';\ntest('one', () => { console.log('      Tests  99 failed (99)') });\ntest.todo('later');\n",
        "b.test.js": "import { test, expect } from 'vitest';\ntest('bad', () => { expect(1).toBe(2) });\n",
        "c.test.js": "import 'not-there';\n",
        "u.test.js": "import { test } from 'vitest';\ntest('late', async () => {\n  setTimeout(() => { throw new Error('late') }, 1);\n  await new Promise((done) => setTimeout(done, 50));\n});\n",
    },
    "playwright": {
        "a.spec.js": "const { test } = require('@playwright/test');\ntest('one', () => {});\ntest('two', () => {});\n",
    },
    "node": {
        "a.test.js": "const { test } = require('node:test');\ntest('one', () => console.log('tests 9\\nsuites 0\\npass 9\\nfail 0\\ncancelled 0\\nskipped 0\\ntodo 0\\nduration_ms 5'));\ntest('later', { skip: true }, () => {});\n",
        "b.test.js": "require('node:test').test('bad', () => { throw new Error('no') });\n",
    },
    "go": {
        "go.mod": "module example.test/suite\n\ngo 1.19\n",
        "a/a_test.go": 'package a\n\nimport "testing"\n\nfunc TestOne(t *testing.T) { println("ok  \\texample.test/fake\\t0.1s") }\n\nfunc TestTwo(t *testing.T) { t.Skip("later") }\n',
        "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestBad(t *testing.T) { t.Error("no") }\n',
        "c/c.go": "package c\n",
        "d/d_test.go": 'package d\n\nimport "testing"\n\nfunc TestX(t *testing.T) { missing() }\n',
    },
    "cargo": {
        "Cargo.toml": '[package]\nname = "suite"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": '#[test]\nfn one() {\n    println!("test result: ok. 99 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");\n}\n#[test]\n#[ignore]\nfn later() {}\n',
        "tests/it.rs": "#[test]\nfn ends() {\n    std::process::exit(0)\n}\n",
    },
    "rspec": {
        "a_spec.rb": "RSpec.describe('a') { it('one') { puts '99 examples, 0 failures' }; xit('later') {} }\n",
        "b_spec.rb": "require 'not_there'\n",
    },
    "phpunit": {
        "ATest.php": '<?php class ATest extends PHPUnit\\Framework\\TestCase { function testOne() { fwrite(STDOUT, "OK (99 tests, 99 assertions)\\n"); $this->assertTrue(true); } }\n',
        "BTest.php": "<?php class BTest extends PHPUnit\\Framework\\TestCase { function testEnds() { exit(0); } }\n",
    },
    "ctest": {
        "CTestTestfile.cmake": 'add_test(good "/bin/true")\nadd_test(bad "/bin/false")\nadd_test(later "/bin/sh" "-c" "exit 77")\nset_tests_properties(later PROPERTIES SKIP_RETURN_CODE 77)\n',
    },
}


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Write a suite, run a command in it and read what it prints; a missing program skips, except in CI."""

    # Not `tmp_path`: its name holds the command, and some runners match patterns against whole paths.
    folder = tmp_path_factory.mktemp("suite")
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)

    def go(suite: str, command: str, program: str) -> Reading:
        search = os.pathsep.join([str(NPM / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        if shutil.which(program, path=search) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"`{program}` is not installed")
            pytest.skip(f"`{program}` is not installed")
        for name, text in SUITES[suite].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if NPM.is_dir():
            (folder / "node_modules").symlink_to(NPM)
        env: dict[str, str] = {
            **os.environ,
            "PATH": search,
            "GOFLAGS": "-mod=mod",
            "GOTOOLCHAIN": "local",
            "GOCACHE": str(tmp_path_factory.getbasetemp() / "go-cache"),
            "CARGO_NET_OFFLINE": "true",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        if (home / ".rustup").is_dir():
            env.setdefault("RUSTUP_HOME", str(home / ".rustup"))
        for name in ("CI", "GITHUB_ACTIONS", "FORCE_COLOR", "NODE_TEST_CONTEXT", "PYTEST_ADDOPTS"):
            env.pop(name, None)
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, capture_output=True, env=env, stdin=subprocess.DEVNULL, timeout=300
        )
        reading = read_output("auto", done.stdout, done.stderr, exit_code=done.returncode, command=command, cwd=folder)
        merged = read_output("auto", done.stdout + done.stderr, exit_code=done.returncode, command=command, cwd=folder)
        assert (merged.verdict, merged.counts) == (reading.verdict, reading.counts), done
        return reading

    return go


def test_the_lock_names_no_registry() -> None:
    assert '"resolved"' not in (NPM.parent / "package-lock.json").read_text("utf-8")


RUNS: list[Any] = [
    ("pytest", "pytest -s test_a.py", "pytest", "pytest", "pass", None, 2),
    ("pytest", "pytest test_a.py test_b.py", "pytest", "pytest", "fail", "tests-failed", 3),
    ("pytest", "pytest test_b.py || true", "pytest", "pytest", "fail", "inconsistent-exit", 1),
    ("pytest", "pytest", "pytest", "pytest", "fail", "collection-error", 0),
    ("pytest", "pytest -q -q test_a.py", "pytest", "pytest", "unknown", "no-summary", None),
    ("pytest", "pytest -k nothing test_a.py", "pytest", "pytest", "no-tests", "no-tests", 0),
    ("pytest", "pytest -q test_a.py && pytest -q test_a.py", "pytest", "pytest", "pass", None, 4),
    ("unittest", "python -m unittest test_a", "python", "unittest", "pass", None, 1),
    ("unittest", "python -m unittest test_a test_b", "python", "unittest", "fail", "tests-failed", 2),
    ("unittest", "python -m unittest -k nothing test_a", "python", "unittest", "no-tests", "no-tests", 0),
    ("jest", "jest --runTestsByPath a.test.js", "jest", "jest", "pass", None, 1),
    ("jest", "jest --runTestsByPath a.test.js b.test.js", "jest", "jest", "fail", "tests-failed", 2),
    ("jest", "jest --runTestsByPath a.test.js c.test.js", "jest", "jest", "fail", "suite-failed", 1),
    ("jest", "jest nothing --passWithNoTests", "jest", "jest", "no-tests", "no-tests", None),
    ("mocha", "mocha a.js", "mocha", "mocha", "pass", None, 1),
    ("mocha", "mocha a.js b.js", "mocha", "mocha", "fail", "tests-failed", 2),
    ("mocha", "mocha a.js -g nothing", "mocha", "mocha", "no-tests", "no-tests", 0),
    ("vitest", "vitest run a.test.js", "vitest", "vitest", "pass", None, 1),
    ("vitest", "vitest run a.test.js b.test.js", "vitest", "vitest", "fail", "tests-failed", 2),
    ("vitest", "vitest run a.test.js c.test.js", "vitest", "vitest", "fail", "suite-failed", 1),
    ("vitest", "vitest run u.test.js", "vitest", "vitest", "fail", "unhandled-error", 1),
    ("vitest", "vitest run nothing --passWithNoTests", "vitest", "vitest", "no-tests", "no-tests", None),
    ("playwright", "playwright test --list", "playwright", "playwright", "no-tests", "no-tests", 0),
    ("node", "node --test a.test.js", "node", "node-test", "pass", None, 1),
    ("node", "node --test --test-reporter=spec a.test.js", "node", "node-test", "pass", None, 1),
    ("node", "node --test a.test.js b.test.js", "node", "node-test", "fail", "tests-failed", 2),
    ("go", "go test ./a ./c", "go", "go", "pass", None, None),
    ("go", "go test -v ./a ./c", "go", "go", "pass", None, 1),
    ("go", "go test -json ./a ./c", "go", "go", "pass", None, 1),
    ("go", "go test -v ./a ./b", "go", "go", "fail", "tests-failed", 2),
    ("go", "go test ./a ./d", "go", "go", "fail", "build-failed", None),
    ("go", "go test ./c", "go", "go", "no-tests", "no-tests", None),
    ("cargo", "cargo test --lib", "cargo", "cargo", "pass", None, 1),
    ("cargo", "cargo test --lib nothing", "cargo", "cargo", "no-tests", "no-tests", 0),
    ("cargo", "cargo test --test it", "cargo", "cargo", "fail", "crashed", None),
    ("rspec", "rspec a_spec.rb", "rspec", "rspec", "pass", None, 1),
    ("rspec", "rspec a_spec.rb b_spec.rb", "rspec", "rspec", "fail", "suite-failed", 0),
    ("phpunit", "phpunit ATest.php", "phpunit", "phpunit", "pass", None, 1),
    ("phpunit", "phpunit BTest.php", "phpunit", "phpunit", "fail", "incomplete", None),
    ("phpunit", "phpunit --filter nothing ATest.php", "phpunit", "phpunit", "no-tests", "no-tests", 0),
    ("ctest", "ctest", "ctest", "ctest", "fail", "tests-failed", 2),
    ("ctest", "ctest -E bad", "ctest", "ctest", "pass", None, 1),
    ("ctest", "ctest -R later", "ctest", "ctest", "no-tests", "all-skipped", 0),
]


@pytest.mark.parametrize(
    ("suite", "command", "program", "runner", "verdict", "reason", "executed"), RUNS, ids=[one[1] for one in RUNS]
)
def test_a_real_run(
    run: Run,
    suite: str,
    command: str,
    program: str,
    runner: str,
    verdict: str,
    reason: str | None,
    executed: int | None,
) -> None:
    reading = run(suite, command, program)
    assert (reading.runner, reading.verdict, reading.reason, reading.executed) == (runner, verdict, reason, executed)
