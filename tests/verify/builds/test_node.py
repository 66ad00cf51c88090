from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.verify.builds.node import node_builds

Tree = Callable[..., Path]
NONE = Config({}, "")
NOTES = '--incremental --tsBuildInfoFile "$MORPH_CACHE_DIR/'


def _compiler(version: str = "5.9.3", package: str = "typescript") -> dict[str, str]:
    return {f"node_modules/{package}/package.json": json.dumps({"version": version})}


@pytest.fixture(autouse=True)
def _with_node(machine: Callable[..., None]) -> None:
    machine("node", "npx")


def test_the_root(tree: Tree) -> None:
    (node,) = node_builds(tree(**{"tsconfig.json": "{}"}, **_compiler()), NONE)
    assert (node.id, node.cwd, node.skip) == ("tsc", ".", None)
    assert node.command == f'npx --no-install tsc --noEmit {NOTES}tsc-0.tsbuildinfo"'


def test_an_old_compiler_gets_no_option_it_refuses(tree: Tree) -> None:
    (node,) = node_builds(tree(**{"tsconfig.json": "{}"}, **_compiler("3.9.10")), NONE)
    assert node.command == "npx --no-install tsc --noEmit"


@pytest.mark.parametrize("folder", ["src/frontend", "src/web", "frontend", "apps/web", "packages/app", "web"])
def test_known_frontends_use_the_compiler_above_them(tree: Tree, folder: str) -> None:
    (node,) = node_builds(tree(**{f"{folder}/tsconfig.json": "{}"}, **_compiler()), NONE)
    assert (node.id, node.cwd, node.skip) == ("tsc", folder, None)


def test_the_declared_frontend_and_the_root(tree: Tree) -> None:
    root = tree(**{"tsconfig.json": "{}", "ui/My App/tsconfig.json": "{}"}, **_compiler())
    nodes = node_builds(root, Config({"project": {"frontendPath": "ui/My App/"}}, ""))
    assert [(node.id, node.cwd) for node in nodes] == [("tsc", "."), ("tsc-ui-my-app", "ui/My App")]


def test_a_frontend_outside_of_the_tree_is_not_looked_at(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui/tsconfig.json").write_text("{}")
    assert node_builds(tree(), Config({"project": {"frontendPath": "../ui"}}, "")) == []


def test_a_compiler_that_is_not_installed_is_never_green(tree: Tree) -> None:
    (node,) = node_builds(tree(**{"tsconfig.json": "{}", "package.json": "{}"}), NONE)
    assert node.skip and "typescript is not installed" in node.skip
    assert any("not built" in line for line in node.warnings)


def test_a_compiler_above_the_tree_is_somebody_elses(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "node_modules/typescript").mkdir(parents=True)
    (tmp_path / "node_modules/typescript/package.json").write_text('{"version": "5.0.0"}')
    assert node_builds(tree(**{"tsconfig.json": "{}"}), NONE)[0].skip


def test_without_node_nothing_is_checked(tree: Tree, tmp_path: Path) -> None:
    os.unlink(tmp_path / "machine/node")
    (node,) = node_builds(tree(**{"tsconfig.json": "{}"}, **_compiler()), NONE)
    assert node.skip == "node is not on the PATH"


def test_a_configuration_of_references_checks_what_they_name(tree: Tree) -> None:
    root = tree(
        **{
            "tsconfig.json": """{
              // Comments, "quotes" and http://urls are common here
              "files": [], /* and so are
              "files": ["x"] */
              "references": [{ "path": "./tsconfig.app.json" }, { "path": "./server" },],
            }""",
            "tsconfig.app.json": '{"include": ["src"], "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
            "server/tsconfig.json": "{}",
        },
        **_compiler(),
    )
    (node,) = node_builds(root, NONE)
    assert node.command.split(" && ") == [
        f'npx --no-install tsc --noEmit -p tsconfig.app.json {NOTES}tsc-0.tsbuildinfo"',
        f'npx --no-install tsc --noEmit -p server/tsconfig.json {NOTES}tsc-1.tsbuildinfo"',
    ]


def test_projects_that_need_each_others_output_are_left_to_a_declared_build(tree: Tree) -> None:
    root = tree(
        **{
            "tsconfig.json": '{"files": [], "references": [{"path": "a"}, {"path": "b"}]}',
            "a/tsconfig.json": '{"compilerOptions": {"composite": true}}',
            "b/tsconfig.json": '{"references": [{"path": "../a"}]}',
            "c.ts": "",
        },
        **_compiler(),
    )
    (node,) = node_builds(root, NONE)
    assert node.skip and "b/tsconfig.json" in node.skip and "project.build" in node.skip
    assert node.warnings


def test_a_root_with_files_and_a_reference_checks_both(tree: Tree) -> None:
    root = tree(
        **{
            "tsconfig.json": '{"include": ["src"], "references": [{"path": "./tsconfig.node.json"}]}',
            "tsconfig.node.json": '{"compilerOptions": {"composite": true}, "include": ["vite.config.ts"]}',
        },
        **_compiler(),
    )
    (node,) = node_builds(root, NONE)
    assert node.command.count("--noEmit") == 2


def test_references_that_lead_nowhere_cover_no_file(tree: Tree) -> None:
    (node,) = node_builds(
        tree(**{"tsconfig.json": '{"files": [], "references": [{"path": "gone"}]}'}, **_compiler()), NONE
    )
    assert node.skip and "no file" in node.skip


def test_a_circle_of_references_ends(tree: Tree) -> None:
    root = tree(
        **{
            "tsconfig.json": '{"files": [], "references": [{"path": "a"}]}',
            "a/tsconfig.json": '{"files": [], "references": [{"path": ".."}]}',
        },
        **_compiler(),
    )
    assert node_builds(root, NONE)[0].skip


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '"x"', '{"references": 3}', '{"references": [3, {"path": 4}]}']
)
def test_an_odd_configuration_is_left_to_the_compiler(tree: Tree, text: str) -> None:
    (node,) = node_builds(tree(**{"tsconfig.json": text}, **_compiler()), NONE)
    assert node.command.startswith("npx --no-install tsc --noEmit")


def test_vue_files_need_their_own_compiler(tree: Tree) -> None:
    root = tree(**{"tsconfig.json": "{}"}, **_compiler(), **_compiler("2.0.0", "vue-tsc"))
    assert node_builds(root, NONE)[0].command.startswith("npx --no-install vue-tsc --noEmit")


def test_plug_n_play_asks_yarn(tree: Tree) -> None:
    (node,) = node_builds(tree(".pnp.cjs", **{"tsconfig.json": "{}"}), NONE)
    assert node.command.startswith("yarn run tsc --noEmit")


def test_the_command_runs_the_compiler_of_the_tree(tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = tree(**{"tsconfig.json": "{}"}, **_compiler())
    (node,) = node_builds(root, NONE)
    (tmp_path / "machine/npx").write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    said = run(["sh", "-c", node.command], cwd=root, env={**os.environ, "MORPH_CACHE_DIR": "/c d"}).text.split("\n")
    assert said[:-1] == [
        "--no-install",
        "tsc",
        "--noEmit",
        "--incremental",
        "--tsBuildInfoFile",
        "/c d/tsc-0.tsbuildinfo",
    ]
