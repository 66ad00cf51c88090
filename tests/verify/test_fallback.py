from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.verify.builds import scan
from morph_tasks.verify.builds.detect import build_nodes
from morph_tasks.verify.fallback import NO_SUITE
from morph_tasks.verify.fallback import test_nodes as suites_of
from morph_tasks.verify.nodes import TEST_TIMEOUT_MS, Node, resolve_nodes
from morph_tasks.verify.runners.infer import infer_runner

NONE = Config({}, "")
PYTHON = "tests/test_one.py"
CRATE = '[package]\nname = "tiny"\nversion = "0.1.0"\n'
Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    root = tmp_path / "project"
    run(["git", "init", "-q", str(root)])

    def fill(*empty: str, **texts: str) -> Path:
        for path, text in [*((path, "") for path in empty), *texts.items()]:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return fill


def _package(**keys: object) -> str:
    return json.dumps(keys)


def _shown(nodes: list[Node]) -> list[tuple[str, str, str, str]]:
    return [(node.id, node.cwd, node.runner, node.command) for node in nodes]


def test_a_test_command_speaks_for_everything(tree: Tree) -> None:
    root = tree("App.sln", PYTHON, **{"package.json": _package(scripts={"test": "vitest run"})})
    (node,) = suites_of(root, Config({"project": {"testCommand": "make check && make e2e"}}, ""))
    assert (node.id, node.command, node.warnings) == ("default", "make check && make e2e", ())
    assert node.timeout_ms == 2 * TEST_TIMEOUT_MS
    assert node.declared


def test_a_test_command_that_builds_nothing_is_refused(tree: Tree) -> None:
    (node,) = suites_of(tree("App.sln"), Config({"project": {"testCommand": "dotnet test --no-build"}}, ""))
    assert node.reason == "stale-binary"
    assert node.invalid


def test_git_is_asked_for_files_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree("go.mod", "x_test.go", "App.sln", PYTHON, **{"Cargo.toml": CRATE})
    asked = []
    monkeypatch.setattr(scan, "_ask", lambda root, words, real=scan._ask: asked.append(words[0]) or real(root, words))
    suites_of(root, NONE)
    build_nodes(root, NONE)
    assert asked.count("ls-files") == 2
    assert suites_of(tree("B.sln"), NONE) != []
    assert asked.count("ls-files") == 3


def test_the_order_of_ecosystems(tree: Tree) -> None:
    root = tree("go.mod", **{"Cargo.toml": CRATE})
    assert [node.runner for node in suites_of(root, NONE)] == ["go"]
    tree(**{"package.json": _package(scripts={"test": "node --test"})})
    assert [node.runner for node in suites_of(root, NONE)] == ["node-test"]
    tree(PYTHON)
    assert [node.runner for node in suites_of(root, NONE)] == ["pytest"]
    tree("App.sln")
    assert [node.runner for node in suites_of(root, NONE)] == ["dotnet"]


def test_no_suite_says_so(tree: Tree) -> None:
    (node,) = suites_of(tree("README.md"), NONE)
    assert node.skip == NO_SUITE
    assert "project.tests" in node.warnings[0]


class TestDotnet:
    def test_the_solution_in_the_root(self, tree: Tree) -> None:
        root = tree("App.sln", "tests/A.Tests/A.Tests.csproj")
        assert _shown(suites_of(root, NONE)) == [("dotnet", ".", "dotnet", "dotnet test App.sln")]

    def test_the_project_in_the_root(self, tree: Tree) -> None:
        assert suites_of(tree("App.csproj"), NONE)[0].command == "dotnet test App.csproj"

    def test_projects_are_chained_and_each_has_its_time(self, tree: Tree) -> None:
        root = tree("tests/B.Tests/B.Tests.csproj", "tests/A Tests/A.Tests.csproj", "src/App/App.csproj")
        (node,) = suites_of(root, NONE)
        assert node.command == (
            "dotnet test 'tests/A Tests/A.Tests.csproj' && dotnet test tests/B.Tests/B.Tests.csproj"
        )
        assert node.timeout_ms == 2 * TEST_TIMEOUT_MS

    def test_the_declared_time_wins(self, tree: Tree) -> None:
        root = tree("a/A.Tests.csproj", "b/B.Tests.csproj")
        assert suites_of(root, Config({"project": {"testTimeoutMs": 5}}, ""))[0].timeout_ms == 5

    def test_test_projects_come_before_an_application_in_the_root(self, tree: Tree) -> None:
        root = tree("App.csproj", "tests/App.Tests.csproj")
        assert suites_of(root, NONE)[0].command == "dotnet test tests/App.Tests.csproj"

    @pytest.mark.parametrize(
        "copy",
        [
            "worktrees/f/A.Tests.csproj",
            ".worktrees/f/A.Tests.csproj",
            "node_modules/x/A.Tests.csproj",
            "a/bin/A.Tests.csproj",
            "a/obj/A.Tests.csproj",
        ],
    )
    def test_copies_are_not_tested(self, tree: Tree, copy: str) -> None:
        root = tree("tests/A.Tests.csproj", copy)
        assert suites_of(root, NONE)[0].command == "dotnet test tests/A.Tests.csproj"

    def test_a_registered_work_tree_is_not_tested(self, tree: Tree) -> None:
        root = tree("tests/A.Tests.csproj")
        run(["git", "-C", str(root), "add", "."])
        run(["git", "-C", str(root), "commit", "-qm", "one"])
        run(["git", "-C", str(root), "worktree", "add", "-q", "elsewhere/f"])
        assert suites_of(root, NONE)[0].command == "dotnet test tests/A.Tests.csproj"

    def test_a_stray_project_of_another_stack_is_no_suite(self, tree: Tree) -> None:
        root = tree("tools/Gen.Tests.csproj", PYTHON)
        assert suites_of(root, Config({"project": {"stack": "python"}}, ""))[0].runner == "pytest"

    def test_several_solutions_in_the_root_fall_to_the_test_projects(self, tree: Tree) -> None:
        root = tree("A.sln", "B.sln", "t/A.Tests.csproj")
        assert suites_of(root, NONE)[0].command == "dotnet test t/A.Tests.csproj"


class TestNode:
    def test_the_root_and_the_frontends_beside_it(self, tree: Tree) -> None:
        root = tree(
            **{
                "package.json": _package(scripts={"test": "node --test"}, devDependencies={"vitest": "1"}),
                "src/web/package.json": _package(devDependencies={"vitest": "1"}),
                "frontend/package.json": _package(dependencies={"jest": "29"}),
                "Ui_Kit/package.json": _package(devDependencies={"jest": "29"}),
            }
        )
        nodes = suites_of(root, Config({"project": {"frontendPath": "Ui_Kit"}}, ""))
        assert _shown(nodes) == [
            ("default", ".", "node-test", "npm test"),
            ("vitest-src-web", "src/web", "vitest", "npx vitest run"),
            ("jest-frontend", "frontend", "jest", "npx jest --ci"),
            ("jest-ui-kit", "Ui_Kit", "jest", "npx jest --ci"),
        ]

    def test_the_root_is_not_run_twice(self, tree: Tree) -> None:
        root = tree(**{"package.json": _package(scripts={"test": "vitest"}, devDependencies={"vitest": "1"})})
        assert [node.id for node in suites_of(root, NONE)] == ["default"]

    def test_a_root_without_a_script_still_has_its_runner(self, tree: Tree) -> None:
        root = tree(**{"package.json": _package(devDependencies={"vitest": "1"})})
        assert [node.id for node in suites_of(root, NONE)] == ["vitest"]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[]",
            "null",
            '{"scripts": []}',
            '{"scripts": {"test": 3}}',
            '{"dependencies": ["vitest"]}',
            "\ufeff{}",
            '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}',
            '{"scripts": {"test": "  "}}',
        ],
    )
    def test_an_odd_package_is_passed_over(self, tree: Tree, text: str) -> None:
        assert suites_of(tree(**{"package.json": text}), NONE)[0].skip == NO_SUITE

    @pytest.mark.parametrize("path", ["../other", "/etc", "a/../../other"])
    def test_a_frontend_outside_of_the_tree_is_not_looked_at(self, tree: Tree, tmp_path: Path, path: str) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other/package.json").write_text(_package(devDependencies={"vitest": "1"}))
        assert suites_of(tree(), Config({"project": {"frontendPath": path}}, ""))[0].skip == NO_SUITE


class TestGoAndRust:
    def test_go_is_countable_and_really_runs(self, tree: Tree) -> None:
        assert _shown(suites_of(tree("go.mod"), NONE)) == [("go", ".", "go", "go test -v -count=1 ./...")]

    def test_each_module_has_its_suite(self, tree: Tree) -> None:
        nodes = suites_of(tree("a/go.mod", "b/go.mod"), NONE)
        assert [(node.id, node.cwd) for node in nodes] == [("go-a", "a"), ("go-b", "b")]

    def test_cargo_goes_on_after_a_failure(self, tree: Tree) -> None:
        (node,) = suites_of(tree("Cargo.lock", **{"Cargo.toml": CRATE}), NONE)
        assert node.runner == "cargo"
        assert node.command == 'CARGO_TARGET_DIR="$MORPH_CACHE_DIR/cargo" cargo test --no-fail-fast --locked'
        assert node.timeout_ms > TEST_TIMEOUT_MS

    def test_the_declared_time_wins(self, tree: Tree) -> None:
        root = tree("Cargo.lock", **{"Cargo.toml": CRATE})
        assert suites_of(root, Config({"project": {"testTimeoutMs": 7}}, ""))[0].timeout_ms == 7


class TestWhatIsLeftOut:
    def test_suites_of_other_ecosystems_are_named_on_the_first_node(self, tree: Tree) -> None:
        root = tree(
            PYTHON,
            "go.mod",
            "x_test.go",
            **{
                "frontend/package.json": _package(devDependencies={"vitest": "1"}),
                "Cargo.toml": CRATE,
                "src/lib.rs": "#[cfg(test)]\nmod tests {}\n",
            },
        )
        (node,) = suites_of(root, NONE)
        assert node.runner == "pytest"
        (warning,) = node.warnings
        for said in ("`npx vitest run` in frontend", "`go test ./...`", "`cargo test`", "project.tests"):
            assert said in warning

    def test_a_package_in_any_folder_is_named(self, tree: Tree) -> None:
        vitest = _package(devDependencies={"vitest": "1"})
        root = tree(PYTHON, **{"web/package.json": vitest, "examples/a/package.json": vitest, "docs/package.json": "{"})
        (warning,) = suites_of(root, NONE)[0].warnings
        assert "`npx vitest run` in web;" in warning
        assert "examples" not in warning

    def test_a_package_of_a_workspace_is_run_by_its_root(self, tree: Tree) -> None:
        vitest = _package(devDependencies={"vitest": "1"})
        root = tree(**{"package.json": _package(scripts={"test": "vitest run"}), "packages/a/package.json": vitest})
        assert suites_of(root, NONE)[0].warnings == ()

    def test_a_manifest_without_tests_is_not_named(self, tree: Tree) -> None:
        root = tree(PYTHON, "go.mod", "main.go", **{"Cargo.toml": CRATE, "src/main.rs": "fn main() {}\n"})
        assert suites_of(root, NONE)[0].warnings == ()

    def test_a_script_that_runs_the_chosen_suite_is_covered(self, tree: Tree) -> None:
        root = tree(PYTHON, **{"package.json": _package(scripts={"test": "pytest -q"})})
        assert suites_of(root, NONE)[0].warnings == ()

    @pytest.mark.parametrize("mark", ["#[test]", "#[tokio::test]", "#[rstest]", "#[cfg(test)]", "#[actix_web::test]"])
    def test_rust_tests_are_known_by_their_marks(self, tree: Tree, mark: str) -> None:
        root = tree(PYTHON, **{"Cargo.toml": CRATE, "src/lib.rs": f"{mark}\nfn t() {{}}\n"})
        assert "cargo test" in suites_of(root, NONE)[0].warnings[0]


def test_every_inferred_command_is_read_by_its_runner(tree: Tree) -> None:
    root = tree("a/A.Tests.csproj", **{"Cargo.toml": CRATE})
    for keys in ({}, {"stack": "rust"}):
        for node in suites_of(root, Config({"project": keys}, "")):
            assert infer_runner(node.command, root) == node.runner


def test_ids_are_names_of_nodes(tree: Tree) -> None:
    root = tree(**{"src/web/package.json": _package(devDependencies={"vitest": "1"}), "src/web/tsconfig.json": "{}"})
    nodes = resolve_nodes(root, NONE)
    assert all(node.id.replace("-", "").isalnum() and node.id == node.id.lower() for node in nodes)
    assert not any(node.invalid for node in nodes)
