from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.verify.builds.rust import rust_builds
from morph_tasks.verify.suites import cargo_suites

Tree = Callable[..., Path]
NONE = Config({}, "")
CRATE = '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n'
HOME = os.environ.get("HOME", "")  # where the toolchain is; the tests have a home of their own
CHECK = 'CARGO_TARGET_DIR="$MORPH_CACHE_DIR/cargo" cargo check'


def test_a_lock_file_is_binding(tree: Tree, machine: Callable[..., None]) -> None:
    machine("cargo")
    (node,) = rust_builds(tree("Cargo.lock", **{"Cargo.toml": CRATE}), NONE)
    assert (node.id, node.command, node.warnings) == ("rust", f"{CHECK} --locked", ())


def test_an_ignored_lock_file_is_cargos_own(tree: Tree) -> None:
    root = tree("Cargo.lock", **{"Cargo.toml": CRATE, ".gitignore": "Cargo.lock\n"})
    assert rust_builds(root, NONE)[0].command == CHECK


def test_without_a_lock_file_there_is_a_warning_and_no_file_left(tree: Tree, machine: Callable[..., None]) -> None:
    machine("cargo")
    (node,) = rust_builds(tree(**{"Cargo.toml": CRATE}), NONE)
    assert "rm -f Cargo.lock" in node.command
    assert any("Cargo.lock is missing" in line for line in node.warnings)


def test_a_workspace_is_checked_whole_unless_it_chooses(tree: Tree) -> None:
    root = tree("Cargo.lock", **{"Cargo.toml": '[workspace]\nmembers = ["a"]\n'})
    assert rust_builds(root, NONE)[0].command == f"{CHECK} --workspace --locked"
    (root / "Cargo.toml").write_text('[workspace]\nmembers = ["a"]\ndefault-members = ["a"]\n')
    assert rust_builds(root, NONE)[0].command == f"{CHECK} --locked"


def test_a_manifest_that_does_not_parse_is_left_to_cargo(tree: Tree) -> None:
    assert rust_builds(tree("Cargo.lock", **{"Cargo.toml": "[workspace"}), NONE)[0].command == f"{CHECK} --locked"


def test_a_crate_below_runs_in_its_folder(tree: Tree) -> None:
    root = tree("native/core/Cargo.lock", **{"native/core/Cargo.toml": CRATE, "pyproject.toml": ""})
    assert [(node.id, node.cwd) for node in rust_builds(root, NONE)] == [("rust", "native/core")]


def test_a_missing_toolchain_is_never_green(tree: Tree, machine: Callable[..., None]) -> None:
    machine()
    (node,) = rust_builds(tree("Cargo.lock", **{"Cargo.toml": CRATE}), NONE)
    assert node.skip == "cargo is not on the PATH"
    assert node.warnings


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_real_cargo_leaves_nothing_in_the_tree(tree: Tree, tmp_path: Path) -> None:
    root = tree(**{"Cargo.toml": CRATE, "src/lib.rs": "pub fn one() -> i32 { 1 }\n#[test]\nfn t() {}\n"})
    env = {**os.environ, "HOME": HOME, "MORPH_CACHE_DIR": str(tmp_path / "cache")}
    before = sorted(str(path) for path in root.rglob("*") if ".git" not in path.parts)
    (node,) = rust_builds(root, NONE)
    run(["sh", "-c", node.command], cwd=root, env=env)
    (suite,) = cargo_suites(root, NONE)
    assert b"1 passed" in run(["sh", "-c", suite.command], cwd=root, env=env).stdout
    assert sorted(str(path) for path in root.rglob("*") if ".git" not in path.parts) == before
    (root / "src/lib.rs").write_text('pub fn one() -> i32 { "x" }\n')
    assert run(["sh", "-c", node.command], cwd=root, env=env, ok=(101,)).code == 101
    assert not (root / "Cargo.lock").exists()
