"""Real Playwright runs without a browser: the verdict, the count, what is kept, and that nothing stays behind."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.specs import NoSpecs, Specs, SpecsResult, find_specs, run_specs
from tests.conftest import Project

NPM = Path(__file__).parents[1] / "runners-npm/node_modules"
START = "const { test, expect } = require('@playwright/test');\n"
CONFIG = "module.exports = { workers: 1, retries: 0, %s };\n"
STACK = {"PORT": "4010", "API_PORT": "4011", "PLAYWRIGHT_BASE_URL": "http://127.0.0.1:4010"}

Go = Callable[..., SpecsResult]


@pytest.fixture
def go(project: Project, tmp_path: Path) -> Go:
    """Write specs and a configuration into `web`, run what is found there, hold that nothing stays in the tree."""
    if shutil.which("node") is None or not NPM.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("node or tests/runners-npm is missing: scripts/test installs it")
        pytest.skip("node or tests/runners-npm is missing: scripts/test installs it")
    (project.root / "web").mkdir()
    (project.root / "web/node_modules").symlink_to(NPM)
    project.write(".gitignore", "node_modules\n")
    logs = tmp_path / "evidence"
    logs.mkdir()

    def run(specs: str, config: str = "", *, command: str = "", env: Any = STACK, **more: Any) -> SpecsResult:
        project.write("web/a.spec.js", START + specs)
        project.write("web/playwright.config.js", CONFIG % config)
        if project.git("status", "--porcelain").strip():
            project.commit("specs")
        repo = open_repo(project.root)
        data = Config({"e2e": {"command": command}} if command else {}, "")
        found = find_specs(repo.root, data)
        assert isinstance(found, Specs)
        result = run_specs(repo, data, found, env, log=logs / "1.log", **more)
        assert project.git("status", "--porcelain").strip() == ""
        assert list((repo.tree_state / "specs").iterdir()) == []
        return result

    return run


def test_a_green_run_and_its_environment(go: Go, project: Project) -> None:
    result = go(
        "test.describe('cart', () => {\n"
        "test('[C1] has the address', () => expect(process.env.PLAYWRIGHT_BASE_URL).toBe('http://127.0.0.1:4010'));\n"
        "test('notes', async () => { test.info().annotations.push({ type: 'scenario', description: 'C2' }); });\n"
        "});\n"
    )
    assert (result.status, result.reason, result.count, result.exit_code) == ("pass", None, 2, 0)
    assert [(one.name, one.scenarios, one.file, one.line) for one in result.tests] == [
        ("cart > [C1] has the address", ("C1",), "web/a.spec.js", 3),
        ("cart > notes", ("C2",), "web/a.spec.js", 4),
    ]
    assert result.artifacts == ()
    assert result.warnings == ()


_LEAVES = """
test('red', async ({}, info) => {
  await info.attach('shot', { body: Buffer.from('png'), contentType: 'image/png' });
  const trace = info.outputPath('trace.zip');
  require('fs').writeFileSync(trace, 'zip');
  info.attachments.push({ name: 'trace', path: trace, contentType: 'application/zip' });
  expect(1).toBe(2);
});
test('green', () => {});
test.skip('left out', () => {});
test('wobbles', ({}, info) => { expect(info.retry).toBe(1); });
test.describe.serial('chain', () => {
  test('breaks', () => { expect(1).toBe(2); });
  test('after', () => {});
});
"""


def test_every_kind_of_outcome_in_one_run(go: Go) -> None:
    result = go(_LEAVES, "retries: 1")
    assert (result.status, result.reason, result.exit_code) == ("fail", "tests-failed", 1)
    assert result.counts == {"passed": 1, "failed": 2, "skipped": 1, "flaky": 1, "did_not_run": 1}
    assert result.count == 4
    assert result.detail[0].startswith("web/a.spec.js:3 red: Error: ")
    kept = {path.name: path for path in result.artifacts if "-red-" in path.name and path.suffix != ".md"}
    # one pair for each attempt
    assert [name.partition("-red-")[2] for name in kept] == ["shot.png", "trace.zip"] * 2
    assert {path.read_bytes() for path in kept.values()} == {b"zip", b"png"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in result.artifacts} == {0o600}
    assert not any("green" in path.name for path in result.artifacts)


def test_a_flaky_run_is_flaky_though_its_exit_code_is_zero(go: Go) -> None:
    result = go("test('wobbles', () => { expect(test.info().retry).toBe(1); });\n", "retries: 1")
    assert (result.status, result.reason, result.exit_code, result.count) == ("flaky", "flaky-in-runner", 0, 1)


@pytest.mark.parametrize(
    ("specs", "reason"),
    [
        ("", "no-tests"),
        ("test.skip('a', () => {});\n", "all-skipped"),
        ("test.only('a', () => {});\ntest('b', () => {});\n", "unhandled-error"),
        ("throw new Error('cannot load');\n", "unhandled-error"),
    ],
)
def test_a_run_that_executes_nothing_is_red(go: Go, specs: str, reason: str) -> None:
    result = go(specs, "forbidOnly: false")
    assert (result.status, result.reason) == ("fail", reason)
    assert not result.count


def test_an_error_outside_of_any_spec_is_red(go: Go, project: Project) -> None:
    project.write("web/teardown.js", "module.exports = () => { throw new Error('left dirty'); };\n")
    result = go("test('a', () => {});\n", "globalTeardown: './teardown.js'")
    assert (result.status, result.reason, result.count) == ("fail", "unhandled-error", 1)
    assert "left dirty" in result.message


def test_a_configuration_that_does_not_load_is_red_and_its_count_unknown(go: Go) -> None:
    result = go("test('a', () => {});\n", "boom: missing()")
    assert (result.status, result.count, result.counts) == ("fail", None, None)
    assert "missing is not defined" in result.message


def test_a_report_that_is_never_written_is_an_unknown_count(go: Go, project: Project) -> None:
    project.write("web/leave.js", "module.exports = () => process.exit(0);\n")
    result = go("test('a', () => {});\n", "globalTeardown: './leave.js'")
    assert (result.count, result.counts, result.named) == (None, None, False)
    assert any("unknown, not zero" in one for one in result.warnings)


def test_what_takes_too_long_is_stopped_and_its_files_are_kept(go: Go) -> None:
    result = go(
        "test('hangs', async () => { require('fs').writeFileSync(test.info().outputPath('video.webm'), 'v');"
        " await new Promise(() => {}); });\n",
        "timeout: 0",
        deadline_s=6.0,
    )
    assert (result.status, result.reason, result.count) == ("fail", "timeout", None)
    assert [path.name for path in result.artifacts] == ["1.artifact-01-a-hangs-video.webm"]


def test_the_projects_own_command_is_run_as_it_is_and_still_counted(go: Go, project: Project) -> None:
    project.write("web/mine.js", "module.exports = class { onTestEnd(test) { console.log('MINE', test.title); } };\n")
    command = "cd web && npx playwright test --grep one && npx playwright test --grep two"
    result = go(
        "test('[C1] one', () => {});\ntest('two', () => {});\n",
        "reporter: './mine.js', outputDir: '../../results'",
        command=command,
    )
    assert (result.status, result.count) == ("pass", 2)
    assert {test.name: test.scenarios for test in result.tests} == {"[C1] one": ("C1",), "two": ()}


def test_a_command_that_reads_its_own_json_still_finds_it(go: Go) -> None:
    command = "cd web && npx playwright test --reporter=json | grep -q '\"expected\": 1'"
    result = go("test('[C1] one', () => {});\n", "outputDir: '../../results'", command=command)
    assert (result.status, result.count, result.exit_code) == ("pass", 1, 0)


def test_a_command_of_another_runner_is_read_by_what_it_prints(go: Go, project: Project) -> None:
    project.write("checks.mjs", "import test from 'node:test';\ntest('[C1] up', () => {});\n")
    result = go("", command="node --test --test-reporter=tap checks.mjs")
    assert (result.status, result.count, result.runner) == ("pass", 1, "node-test")
    assert [test.scenarios for test in result.tests] == [("C1",)]


def test_a_command_of_a_runner_that_nobody_knows_has_an_unknown_count(go: Go) -> None:
    result = go("", command="echo up")
    assert (result.status, result.count, result.named) == ("pass", None, False)
    assert any("unknown, not zero" in one for one in result.warnings)


def test_a_command_that_fails_after_green_specs_is_red(go: Go) -> None:
    command = "cd web && npx playwright test; exit 3"
    result = go("test('a', () => {});\n", "outputDir: '../../results'", command=command)
    assert (result.status, result.reason, result.exit_code) == ("fail", "inconsistent-exit", 3)


def test_a_command_that_does_not_exist_is_red(go: Go) -> None:
    result = go("", command="no-such-program")
    assert (result.status, result.reason, result.count) == ("fail", "command-not-found", None)


def test_a_green_of_another_application_is_red_when_the_ports_are_known(go: Go) -> None:
    elsewhere = "use: { baseURL: 'http://localhost:3000' }"
    assert go("test('a', () => {});\n", elsewhere).status == "pass"
    warned = go("test('a', () => {});\n", elsewhere).warnings
    assert "configured for http://localhost:3000" in warned[0]
    result = go("test('a', () => {});\n", elsewhere, ports=(4010,))
    assert (result.status, result.reason) == ("fail", "other-application")
    assert (
        go("test('a', () => {});\n", "use: { baseURL: process.env.PLAYWRIGHT_BASE_URL }", ports=(4010,)).status
        == "pass"
    )


def test_a_refused_connection_to_another_port_says_where_the_stack_is(go: Go) -> None:
    result = go("test('a', async ({ request }) => { await request.get('http://127.0.0.1:9/'); });\n")
    assert result.reason == "tests-failed"
    assert any("nothing listens at" in line and "http://127.0.0.1:4010" in line for line in result.detail)


def test_a_server_of_its_own_is_named(go: Go) -> None:
    server = "webServer: { command: 'sleep 60', wait: { stdout: /x/ } }"
    server = (
        "webServer: { command: 'node -e \"require(`http`).createServer((q,a)=>a.end()).listen(0,()=>0)\"', name: 's' }"
    )
    result = go("test('a', () => {});\n", server)
    assert any("starts a server of its own" in one for one in result.warnings)


_LINKS = """
test('red', ({}, info) => {
  const link = info.outputPath('s.png');
  require('fs').symlinkSync('SECRET', link);
  for (const path of [link, 'SECRET']) info.attachments.push({ name: 'a', path, contentType: 'image/png' });
  expect(1).toBe(2);
});
"""


def test_links_that_a_test_attaches_are_not_followed(go: Go, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_text("secret")
    result = go(_LINKS.replace("SECRET", str(secret)))
    assert [path.suffix for path in result.artifacts] == [".md"]  # what Playwright writes of every failure
    assert "s.png: it is, or lies behind, a link" in result.warnings[-1]
    assert "secret.png: it lies outside of the folders of this run" in result.warnings[-1]


def test_packages_that_are_missing_are_red_and_nothing_runs(project: Project, tmp_path: Path) -> None:
    project.write("package.json", '{"devDependencies": {"@playwright/test": "1"}}')
    project.write("playwright.config.js", "module.exports = {};\n")
    repo = open_repo(project.root)
    found = find_specs(repo.root, Config({}, ""))
    assert isinstance(found, Specs)
    result = run_specs(repo, Config({}, ""), found, {}, log=tmp_path / "1.log")
    assert (result.status, result.reason, result.count) == ("fail", "playwright-missing", None)
    assert "npm install" in result.message
    assert not (tmp_path / "1.log").exists()


def test_no_specs_at_all(project: Project) -> None:
    assert find_specs(project.root, Config({}, "")) == NoSpecs()
