"""Which runner a command line calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.verify.runners.infer import direct_calls, exit_code_hidden, infer_runner, pipeline_without_pipefail

COMMANDS = {
    "pytest -q tests": "pytest",
    "python -m pytest": "pytest",
    "python3.12 -X dev -m pytest -q": "pytest",
    "FOO=1 BAR='a b' poetry run pytest -x": "pytest",
    "uv run --with pytest-xdist pytest -n 4": "pytest",
    "coverage run -m pytest && coverage report": "pytest",
    "coverage run --source src -m pytest": "pytest",
    "timeout -k 5 600 python -m pytest": "pytest",
    ".venv/bin/pytest": "pytest",
    "cd api && python -m unittest discover": "unittest",
    "python manage.py test shop": "unittest",
    "npx vitest run": "vitest",
    "node_modules/.bin/vitest run --reporter=dot": "vitest",
    "pnpm exec vitest run": "vitest",
    "pnpm vitest run": "vitest",
    "npx --yes jest --ci": "jest",
    "yarn jest": "jest",
    "node --experimental-vm-modules node_modules/jest/bin/jest.js": "jest",
    "cross-env NODE_ENV=test c8 mocha 'test/**/*.js'": "mocha",
    "npx playwright test --project=chromium": "playwright",
    "node --test": "node-test",
    "node --import tsx --test src/a.test.ts": "node-test",
    "go test ./...": "go",
    "cd api && go test -race ./...": "go",
    "gotestsum -- ./...": "go",
    "cargo test --workspace": "cargo",
    "cargo +nightly test": "cargo",
    "cargo nextest run": "cargo",
    "dotnet test Shop.sln --no-build": "dotnet",
    "DOTNET_CLI_UI_LANGUAGE=en dotnet test | tee log": "dotnet",
    "mvn -B verify": "surefire",
    "./mvnw test": "surefire",
    "./gradlew :app:test": "gradle",
    "gradle test": "gradle",
    "./vendor/bin/phpunit --testdox": "phpunit",
    "php vendor/bin/phpunit": "phpunit",
    "bundle exec rspec spec": "rspec",
    "bin/rspec": "rspec",
    "ctest --test-dir build": "ctest",
    "cmake --build build && ctest": "ctest",
    "bun test": "bun",
    "deno test -A": "deno",
    "npx karma start --single-run": "karma",
    "bash -lc 'cd web && npx vitest run'": "vitest",
    "/opt/tools/pytest.exe -q": "pytest",
    "xvfb-run -a npx playwright test": "playwright",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_runner_is_seen(command: str, tmp_path: Path) -> None:
    assert infer_runner(command, tmp_path) == COMMANDS[command]


@pytest.mark.parametrize(
    "command",
    [
        "",
        "make test",
        "echo pytest",
        "pip install pytest",
        "cat pytest.log",
        "npm test",
        "./run-tests.sh",
        "python script.py",
        "'unclosed",
        "go build ./...",
        "dotnet build",
    ],
)
def test_nothing_is_made_up(command: str, tmp_path: Path) -> None:
    assert infer_runner(command, tmp_path) is None


def _package(folder: Path, **scripts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"scripts": scripts}))


def test_package_scripts_are_followed(tmp_path: Path) -> None:
    _package(tmp_path, test="tsc && vitest run", unit="jest --ci", e2e="playwright test", loop="npm run loop")
    _package(tmp_path / "web", test="mocha")
    assert infer_runner("npm test", tmp_path) == "vitest"
    assert infer_runner("npm t -- --coverage", tmp_path) == "vitest"
    assert infer_runner("npm run unit", tmp_path) == "jest"
    assert infer_runner("yarn e2e", tmp_path) == "playwright"
    assert infer_runner("pnpm run e2e", tmp_path) == "playwright"
    assert infer_runner("npm --prefix web test", tmp_path) == "mocha"
    assert infer_runner("cd web && npm test", tmp_path) == "mocha"
    assert infer_runner("bun run unit", tmp_path) == "jest"
    assert infer_runner("npm run loop", tmp_path) is None
    assert infer_runner("npm run gone", tmp_path) is None


def test_a_broken_package_file_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"scripts": [')
    assert infer_runner("npm test", tmp_path) is None


def test_how_often_a_runner_is_called(tmp_path: Path) -> None:
    _package(tmp_path, test="vitest run", all="turbo run test", both="npm test && vitest run --browser")
    assert direct_calls("pytest -q", "pytest", tmp_path) == 1
    assert direct_calls("ruff check . && pytest a && pytest b | tee log", "pytest", tmp_path) == 2
    assert direct_calls("npm test", "vitest", tmp_path) == 1
    assert direct_calls("npm run both", "vitest", tmp_path) == 2
    for opaque in (
        "npm run all",
        "make test",
        "for f in a b; do pytest $f; done",
        "pytest a && ./more.sh",
        "pnpm -r test",
        "",
    ):
        assert direct_calls(opaque, "vitest", tmp_path) is None


PIPES = {
    "pytest | tee out.txt": True,
    "dotnet test | tail -4": True,
    "npx jest 2>&1 | cat": True,
    "pytest |& tee log": True,
    "bash -c 'pytest | tee log'": True,
    "pytest a | tee x && pytest b": True,
    "set -o pipefail; pytest | tee out.txt": False,
    "set -euo pipefail && pytest | tee out.txt": False,
    "bash -o pipefail -c 'pytest | tee log'": False,
    "pytest | tee log; exit ${PIPESTATUS[0]}": False,
    "pytest -k 'a|b'": False,
    'pytest -k "a | b"': False,
    "pytest || exit 1": False,
    "yes | npx playwright test": False,
    "yes | head -3 | pytest": False,
    "echo $(cat a | head) && pytest": False,
    "pytest # | tee": False,
    "": False,
}


@pytest.mark.parametrize("command", PIPES)
def test_a_pipeline_that_hides_the_exit_code(command: str) -> None:
    assert pipeline_without_pipefail(command) is PIPES[command]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("pytest || true", "|| true"),
        ("pytest; exit 0", "; exit 0"),
        ("pytest ; echo done", "; echo done"),
        ("pytest &", "&"),
        ("pytest; code=$?; echo $code; exit $code", None),
        ("pytest && echo done", None),
        ("echo start; pytest", None),
        ("pytest", None),
        ("pytest 2>&1", None),
    ],
)
def test_an_ending_that_hides_the_exit_code(command: str, wanted: str | None) -> None:
    assert exit_code_hidden(command) == wanted
