from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.verify.scenarios.listers import Call, call_for


def _call(root: Path, runner: str, command: str) -> Call:
    found = call_for(root, runner, ".", command, "/out")
    assert isinstance(found, Call), found
    return found


@pytest.mark.parametrize(
    ("runner", "command", "want"),
    [
        ("pytest", "pytest -q tests", "pytest --collect-only -q -o cache_dir=/out.cache -q tests"),
        ("pytest", "uv run python -m pytest", "uv run python -m pytest --collect-only -q -o cache_dir=/out.cache"),
        ("pytest", "pytest -m 'not slow'", "pytest --collect-only -q -o cache_dir=/out.cache -m 'not slow'"),
        ("vitest", "npx vitest run src --bail 1", "npx vitest LIST src --bail 1"),
        ("vitest", "vitest --run -t cart", "vitest LIST -t cart"),
        ("vitest", "vitest run --coverage --coverage.reporter text --outputFile=x --reporter json a", "vitest LIST a"),
        ("jest", "npx jest --ci --coverage src", "npx jest --listTests --json --ci src"),
        ("playwright", "npx playwright test --reporter=line e2e", "npx playwright test --list --reporter=json e2e"),
        ("playwright", "npx playwright test --reporter line", "npx playwright test --list --reporter=json"),
        ("go", "go test -race -coverprofile=c.out ./...", "go test -list . -race ./..."),
        ("go", "go test -coverprofile c.out -v ./...", "go test -list . -v ./..."),
        ("cargo", "cargo test --workspace", "cargo test --workspace -- --list"),
        ("cargo", "cargo +nightly test -p api sums -- --test-threads=1 --skip x",
         "cargo +nightly test -p api sums -- --list --test-threads=1 --skip x"),
    ],
)  # fmt: skip
def test_a_command_that_lists_keeps_what_chooses_and_loses_what_writes(
    tmp_path: Path, runner: str, command: str, want: str
) -> None:
    listing = "list --json=/out --includeTaskLocation --coverage.enabled=false"
    assert _call(tmp_path, runner, command).command == want.replace("LIST", listing)


@pytest.mark.parametrize(
    ("runner", "command", "why"),
    [
        ("pytest", "make test", "what `make` runs cannot be told"),
        ("pytest", "pytest && rm -rf x", "`&&`"),
        ("pytest", "pytest $(git ls-files)", "holds"),
        ("pytest", "PYTEST_PLUGINS=x pytest", "PYTEST_PLUGINS"),
        ("pytest", "docker compose run web pytest", "cannot be told"),
        ("vitest", "vitest watch", "no plain run"),
        ("vitest", "vitest run --strange thing", "`thing`"),
        ("go", "go test -run TestX ./...", "chooses its tests"),
        ("go", "go vet ./...", "runs no tests"),
        ("cargo", "cargo nextest run", "cannot be asked"),
        ("cargo", "cargo test --no-run", "chooses its tests"),
        ("deno", "deno test", "deno cannot be asked"),
        ("bun", "bun test", "bun cannot be asked"),
        ("none", "sh run.sh", "nobody knows"),
    ],
)
def test_a_command_that_is_not_understood_is_left_alone(tmp_path: Path, runner: str, command: str, why: str) -> None:
    found = call_for(tmp_path, runner, ".", command, "/out")
    assert isinstance(found, str) and why in found


def test_a_search_path_of_the_command_is_kept(tmp_path: Path) -> None:
    command = _call(tmp_path, "pytest", "PYTHONPATH='my src' python -m pytest").command
    assert command.startswith("PYTHONPATH='my src':") and "listing_plugin" in command.split(" python ")[0]
    assert "PYTHONPATH=/" in _call(tmp_path, "pytest", "env PYTHONPATH= pytest").command


@pytest.mark.parametrize("command", ["npm test", "npm run test", "npm -s test", "yarn test", "pnpm run test", "npm t"])
def test_a_script_of_the_package_is_read(tmp_path: Path, command: str) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "vitest run"}}))
    found = _call(tmp_path, "vitest", f"CI=1 {command}")
    assert found.command.startswith("CI=1 vitest list ")
    assert found.env["PATH"].startswith(f"{tmp_path}/node_modules/.bin:")


@pytest.mark.parametrize(
    ("script", "command", "why"),
    [
        ("tsc && vitest run", "npm test", "the script test: the command is more than one call"),
        ("vitest run", "npm test -- --bail", "hands words to the script"),
        ("npm run other", "npm test", "runs another script"),
        (None, "npm test", "`npm test` runs a script"),
    ],
)
def test_a_script_that_does_more_is_left_alone(tmp_path: Path, script: str | None, command: str, why: str) -> None:
    scripts = {"test": script, "other": "vitest run"} if script else {}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    found = call_for(tmp_path, "vitest", ".", command, "/out")
    assert isinstance(found, str) and why in found
