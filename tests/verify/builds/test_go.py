from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.verify.builds.go import go_builds, modules, packages

Tree = Callable[..., Path]
NONE = Config({}, "")


def test_the_module_in_the_root(tree: Tree, machine: Callable[..., None]) -> None:
    machine("go")
    (node,) = go_builds(tree("go.mod", "web/package.json"), NONE)
    assert (node.id, node.cwd, node.command) == ("go", ".", "go build -o /dev/null ./...")
    assert node.skip is None


def test_a_missing_toolchain_is_never_green(tree: Tree, machine: Callable[..., None]) -> None:
    machine()
    (node,) = go_builds(tree("go.mod"), NONE)
    assert node.skip == "go is not on the PATH"
    assert node.warnings


def test_modules_below_are_built_each(tree: Tree) -> None:
    root = tree("services/api/go.mod", "services/web/go.mod", "services/api/tools/go.mod", "README.md")
    assert [(node.id, node.cwd) for node in go_builds(root, NONE)] == [
        ("go-services-api", "services/api"),
        ("go-services-web", "services/web"),
    ]


def test_the_only_module_has_the_plain_name(tree: Tree) -> None:
    assert [(node.id, node.cwd) for node in go_builds(tree("api/go.mod"), NONE)] == [("go", "api")]


@pytest.mark.parametrize(
    "path", ["vendor/x/go.mod", "testdata/go.mod", "tests/fixtures/m/go.mod", "examples/go.mod", "a/b/c/go.mod"]
)
def test_modules_of_others_are_not_the_projects_own(tree: Tree, path: str) -> None:
    assert go_builds(tree(path), NONE) == []


def test_the_declared_backend_comes_before_a_search(tree: Tree) -> None:
    root = tree("api/go.mod", "worker/go.mod")
    assert modules(root, Config({"project": {"backendPath": "worker"}}, "")) == ["worker"]


def test_a_workspace_names_its_modules(tree: Tree) -> None:
    root = tree("a/go.mod", "b/go.mod", **{"go.work": "go 1.19\n\nuse (\n\t./a // first\n\t./b\n)\nuse ./c\n"})
    assert modules(root, NONE) == ["."]
    assert packages(root, ".") == "./a/... ./b/... ./c/..."


def test_a_module_that_the_pattern_does_not_reach_is_named(tree: Tree) -> None:
    (node,) = go_builds(tree("go.mod", "cmd/extra/go.mod"), NONE)
    assert any("cmd/extra" in line for line in node.warnings)


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_real_go_leaves_nothing_in_the_tree(tree: Tree) -> None:
    root = tree(**{"go.mod": "module example.test/m\n\ngo 1.19\n", "main.go": "package main\n\nfunc main() {}\n"})
    (node,) = go_builds(root, NONE)
    before = sorted(path.name for path in root.iterdir())
    run(["sh", "-c", node.command], cwd=root)
    assert sorted(path.name for path in root.iterdir()) == before
    (root / "main.go").write_text("package main\n\nfunc main() { x }\n")
    assert run(["sh", "-c", node.command], cwd=root, ok=(1, 2)).code
