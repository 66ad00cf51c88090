"""Pairs of before and after for settings, CI files and the nodes of a project."""

# ruff: noqa: E501  (rows of a table)

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest

from morph_tasks.verify.validators.test_weakening import weakened
from morph_tasks.verify.validators.weakening.model import Change, Finding

CONFIG = ".morph/config/config.json"
WORKFLOW = ".github/workflows/ci.yml"


def findings(path: str, before: str | None, after: str | None) -> tuple[Finding, ...]:
    sides = [dedent(text).lstrip("\n").encode() if text is not None else None for text in (before, after)]
    return weakened([Change(path, *sides)]).findings


def _node(**more: Any) -> str:
    node = {"id": "unit", "command": "pytest -q", **more}
    return json.dumps(
        {"project": {"tests": [{name: value for name, value in node.items() if value is not None}]}}, indent=2
    )


def _job(steps: str, on: str = "[push, pull_request]", more: str = "") -> str:
    return f"on: {on}\njobs:\n  test:\n    runs-on: ubuntu-latest\n{more}    steps:\n{steps}"


STEP = "      - run: pytest -q\n"
TWO = STEP + "      - run: npm test\n"

# id, path, before, after, kinds
PAIRS: list[tuple[str, str, str, str, set[str]]] = [
    ("fail_under", "pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 80\n", {"threshold-lowered"}),
    ("fail_under gone", "pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nshow_missing = true\n", {"threshold-lowered"}),
    ("omit", ".coveragerc", "[run]\nbranch = True\n", "[run]\nbranch = True\nomit =\n    src/hard.py\n", {"threshold-lowered"}),
    ("cov-fail-under", "pyproject.toml", '[tool.pytest.ini_options]\naddopts = "--cov --cov-fail-under=90"\n', '[tool.pytest.ini_options]\naddopts = "--cov --cov-fail-under=70"\n', {"threshold-lowered"}),
    ("addopts -k", "pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q -k 'not slow'\n", {"suite-narrowed"}),
    ("addopts new", "pyproject.toml", "[tool.pytest.ini_options]\nminversion = '8'\n", "[tool.pytest.ini_options]\nminversion = '8'\naddopts = ['-k', 'not slow']\n", {"suite-narrowed"}),
    ("addopts list", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['-q', '--cov-fail-under', '90']\n", "[tool.pytest.ini_options]\naddopts = ['-q', '--cov-fail-under', '60']\n", {"threshold-lowered"}),
    ("addopts ignore", "setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -q --ignore=tests/slow\n", {"suite-narrowed"}),
    ("reruns", "tox.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --reruns 3\n", {"retries-raised"}),
    ("testpaths", "pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests", "more"]\n', '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n', {"suite-narrowed"}),
    ("norecursedirs", "pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q\nnorecursedirs = slow\n", {"suite-narrowed"}),
    ("timeout ini", "pytest.ini", "[pytest]\ntimeout = 10\n", "[pytest]\ntimeout = 100\n", {"timeout-raised"}),
    ("collect_ignore", "tests/conftest.py", "collect_ignore = []\n", "collect_ignore = ['test_slow.py']\n", {"suite-narrowed"}),
    ("ruff ignore", "pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F"]\n', '[tool.ruff.lint]\nselect = ["E", "F"]\nignore = ["E501"]\n', {"threshold-lowered"}),
    ("ruff select", "pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F"]\n', '[tool.ruff.lint]\nselect = ["E"]\n', {"threshold-lowered"}),
    ("ruff per file", "pyproject.toml", '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S"]\n', '[tool.ruff.lint.per-file-ignores]\n"tests/**" = ["S", "T20"]\n', {"threshold-lowered"}),
    ("mypy strict", "pyproject.toml", "[tool.mypy]\nstrict = true\n", "[tool.mypy]\nstrict = false\n", {"threshold-lowered"}),
    ("mypy strict gone", "mypy.ini", "[mypy]\nstrict = True\npretty = True\n", "[mypy]\npretty = True\n", {"threshold-lowered"}),
    ("jest threshold", "package.json", '{"jest": {"coverageThreshold": {"global": {"lines": 90}}}}', '{"jest": {"coverageThreshold": {"global": {"lines": 70}}}}', {"threshold-lowered"}),
    ("jest config threshold", "jest.config.js", "module.exports = { coverageThreshold: { global: { lines: 90, branches: 80 } } };", "module.exports = { coverageThreshold: { global: { lines: 50, branches: 80 } } };", {"threshold-lowered"}),
    ("vitest threshold", "vitest.config.ts", "export default defineConfig({ test: { coverage: { thresholds: { lines: 90 } } } });", "export default defineConfig({ test: { coverage: { thresholds: { lines: 10 } } } });", {"threshold-lowered"}),
    ("vitest exclude", "vitest.config.ts", "export default defineConfig({ test: { globals: true } });", "export default defineConfig({ test: { globals: true, exclude: ['**/slow/**'] } });", {"suite-narrowed"}),
    ("vitest retry", "vite.config.ts", "export default { test: { globals: true } };", "export default { test: { globals: true, retry: 2 } };", {"retries-raised"}),
    ("vitest timeout", "vitest.config.ts", "export default { test: { testTimeout: 5000 } };", "export default { test: { testTimeout: 60_000 } };", {"timeout-raised"}),
    ("vitest coverage exclude", "vitest.config.ts", "export default { test: { coverage: { exclude: ['a'] } } };", "export default { test: { coverage: { exclude: ['a', 'src/b.ts'] } } };", {"threshold-lowered"}),
    ("jest ignore", "jest.config.ts", "export default { testMatch: ['**/*.test.ts'] };", "export default { testMatch: ['**/*.test.ts'], testPathIgnorePatterns: ['slow'] };", {"suite-narrowed"}),
    ("playwright retries", "playwright.config.ts", "export default defineConfig({ retries: process.env.CI ? 1 : 0 });", "export default defineConfig({ retries: process.env.CI ? 3 : 0 });", {"retries-raised"}),
    ("vitest named thresholds", "vitest.config.ts", "const t = { lines: 90 };\nexport default defineConfig({ test: { coverage: { thresholds: t } } });", "const t = { lines: 50 };\nexport default defineConfig({ test: { coverage: { thresholds: t } } });", {"threshold-lowered"}),
    ("gitlab retry", ".gitlab-ci.yml", "test:\n  script: [pytest]\n", "test:\n  script: [pytest]\n  retry: 2\n", {"retries-raised"}),
    ("nyc", ".nycrc.json", '{"check-coverage": true, "lines": 90}', '{"check-coverage": false, "lines": 90}', {"threshold-lowered"}),
    ("eslint error to warn", ".eslintrc.json", '{"rules": {"no-console": "error"}}', '{"rules": {"no-console": "warn"}}', {"threshold-lowered"}),
    ("eslint array to off", "eslint.config.js", "export default [{ rules: { 'no-console': ['error', { allow: ['warn'] }] } }];", "export default [{ rules: { 'no-console': 'off' } }];", {"threshold-lowered"}),
    ("max-warnings", "package.json", '{"scripts": {"lint": "eslint . --max-warnings 0"}}', '{"scripts": {"lint": "eslint . --max-warnings 50"}}', {"threshold-lowered"}),
    ("tsconfig", "tsconfig.json", '{\n  // strict, please\n  "compilerOptions": { "strict": true, },\n}', '{\n  "compilerOptions": { "strict": false }\n}', {"threshold-lowered"}),
    ("coverlet", "tests/Shop.Tests.csproj", "<Project><PropertyGroup><Threshold>90</Threshold></PropertyGroup></Project>", "<Project><PropertyGroup><Threshold>70</Threshold></PropertyGroup></Project>", {"threshold-lowered"}),
    ("pom", "pom.xml", "<project><properties><a>1</a></properties></project>", "<project><properties><skipTests>true</skipTests></properties></project>", {"suite-narrowed"}),
    ("script or true", "package.json", '{"scripts": {"test": "vitest run"}}', '{"scripts": {"test": "vitest run || true"}}', {"ci-weakened"}),
    ("script pass without", "package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "jest --passWithNoTests"}}', {"suite-narrowed"}),
    ("tox", "tox.ini", "[testenv]\ncommands =\n    pytest {posargs}\n    ruff check .\n", "[testenv]\ncommands =\n    pytest {posargs}\n", {"ci-weakened"}),
    ("nox", "noxfile.py", "def tests(session):\n    session.run('pytest', '-q')\n", "def tests(session):\n    session.run('pytest', '-q', '-k', 'fast')\n", {"suite-narrowed"}),
    ("make", "Makefile", "test:\n\tpytest -q\n", "test:\n\t-pytest -q\n", {"ci-weakened"}),
    ("make ||", "Makefile", "test:\n\tpytest -q\n", "test:\n\tpytest -q || true\n", {"ci-weakened"}),
    ("step gone", WORKFLOW, _job(TWO), _job(STEP), {"ci-weakened"}),
    ("continue-on-error", WORKFLOW, _job(STEP), _job(STEP + "        continue-on-error: true\n"), {"ci-weakened"}),
    ("job continue-on-error", WORKFLOW, _job(STEP), _job(STEP, more="    continue-on-error: true\n"), {"ci-weakened"}),
    ("if false", WORKFLOW, _job(STEP), _job(STEP + "        if: false\n"), {"ci-weakened"}),
    ("job if", WORKFLOW, _job(STEP), _job(STEP, more="    if: github.ref == 'refs/heads/main'\n"), {"ci-weakened"}),
    ("run or true", WORKFLOW, _job(STEP), _job("      - run: pytest -q || true\n"), {"ci-weakened"}),
    ("run -k", WORKFLOW, _job(STEP), _job("      - run: pytest -q -k 'not slow'\n"), {"suite-narrowed"}),
    ("run -m", WORKFLOW, _job(STEP), _job('      - run: pytest -q -m "not integration"\n'), {"suite-narrowed"}),
    ("run path", WORKFLOW, _job(STEP), _job("      - run: pytest -q tests/unit\n"), {"suite-narrowed"}),
    ("paths-ignore", WORKFLOW, _job(STEP, "\n  push:\n    branches: [main]"), _job(STEP, "\n  push:\n    branches: [main]\n    paths-ignore: ['docs/**']"), {"ci-weakened"}),
    ("event gone", WORKFLOW, _job(STEP), _job(STEP, "[push]"), {"ci-weakened"}),
    ("matrix", WORKFLOW, _job(STEP, more="    strategy:\n      matrix:\n        python: ['3.11', '3.12']\n"), _job(STEP, more="    strategy:\n      matrix:\n        python: ['3.12']\n"), {"ci-weakened"}),
    ("go path", ".gitlab-ci.yml", "test:\n  script:\n    - go test ./...\n", "test:\n  script:\n    - go test ./cart\n", {"suite-narrowed"}),
    ("go run", ".gitlab-ci.yml", "test:\n  script:\n    - go test ./...\n", "test:\n  script:\n    - go test -run TestFast ./...\n", {"suite-narrowed"}),
    ("allow_failure", ".gitlab-ci.yml", "test:\n  script:\n    - go test ./...\n", "test:\n  script:\n    - go test ./...\n  allow_failure: true\n", {"ci-weakened"}),
    ("gitlab only", ".gitlab-ci.yml", "test:\n  script: [go test ./...]\n", "test:\n  script: [go test ./...]\n  only: [main]\n", {"ci-weakened"}),
    ("azure", "azure-pipelines.yml", "steps:\n  - script: dotnet test\n", "steps:\n  - script: dotnet test\n    continueOnError: true\n", {"ci-weakened"}),
    ("azure filter", "azure-pipelines.yml", "steps:\n  - script: dotnet test\n", "steps:\n  - script: dotnet test --filter Category!=Slow\n", {"suite-narrowed"}),
    ("circle", ".circleci/config.yml", "jobs:\n  build:\n    steps:\n      - run: npm test\n      - run: {command: npm run lint}\n", "jobs:\n  build:\n    steps:\n      - run: npm test\n", {"ci-weakened"}),
    ("jenkins", "Jenkinsfile", "stage('Test') { steps { sh 'mvn test' } }\n", "stage('Test') { steps { sh 'mvn test -DskipTests' } }\n", {"suite-narrowed"}),
    ("node gone", CONFIG, json.dumps({"project": {"tests": [{"id": "unit", "command": "pytest"}, {"id": "web", "command": "vitest run"}]}}, indent=1), json.dumps({"project": {"tests": [{"id": "unit", "command": "pytest"}]}}, indent=1), {"suite-narrowed"}),
    ("nodes empty", CONFIG, _node(), '{"project": {"tests": []}}', {"suite-narrowed"}),
    ("node command", CONFIG, _node(), _node(command="pytest -q tests/unit"), {"suite-narrowed"}),
    ("node or true", CONFIG, _node(), _node(command="pytest -q || true"), {"ci-weakened"}),
    ("node echo", CONFIG, _node(), _node(command="echo ok"), {"suite-narrowed"}),
    ("expectedCount", CONFIG, _node(expectedCount=10), _node(expectedCount=8), {"suite-narrowed"}),
    ("expectedCount gone", CONFIG, _node(expectedCount=10), _node(), {"suite-narrowed"}),
    ("node retries", CONFIG, _node(), _node(retries=2), {"retries-raised"}),
    ("node flaky", CONFIG, _node(), _node(flaky="allow"), {"retries-raised"}),
    ("node timeout", CONFIG, _node(timeoutMs=1000), _node(timeoutMs=100000), {"timeout-raised"}),
    ("node reuse", CONFIG, _node(reuse=False), _node(), {"suite-narrowed"}),
    ("node e2e", CONFIG, _node(), _node(e2e=True), {"suite-narrowed"}),
    ("node inputs", CONFIG, _node(inputs=["src/**", "tests/**"]), _node(inputs=["src/**"]), {"suite-narrowed"}),
    ("node inputs new", CONFIG, _node(), _node(inputs=["src/**"]), {"suite-narrowed"}),
    ("builds empty", CONFIG, '{"project": {"build": [{"id": "b", "command": "make"}]}}', '{"project": {"build": []}}', {"suite-narrowed"}),
    ("script path", "package.json", '{"scripts": {"test": "vitest run"}}', '{"scripts": {"test": "vitest run src/cart"}}', {"suite-narrowed"}),
    ("path behind a flag", "tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = pytest -x tests/unit\n", {"suite-narrowed"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "before", "after", "kinds"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS]
)
def test_what_is_weakened_is_found(path: str, before: str, after: str, kinds: set[str]) -> None:
    found = findings(path, before, after)
    assert {one.kind for one in found} == kinds
    assert all(one.sure and one.line > 0 for one in found)


@pytest.mark.parametrize(("path", "before", "after"), [row[1:4] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_the_way_back_is_harmless(path: str, before: str, after: str) -> None:
    assert [one for one in findings(path, after, before) if one.sure] == []


def test_a_new_configuration_that_declares_the_suites_away_is_found() -> None:
    found = findings(CONFIG, None, '{"project": {"tests": []}}')
    assert [(one.kind, one.before, one.sure) for one in found] == [("suite-narrowed", "project.tests: inferred", True)]
    assert findings(CONFIG, None, _node()) == ()
    assert findings(CONFIG, None, '{"project": {"ci": false, "testTimeoutMs": 90000}}') == ()


@pytest.mark.parametrize(
    ("before", "after"), [(None, '{"project": {"build": []}}'), (_node(cwd="web"), _node(cwd="web/src"))]
)
def test_what_may_be_harmless_is_said(before: str | None, after: str) -> None:
    assert [(one.kind, one.sure) for one in findings(CONFIG, before, after)] == [("suite-narrowed", False)]


@pytest.mark.parametrize("hook", ["pytest_collection_modifyitems", "pytest_ignore_collect"])
def test_a_hook_that_decides_which_tests_run_is_said(hook: str) -> None:
    found = findings("tests/conftest.py", "import pytest\n", f"import pytest\ndef {hook}(items):\n    items.clear()\n")
    assert [(one.kind, one.sure, one.line) for one in found] == [("suite-narrowed", False, 2)]


# id, path, before, after
HARMLESS: list[tuple[str, str, str | None, str]] = [
    ("new file", "pyproject.toml", None, "[tool.coverage.report]\nfail_under = 10\n"),
    ("key order", "pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F"]\n', '[tool.ruff.lint]\nselect = ["F", "E"]\n'),
    ("ruff all", "pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F"]\n', '[tool.ruff.lint]\nselect = ["ALL"]\n'),
    ("dependency", "package.json", '{"scripts": {"test": "jest"}, "devDependencies": {"jest": "29"}}', '{"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}}'),
    ("json formatting", "package.json", '{"jest": {"coverageThreshold": {"global": {"lines": 90}}}}', '{\n  "jest": {\n    "coverageThreshold": { "global": { "lines": 90 } }\n  }\n}'),
    ("rule added", ".eslintrc.json", '{"rules": {"a": "warn"}}', '{"rules": {"a": "error", "b": "warn"}}'),
    ("options added", "package.json", '{"scripts": {"test": "vitest run"}}', '{"scripts": {"test": "vitest run --coverage --reporter=dot"}}'),
    ("step renamed", WORKFLOW, _job(TWO), _job("      - name: Unit\n        run: pytest -q\n      - name: Web\n        run: npm test\n")),
    ("steps joined", WORKFLOW, _job(TWO), _job("      - run: |\n          pytest -q\n          npm test\n")),
    ("deploy step gone", WORKFLOW, _job(STEP + "      - run: ./deploy prod\n"), _job(STEP)),
    ("checkout bumped", WORKFLOW, _job("      - uses: actions/checkout@v3\n" + STEP), _job("      - uses: actions/checkout@v4\n" + STEP)),
    ("step added before", WORKFLOW, _job(STEP), _job("      - run: pip install -e .\n" + STEP)),
    ("if always", WORKFLOW, _job(STEP), _job(STEP + "        if: always()\n")),
    ("verbose", WORKFLOW, _job(STEP), _job("      - run: pytest -v --durations=5\n")),
    ("python -m", WORKFLOW, _job(STEP), _job("      - run: uv run python -m pytest -q\n")),
    ("tsc project", "package.json", '{"scripts": {"typecheck": "tsc --noEmit"}}', '{"scripts": {"typecheck": "tsc --noEmit -p tsconfig.json"}}'),
    ("tox by uv", WORKFLOW, _job("      - run: tox -e ${{ matrix.tox }}\n"), _job("      - run: uv run --group dev tox -e ${{ matrix.tox }}\n")),
    ("npm to pnpm", WORKFLOW, _job("      - run: npm run test\n"), _job("      - run: pnpm test\n")),
    ("matrix grown", WORKFLOW, _job(STEP, more="    strategy:\n      matrix:\n        python: ['3.11']\n"), _job(STEP, more="    strategy:\n      matrix:\n        python: ['3.11', '3.12']\n")),
    ("node added", CONFIG, _node(), json.dumps({"project": {"tests": [{"id": "unit", "command": "pytest -q"}, {"id": "web", "command": "jest"}]}})),
    ("node renamed", CONFIG, _node(), _node(id="all")),
    ("node count up", CONFIG, _node(expectedCount=1), _node(expectedCount=2)),
    ("node inputs wider", CONFIG, _node(inputs=["src/**"]), _node(inputs=["**"])),
    ("other config", CONFIG, _node(), _node().replace('{\n  "project"', '{\n  "trust": "auto",\n  "project"')),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), [row[1:] for row in HARMLESS], ids=[row[0] for row in HARMLESS])
def test_what_is_harmless_is_not_found(path: str, before: str | None, after: str) -> None:
    assert findings(path, before, after) == ()
