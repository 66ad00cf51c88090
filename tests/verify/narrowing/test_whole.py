"""What runs whole, and the reason that a person reads."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from morph_tasks.verify.narrowing import cargo, go, jest, vitest
from morph_tasks.verify.narrowing import pytest as pytest_narrower
from morph_tasks.verify.narrowing.model import Narrowed

CASE = "it('x', () => {});\n"
PY = "def test_x():\n    pass\n"
FILES = {
    vitest: ["src/a.test.ts"], jest: ["src/a.test.ts"], pytest_narrower: ["tests/test_a.py"], go: ["p/p_test.go"],
    cargo: ["crates/a/tests/flow.rs"],
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        "src/a.test.ts": CASE, "tests/test_a.py": PY, "go.mod": "module m\n", "p/p_test.go": "package p\n",
        "q/q_test.go": "package q\n", "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
        "crates/a/Cargo.toml": '[package]\nname = "a"\n', "crates/b/Cargo.toml": '[package]\nname = "b"\n',
        "crates/a/tests/flow.rs": "", "crates/a/src/lib.rs": "",
    }.items():  # fmt: skip
        write(tmp_path, name, text)
    return tmp_path


def write(root: Path, name: str, text: str) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")
    return name


def narrow(module: ModuleType, root: Path, command: str, *more: str, cwd: str = ".") -> Narrowed | str:
    found: Narrowed | str = module.narrow(root, cwd, command, [*FILES[module], *more])
    return found


NARROW = {
    vitest: [
        "npx vitest run", "vitest run --coverage", "./node_modules/.bin/vitest run --reporter verbose",
        "bunx vitest run",
        "pnpm exec vitest run", "yarn vitest run", "npm exec -- vitest run", "npx vitest@3 run --silent",
        "vitest --run",
        "cross-env CI=1 vitest run --watch=false", "node node_modules/vitest/vitest.mjs run -c 'my config.ts'",
    ],
    jest: [
        "npx jest", "jest --ci -i -w 2", "CI=true npx jest --watchAll=false",
        "jest --reporters default jest-junit --",
        "node --experimental-vm-modules node_modules/jest/bin/jest.js --coverage", "yarn jest --maxWorkers=50%",
        "npx --no-install jest --config '{\"verbose\": true}'",
    ],
    pytest_narrower: [
        "pytest", "pytest -q tests", "python -m pytest -x -n auto", "python3.11 -I -m pytest --tb=short tests/",
        "uv run pytest -rA", "uv run --with x python -m pytest", "poetry run pytest -vv --maxfail 3",
        "coverage run -m pytest", "coverage run --source=src -m pytest", "python -m coverage run -m pytest tests",
        'python -m pytest -o cache_dir="$MORPH_CACHE_DIR/pytest"', "timeout 60 nice -n 5 pytest -p no:cacheprovider",
        "env A=1 pytest -n4", ".venv/bin/pytest --unknown-flag", "pytest --cov=src --cov-report term tests",
    ],
    go: ["go test ./...", "go test -v -count=1 -tags integration ./...", "gotestsum --format dots -- -race ./...",
         "go test ./p ./q -timeout 5m", "env CGO_ENABLED=0 go test ...", "go test m/..."],
    cargo: ["cargo test", "cargo test --workspace -- --nocapture --test-threads 1", "cargo +nightly t --release -j 2",
            'CARGO_TARGET_DIR="$MORPH_CACHE_DIR/cargo" cargo test --no-fail-fast --workspace --locked',
            "cargo nextest run --profile ci"],
}  # fmt: skip
WHOLE = {
    vitest: [
        ("npm test", "`npm test` runs a script"), ("pnpm run test", "runs a script"), ("yarn test", "runs a script"),
        ("bun run vitest", "runs a script"), ("npx vitest", "watches"), ("vitest watch", "no plain run"),
        ("vitest related a.ts --run", "no plain run"), ("vitest bench --run", "no plain run"),
        ("vitest run src", "chooses its tests already"), ("vitest run -t x", "`-t`"),
        ("vitest run --test-name-pattern=x", "--test-name-pattern"), ("vitest run --changed", "`--changed`"),
        ("vitest run --shard=1/2", "`--shard`"), ("vitest run --project web", "`--project`"),
        ("vitest run && echo done", "more than one call"), ("vitest run | tee log", "`|`"), ("vitest run &", "`&`"),
        ("vitest run; true", "`;`"), ("vitest run --coverage.thresholds.lines=80", "threshold"),
        ("vitest run --foo src", "may choose tests or belong to `--foo`"), ("sh -c 'vitest run'", "runs a script"),
        ("pnpm --filter web exec vitest run", "script"), ("npx -w web vitest run", "elsewhere"),
        ("make test", "`make`"),
        ("npx -c 'vitest run'", "elsewhere"), ("env -C web vitest run", "elsewhere"), ("$RUN vitest run", "variable"),
        ('"$RUN" vitest run', "in a variable"), ("npm exec vitest run", "keeps options"), ("vitest run -- x", "`--`"),
    ],
    jest: [
        ("jest src/a", "chooses its tests already"), ("jest -t x", "`-t`"), ("jest --onlyChanged", "`--onlyChanged`"),
        ("jest -o", "`-o`"), ("jest -io", "`-io`"), ("jest --testPathPattern x", "`--testPathPattern`"),
        ("jest --test-path-ignore-patterns x", "--test-path-ignore"), ("jest --shard=1/3", "`--shard`"),
        ("jest --findRelatedTests a.ts", "`--findRelatedTests`"), ("jest -- src", "chooses its tests already"),
        ("jest --watch", "`--watch`"), ("jest --coverageThreshold '{}'", "threshold"), ("react-scripts test", "told"),
        ("jest --selectProjects web", "`--selectProjects`"), ("nyc --check-coverage jest", "threshold"),
    ],
    pytest_narrower: [
        ("pytest -k x", "`-k`"), ("pytest -m 'not slow'", "`-m`"), ("pytest -qk x", "`-qk`"),
        ("pytest --lf", "`--lf`"),
        ("pytest --ff", "`--ff`"), ("pytest --last-failed", "`--last-failed`"), ("pytest --sw", "`--sw`"),
        ("pytest --deselect=x", "`--deselect`"), ("pytest --ignore tests/x", "`--ignore`"), ("pytest --co", "`--co`"),
        ("pytest tests/test_a.py::test_x", "chooses its tests already"),
        ("pytest @args", "chooses its tests already"),
        ("pytest nowhere", "no path in the tree"), ("PYTEST_ADDOPTS=-x pytest", "PYTEST_ADDOPTS"),
        ("env PYTEST_ADDOPTS='-k x' pytest", "PYTEST_ADDOPTS"), ("pytest --cov-fail-under=80", "threshold"),
        ("pytest -o testpaths=x", "overrides `testpaths`"),
        ("pytest --override-ini addopts=-x", "overrides `addopts`"),
        ("python run_tests.py", "script"), ("python -c 'x'", "script"), ("tox", "`tox`"), ("make test", "`make`"),
        ("uv run --directory api pytest", "elsewhere"), ("poetry -C api run pytest", "elsewhere"),
        ("nox -s tests", "`nox`"),
        ("pytest tests/*.py", "a glob"), ("pytest $ARGS", "variable"), ('pytest "$TARGET"', "variable may name"),
        ("pytest --frobnicate tests", "may choose tests or belong to `--frobnicate`"), ("pytest ../..", "outside"),
        ("cd api && pytest", "more than one call"), ("pytest > log.txt", "redirection"),
        ("pixi run pytest", "`pixi`"),
        ("pytest -c nowhere.ini", "cannot be read"),
    ],
    go: [
        ("go test -run X ./...", "`-run`"), ("go test --run=X ./...", "`--run`"),
        ("go test -test.run X ./...", "run"),
        ("go test -skip X ./...", "`-skip`"), ("go vet ./...", "`go vet`"), ("go test", "no package"),
        ("go test ./... -args x", "`-args`"), ("go test ./p -v ./q", "test binary"), ("go test -C x ./...", "`-C`"),
        ("go test ./p/p_test.go", "not followed"), ("gotestsum ./...", "behind `--`"), ("go test all", "no path"),
        ("GOFLAGS=-run=X go test ./...", "GOFLAGS"), ("go test ./q", "no package"), ("go test ./p", "every package"),
    ],
    cargo: [
        ("cargo test -p a", "`-p`"), ("cargo test flow", "chooses its tests already"),
        ("cargo test --lib", "`--lib`"),
        ("cargo test --test flow", "`--test`"), ("cargo test -- --skip x", "`--skip`"),
        ("cargo test -- x", "already"),
        ("cargo test --exclude b", "`--exclude`"), ("cargo test --doc", "`--doc`"), ("cargo build", "no tests"),
        ("cargo test --no-run", "`--no-run`"), ("cargo nextest run -E 'test(x)'", "`-E`"),
        ("cargo nextest list", "no tests"),
        ("cargo test -- --ignored", "`--ignored`"), ("cargo test --manifest-path ../x/Cargo.toml", "no Cargo.toml"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "command"), [(one, command) for one, commands in NARROW.items() for command in commands]
)
def test_known_forms_are_narrowed(tree: Path, module: ModuleType, command: str) -> None:
    found = narrow(module, tree, command)
    assert isinstance(found, Narrowed), found


@pytest.mark.parametrize(("module", "command", "why"), [(one, *row) for one, rows in WHOLE.items() for row in rows])
def test_everything_else_runs_whole_and_says_why(tree: Path, module: ModuleType, command: str, why: str) -> None:
    found = narrow(module, tree, command)
    assert isinstance(found, str), found
    assert why in found


@pytest.mark.parametrize(
    "name",
    [
        "package.json", "web/pnpm-lock.yaml", "vitest.config.ts", "jest.config.cjs", "vite.config.mts",
        "tsconfig.test.json",
        "src/setupTests.ts", "vitest.setup.ts", "test/setup.js", "src/__snapshots__/a.test.ts.snap", ".env.test",
        "src/__mocks__/fs.ts", "src/__tests__/helper.ts", "test/data.json", "tests/fixtures/x.html", ".babelrc",
        "src/test-utils.tsx", "babel.config.js", "patches/x.patch",
    ],
)  # fmt: skip
def test_what_decides_over_javascript_tests_runs_them_whole(tree: Path, name: str) -> None:
    write(tree, name, "export const a = 1;\n")
    for module in (vitest, jest):
        assert name in str(narrow(module, tree, "npx vitest run" if module is vitest else "jest", name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/code.ts", "export const a = 1;\n"), ("README.md", ""), ("src/data.json", "{}"), ("src/types.d.ts", ""),
        ("e2e/login.spec.ts", "import { test } from '@playwright/test';\ntest('x', () => {});\n"), ("api/app.py", ""),
        ("tests/test_a.py", PY), ("src/inner.ts", "  it('deep', () => {});\n"),
        ("src/latest.ts", "const latest = 1;\n"),
    ],
)  # fmt: skip
def test_what_is_no_javascript_test_is_left_to_others(tree: Path, name: str, text: str) -> None:
    write(tree, name, text)
    found = narrow(vitest, tree, "npx vitest run", name)
    assert isinstance(found, Narrowed), found
    assert found.selectors == ("src/a.test.ts",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/b.spec.mts", ""), ("src/__tests__/c.ts", "  test.each([1])('x', () => {});\n"), ("checks/d.js", CASE),
        ("checks/e.ts", "describe.skip('x', () => {});\n"), ("src/f.ts", "if (import.meta.vitest) { }\n"),
    ],
)  # fmt: skip
def test_javascript_tests_are_known_by_name_folder_and_lines(tree: Path, name: str, text: str) -> None:
    write(tree, name, text)
    found = narrow(vitest, tree, "npx vitest run", name)
    assert isinstance(found, Narrowed), found
    assert name in found.selectors


def test_a_script_named_like_the_runner_goes_first(tree: Path) -> None:
    write(tree, "package.json", '{"scripts": {"vitest": "vitest run -t smoke"}}')
    assert "script of that name" in str(narrow(vitest, tree, "yarn vitest run"))


@pytest.mark.parametrize(
    ("name", "config", "module", "command"),
    [
        ("vitest.config.ts", "coverage: { thresholds: { lines: 80 } }", vitest, "vitest run --coverage"),
        ("vite.config.js", "coverage: { enabled: true, thresholds: { lines: 80 } }", vitest, "vitest run"),
        ("jest.config.js", "coverageThreshold: {}", jest, "jest --coverage"),
        ("package.json", '{"jest": {"collectCoverage": true, "coverageThreshold": {}}}', jest, "jest"),
        (".coveragerc", "[report]\nfail_under = 90\n", pytest_narrower, "pytest --cov"),
    ],
)
def test_a_coverage_threshold_is_for_the_whole_suite(
    tree: Path, name: str, config: str, module: ModuleType, command: str
) -> None:
    assert isinstance(narrow(module, tree, command), Narrowed)
    write(tree, name, config)
    assert "threshold" in str(narrow(module, tree, command))


@pytest.mark.parametrize(
    "name",
    [
        "conftest.py", "tests/conftest.py", "pyproject.toml", "requirements-dev.txt", "tests/__init__.py",
        "tests/helper.py",
        "tests/data/x.json", "tests/__snapshots__/x.ambr", "uv.lock", "setup.cfg", "src/sitecustomize.py",
        "tests/notes.md",
        "tests/test_utils.py", ".env",
    ],
)  # fmt: skip
def test_what_decides_over_python_tests_runs_them_whole(tree: Path, name: str) -> None:
    write(tree, name, "")
    assert name in str(narrow(pytest_narrower, tree, "pytest", name))


def test_what_is_no_python_test_is_left_to_others(tree: Path) -> None:
    for name in ("src/code.py", "README.md", "src/a.test.ts", "web/package.json", "tests/README.md", "tests/x.spec.ts"):
        write(tree, name, "")
        found = narrow(pytest_narrower, tree, "pytest", name)
        assert isinstance(found, Narrowed), (name, found)
        assert found.command == "pytest tests/test_a.py"


@pytest.mark.parametrize(
    ("files", "command", "want"),
    [
        ({"pytest.ini": "[pytest]\naddopts = -k smoke\n"}, "pytest", "addopts of pytest.ini: it chooses its tests"),
        ({"pytest.ini": "[pytest]\naddopts = -q tests\n"}, "pytest", "names paths"),
        ({"tox.ini": "[pytest]\naddopts = --lf\n"}, "pytest", "addopts of tox.ini"),
        ({"setup.cfg": "[tool:pytest]\naddopts = -m 'not slow'\n"}, "pytest", "`-m`"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--ff'\n"}, "pytest", "`--ff`"),
        ({"pyproject.toml": "[tool.pytest]\naddopts = ['-k', 'x']\n"}, "pytest", "`-k`"),
        ({"pytest.toml": "[pytest]\naddopts = ['--sw']\n"}, "pytest", "`--sw`"),
        ({"pyproject.toml": "[tool.pytest\n"}, "pytest", "cannot be read"),
        ({"tests/pytest.ini": ""}, "pytest", "of another folder"),
        ({"tests/setup.py": ""}, "pytest", "of another folder"),
        ({"pytest.ini": "[pytest]\nnorecursedirs = tests\n"}, "pytest", "does not look into tests/"),
        ({"conftest.py": "collect_ignore = ['x']\n"}, "pytest", "decides itself what is collected"),
        ({"tests/conftest.py": "def pytest_ignore_collect(): ...\n"}, "pytest tests", "tests/conftest.py decides"),
        ({"pytest.ini": "[pytest]\ntestpaths = other\n", "other/x.py": ""}, "pytest", "not among the paths"),
        ({"pytest.ini": "[pytest]\npython_files = check_*.py\n"}, "pytest", "no test itself"),
        ({"custom.ini": "[pytest]\naddopts = -k x\n"}, "pytest -c custom.ini", "`-k`"),
    ],
)
def test_the_configuration_of_pytest_counts(tree: Path, files: dict[str, str], command: str, want: str) -> None:
    for name, text in files.items():
        write(tree, name, text)
    assert want in str(narrow(pytest_narrower, tree, command))


def test_options_of_the_environment_count(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k smoke")
    assert "PYTEST_ADDOPTS: it chooses" in str(narrow(pytest_narrower, tree, "pytest"))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-q --color=yes")
    assert isinstance(narrow(pytest_narrower, tree, "pytest"), Narrowed)
    monkeypatch.setenv("GOFLAGS", "-run=X")
    assert "GOFLAGS" in str(narrow(go, tree, "go test ./..."))


def test_names_that_pytest_would_read_as_more_than_a_path(tree: Path) -> None:
    for name in ("tests/[id]/test_b.py", "tests/a::b/test_c.py"):
        write(tree, name, PY)
        assert name in str(narrow(pytest_narrower, tree, "pytest", name))


@pytest.mark.parametrize(
    "name",
    [
        "go.mod",
        "go.sum",
        "go.work",
        "p/testdata/x.go",
        "p/testdata/x.json",
        "p/page.html",
        "vendor/x/x.go",
        "p/x_linux.go",
    ],
)
def test_what_decides_over_go_tests_runs_them_whole(tree: Path, name: str) -> None:
    write(tree, name, (tree / name).read_text() if (tree / name).exists() else "package x\n")
    assert name in str(narrow(go, tree, "go test ./...", name))


def test_go_files_with_constraints_embeds_and_modules_of_their_own(tree: Path) -> None:
    tagged = write(tree, "p/tagged_test.go", "//go:build integration\n\npackage p\n")
    assert "build constraint" in str(narrow(go, tree, "go test ./...", tagged))
    inner = write(tree, "inner/x_test.go", "package x\n")
    write(tree, "inner/go.mod", "module inner\n")
    assert "another module" in str(narrow(go, tree, "go test ./...", inner))
    page = write(tree, "q/static/x.html", "")
    assert isinstance(narrow(go, tree, "go test ./...", page), Narrowed)
    write(tree, "q/q.go", 'package q\n\nimport _ "embed"\n\n//go:embed static/*\nvar x string\n')
    assert "embed" in str(narrow(go, tree, "go test ./...", page))


@pytest.mark.parametrize(
    "name", ["Cargo.toml", "Cargo.lock", "crates/a/build.rs", ".cargo/config.toml", "crates/a/tests/x.json"]
)
def test_what_decides_over_rust_tests_runs_them_whole(tree: Path, name: str) -> None:
    write(tree, name, (tree / name).read_text() if (tree / name).exists() else "")
    assert name in str(narrow(cargo, tree, "cargo test", name))


def test_cargo_names_crates_and_integration_tests(tree: Path) -> None:
    assert str(narrow(cargo, tree, "cargo test --workspace")).count("cargo test -p a --test flow'") == 1
    found = narrow(cargo, tree, "cargo test", "crates/a/src/lib.rs", "web/x.ts")
    assert isinstance(found, Narrowed)
    assert found.command == "cargo test -p a"
    write(tree, "crates/b/Cargo.toml", '[package]\nname = "b"\n[dev-dependencies]\na = { path = "../a" }\n')
    assert "every crate" in str(narrow(cargo, tree, "cargo test", "crates/a/src/lib.rs"))
