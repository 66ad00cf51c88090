from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.verify.builds.detect import build_nodes
from morph_tasks.verify.builds.dotnet import dotnet_builds, find_target
from morph_tasks.verify.nodes import Node, resolve_nodes

Tree = Callable[..., Path]


def _project(**keys: object) -> Config:
    return Config({"project": keys}, "")


@pytest.fixture(autouse=True)
def _with_dotnet(machine: Callable[..., None]) -> None:
    machine("dotnet")


def _build(root: Path, **keys: object) -> Node:
    (node,) = dotnet_builds(root, _project(**keys))
    assert node.id == "dotnet"
    return node


@pytest.mark.parametrize(
    ("files", "keys", "target"),
    [
        (["App.sln", "src/App/App.csproj"], {}, "App.sln"),
        (["App.slnx", "src/App/App.csproj"], {}, "App.slnx"),
        (["App.sln", "App.slnx"], {}, "App.sln"),
        (["App.csproj"], {}, "App.csproj"),
        (["App.csproj", "deep/Other.sln"], {}, "App.csproj"),
        (["src/App.sln", "src/App/App.csproj", "src/Lib/Lib.csproj"], {}, "src/App.sln"),
        (["src/App/App.csproj"], {}, "src/App/App.csproj"),
        (["a/A.sln", "b/B.sln"], {"backendPath": "b"}, "b/B.sln"),
        (["a/A.sln", "b/B.sln"], {"backendPath": "./b/"}, "b/B.sln"),
        (["a/A.sln", "a/B.sln"], {"backendPath": "a/B.sln"}, "a/B.sln"),
        (["Root.sln", "b/B.csproj"], {"backendPath": "b"}, "b/B.csproj"),
        (["lib/Lib.fsproj"], {}, "lib/Lib.fsproj"),
        (["App.SLN"], {}, "App.SLN"),
        (["my app/My App.sln"], {}, "'my app/My App.sln'"),
    ],
)
def test_one_thing_is_built(tree: Tree, files: list[str], keys: dict[str, str], target: str) -> None:
    node = _build(tree(*files), **keys)
    assert (node.invalid, node.skip) == (None, None)
    assert node.command == f"dotnet build {target}"


@pytest.mark.parametrize(
    "beside",
    ["worktrees/x/A.sln", ".worktrees/x/A.sln", "node_modules/x/A.sln", "App/bin/A.sln", "App/obj/A.csproj"],
)
def test_copies_are_not_candidates(tree: Tree, beside: str) -> None:
    assert _build(tree("src/App.sln", beside)).command == "dotnet build src/App.sln"


def test_a_registered_work_tree_is_not_a_candidate_wherever_it_lies(tree: Tree) -> None:
    root = tree("src/App.sln")
    run(["git", "-C", str(root), "add", "."])
    run(["git", "-C", str(root), "commit", "-qm", "one"])
    run(["git", "-C", str(root), "worktree", "add", "-q", "copies/feature"])
    assert (root / "copies/feature/src/App.sln").is_file()
    assert _build(root).command == "dotnet build src/App.sln"
    # Half removed: git looks into the folder, and still has it on its list.
    os.unlink(root / "copies/feature/.git")
    assert _build(root).command == "dotnet build src/App.sln"


def test_several_solutions_are_not_guessed(tree: Tree) -> None:
    node = _build(tree("a/A.sln", "b/B.slnx", "c/C.csproj"))
    assert node.reason == "dotnet-solution-ambiguous"
    assert "a/A.sln, b/B.slnx" in str(node.invalid)
    assert "C.csproj" not in str(node.invalid)
    assert "project.backendPath" in str(node.invalid)


def test_several_projects_without_a_solution_are_not_guessed(tree: Tree) -> None:
    node = _build(tree("a/A.csproj", "b/B.csproj"))
    assert node.reason == "dotnet-solution-ambiguous"
    assert "2 projects" in str(node.invalid)


def test_several_in_the_root_are_not_guessed(tree: Tree) -> None:
    assert _build(tree("A.sln", "B.sln")).reason == "dotnet-solution-ambiguous"


def test_a_long_list_of_candidates_is_cut(tree: Tree) -> None:
    node = _build(tree(*(f"p{number:02}/P.csproj" for number in range(20))))
    assert "and 12 more" in str(node.invalid)


def test_a_stack_without_files_was_never_set_up(tree: Tree) -> None:
    node = _build(tree("README.md"), stack="nextjs+dotnet")
    assert node.reason == "dotnet-solution-not-found"
    assert "project.backendPath" in str(node.invalid)


def test_a_backend_without_a_solution_names_what_there_is(tree: Tree) -> None:
    node = _build(tree("src/App.sln", "api/readme.md"), stack="dotnet", backendPath="api")
    assert node.reason == "dotnet-solution-not-found"
    assert "src/App.sln" in str(node.invalid)


def test_a_backend_outside_of_the_tree_is_refused(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/App.sln").touch()
    node = _build(tree("src/App.sln"), stack="dotnet", backendPath="../other")
    assert node.reason == "dotnet-solution-not-found"
    assert "outside" in str(node.invalid)


def test_a_backend_of_another_stack_says_nothing_about_dotnet(tree: Tree) -> None:
    assert _build(tree("api/main.py", "App.sln"), backendPath="api").command == "dotnet build App.sln"


@pytest.mark.parametrize("files", [[], ["README.md"], ["tests/fixtures/one/A.csproj"]])
def test_a_tree_without_dotnet_has_no_such_build(tree: Tree, files: list[str]) -> None:
    root = tree(*files)
    assert dotnet_builds(root, _project()) == []
    assert [node.id for node in build_nodes(root, _project())] == ["none"]


def test_a_stray_project_of_another_stack_is_said_and_not_built(tree: Tree) -> None:
    node = _build(tree("tools/gen/Gen.csproj", "samples/S.csproj"), stack="python")
    assert node.skip and "tools/gen/Gen.csproj" in node.skip
    assert node.warnings


def test_an_ignored_solution_is_no_part_of_the_tree(tree: Tree) -> None:
    root = tree("generated/Out.sln", "src/App.sln", **{".gitignore": "generated/\n"})
    assert _build(root).command == "dotnet build src/App.sln"


def test_a_missing_toolchain_is_never_green(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "machine/dotnet").unlink()
    node = _build(tree("App.sln"))
    assert node.skip == "dotnet is not on the PATH"
    assert any("not built" in line for line in node.warnings)


def test_the_refusal_keeps_its_code_beside_other_builds(tree: Tree) -> None:
    root = tree("a/A.sln", "b/B.sln", **{"pyproject.toml": "[project]\nname='x'\n"})
    nodes = [node for node in resolve_nodes(root, _project()) if node.family == "build"]
    assert [node.id for node in nodes] == ["python", "dotnet"]
    assert nodes[0].runs
    assert nodes[1].invalid


def test_the_target_is_none_for_other_trees(tree: Tree) -> None:
    assert find_target(tree("main.py"), _project()) is None


def test_names_that_look_like_options_stay_names(tree: Tree) -> None:
    root = tree("-x/App.sln")
    assert _build(root).command == "dotnet build ./-x/App.sln"


def test_a_deleted_file_is_no_candidate(tree: Tree) -> None:
    root = tree("a/A.sln", "b/B.sln")
    run(["git", "-C", str(root), "add", "."])
    os.unlink(root / "a/A.sln")
    assert _build(root).command == "dotnet build b/B.sln"
