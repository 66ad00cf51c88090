"""Which suite runs a test file, and whether it would name the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from morph_tasks.repo.git import Repo
from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.reach.suites import Suites, family_of
from tests.codegraph.handmade import HandMade


def _outcome(id: str, runner: str, cwd: str = ".", command: str = "x", *, named: bool = True) -> Outcome:
    record = {"named": named}
    return Outcome(Node("tests", id, command, cwd, runner), "pass", record=record)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    root = tmp_path_factory.mktemp("suites")
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    (root / "shared").mkdir()
    return Repo(root, root / ".git", root / ".git")


@pytest.mark.parametrize(
    ("path", "ran"),
    [
        ("api/tests/test_a.py", "named"),
        ("lib/tests/test_a.py", "nowhere"),
        ("web/a.test.ts", "unnamed"),
        # A suite in its language is taken to run it, and not the one of which nobody knows what it runs.
        ("api/a_test.go", "unnamed"),
        # Its command names the folder.
        ("shared/test_b.py", "named"),
        ("web/FooTests.cs", "nowhere"),
    ],
)
def test_how_a_test_file_runs(repo: Repo, path: str, ran: str) -> None:
    outcomes = [
        _outcome("api", "pytest", "api", "pytest ../shared"),
        _outcome("any", "none", "api", named=False),
        _outcome("web", "vitest", "web", named=False),
    ]
    assert Suites(repo, None, outcomes).ran([path]) == ran


def test_one_test_that_is_not_known_is_enough_and_its_suite_is_kept_with_the_way_out(repo: Repo) -> None:
    outcomes = [
        _outcome("api", "pytest"),
        _outcome("web", "vitest", "web", named=False),
        _outcome("go", "go", named=False),
        _outcome("any", "none", "lib", named=False),
    ]
    suites = Suites(repo, None, outcomes)
    assert suites.ran(["test_a.py", "web/a.test.ts"]) == "unnamed"
    assert suites.ran(["test_a.py", "a.spec.rb"]) == "nowhere"
    assert suites.ran(["lib/a_spec.rb"]) == "unnamed"
    assert suites.unnamed == {
        "tests/web": "add --reporter=verbose to its command",
        "tests/any": "let it write JUnit XML, and declare that as `junit` of the node",
    }
    assert (suites.family("tests/go"), suites.family("tests/any")) == ("go", None)


def test_a_node_that_is_left_out_runs_nothing(repo: Repo) -> None:
    node = Node("tests", "api", "pytest", runner="pytest", skip="not here")
    assert Suites(repo, None, [Outcome(node, "skip")]).ran(["test_a.py"]) == "nowhere"


def test_a_test_file_without_text_is_not_missed(tmp_path: Path) -> None:
    HandMade().write(tmp_path)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    (tmp_path / "test_empty.py").touch()
    (tmp_path / "test_full.py").write_text("def test_a(): pass\n")
    with open_index(tmp_path) as index:
        suites = Suites(Repo(tmp_path, tmp_path / ".git", tmp_path / ".git"), index, [])
        assert suites.left_out("cart.py") == ["test_full.py"]


def test_families_of_files(tmp_path: Path) -> None:
    assert [family_of(one) for one in ("a/B.CS", "a.tsx", "a.kt", "Makefile")] == ["net", "js", "jvm", None]
