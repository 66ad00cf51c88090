"""Work trees and their graph: copied from the main tree, moved by hand, and never in the way of their end."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.codegraph.ignore_rules import MARK, NAME
from morph_tasks.codegraph.seeding import seed
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import files_in, graph_of, pid_in, pretend, record_of, status
from tests.conftest import BIN, Project


def provision(project: Project, name: str = "side") -> Project:
    said = project.morph("worktree", "provision", name, "--json")
    assert said.code == 0, said.err
    assert said.json["graph"] == {"copied": (project.root / "graphify-out/graph.json").exists()}
    return Project(project.root / "worktrees" / name)


def remove(project: Project, tree: Project) -> Any:
    return project.morph("worktree", "remove", "--target", str(tree.root), "--json")


def test_a_new_tree_has_the_graph_of_the_commit_it_begins_at(graphed: Project) -> None:
    tree = provision(graphed)
    assert graph_of(tree.root) == graph_of(graphed.root)
    names = {path.name for path in (tree.root / "graphify-out").iterdir()}
    assert {"graph.json", "manifest.json", "morph-index.sqlite"} <= names
    assert not names & {".graphify_root", ".graphify_build_state.json", "cache"}
    assert tree.git("status", "--porcelain") == ""
    found = status(tree)
    assert found["freshness"]["state"] == "fresh" and found["nodes"] and found["tree"] == "worktree"
    assert found["refresh"]["auto"] is False
    for path in (tree.root / "graphify-out").iterdir():
        assert str(graphed.root).encode() + b"/shop" not in path.read_bytes(), path.name


def test_it_moves_by_hand_only(graphed: Project) -> None:
    tree = provision(graphed)
    tree.write("shop/side.py", "def aside(): return 3\n")
    tree.commit()
    found = status(tree)
    assert found["freshness"]["reason"] == "old-stamp" and "copied from the main tree" in found["next"]
    before = record_of(graphed.root / ".git")
    said = tree.morph("graph", "refresh", "--json")
    assert said.code == 0, said.err
    assert "shop/side.py" in files_in(tree.root) and "shop/side.py" not in files_in(graphed.root)
    assert status(tree)["freshness"]["state"] == "fresh" and record_of(graphed.root / ".git") == before
    assert tree.git("status", "--porcelain") == "" and said.json["ignoreFile"] == "kept"  # its own, from the commit


def test_a_tree_whose_main_tree_has_no_graph_gets_none(code: Project) -> None:
    tree = provision(code)
    assert not (tree.root / "graphify-out").exists()
    assert tree.morph("graph", "build").code == 0
    assert status(tree)["freshness"]["state"] == "fresh" and tree.git("status", "--porcelain") == ""


def test_the_rules_of_the_main_tree_are_lent_where_the_tree_has_none(code: Project) -> None:
    code.write(NAME, "/shop/tests/\n*.md\n")
    assert code.morph("graph", "build").code == 0
    tree = provision(code)
    tree.write("shop/side.py", "def aside(): return 3\n")
    tree.commit()
    said = tree.morph("graph", "refresh", "--json")
    assert said.json["ignoreFile"] == "lent" and not (tree.root / NAME).exists()
    assert files_in(tree.root) == {"shop/cart.py", "shop/till.py", "shop/side.py"}
    assert status(tree)["freshness"]["state"] == "fresh"
    code.write(NAME, "/shop/tests/\n*.md\n/gone/\n")
    assert status(tree)["freshness"]["reason"] == "ignore-changed"


@pytest.fixture
def interrupted(code: Project, pretence: Path) -> tuple[Project, Project]:
    """A work tree in which graphify was killed with the rules that were lent to it."""
    code.write(NAME, "/shop/tests/\n*.md\n")
    assert code.morph("graph", "build").code == 0
    tree = provision(code)
    env = {**os.environ, "PATH": pretend(pretence, f'echo $$ > "{pretence}/pid"; exec sleep 300')}
    argv = [str(BIN / "morph-spec"), "graph", "refresh"]
    child = subprocess.Popen(argv, cwd=tree.root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid = pid_in(pretence / "pid")
    child.kill()
    child.wait()
    os.kill(pid, signal.SIGKILL)
    assert (tree.root / NAME).read_text().startswith(MARK)
    return code, tree


def test_what_a_killed_run_was_lent_does_not_keep_the_tree(interrupted: tuple[Project, Project]) -> None:
    main, tree = interrupted
    mine = tree.write("mine.txt", "work\n")
    said = remove(main, tree)
    assert said.json["code"] == "worktree-dirty" and said.json["paths"] == ["mine.txt"]
    assert (tree.root / NAME).exists()  # it goes when nothing else keeps the tree
    mine.unlink()
    said = remove(main, tree)
    assert said.code == 0, said.out + said.err
    assert not tree.root.exists()


def test_the_next_run_uses_it_and_takes_it_away(interrupted: tuple[Project, Project]) -> None:
    _, tree = interrupted
    assert status(tree)["freshness"]["state"] == "fresh"  # it is not a rule of the tree's own
    assert tree.morph("graph", "refresh", "--json").json["ignoreFile"] == "lent"
    assert not (tree.root / NAME).exists()


def test_one_that_was_committed_with_all_else_stays(interrupted: tuple[Project, Project]) -> None:
    _, tree = interrupted
    tree.commit()
    assert tree.morph("graph", "refresh", "--json").json["ignoreFile"] == "kept"
    assert tree.git("status", "--porcelain") == ""


def test_a_file_of_the_users_own_keeps_the_tree(graphed: Project) -> None:
    tree = provision(graphed)
    tree.write(NAME, f"/mine/\n{MARK}\n")
    assert remove(graphed, tree).json["code"] == "worktree-dirty"


def test_a_graph_that_git_sees_is_nobodys_work(graphed: Project) -> None:
    tree = provision(graphed)
    exclude = graphed.root / ".git/info/exclude"
    exclude.write_text(exclude.read_text().replace("/graphify-out\n", ""))
    assert tree.git("status", "--porcelain") == "?? graphify-out/"
    said = remove(graphed, tree)
    assert said.code == 0 and not tree.root.exists()


def test_the_copy_of_a_graph_that_another_took_the_place_of_has_no_record(graphed: Project) -> None:
    graphed.git("worktree", "add", "-q", "-b", "side", str(graphed.root.parent / "side"))
    about = (graphed.root / "graphify-out/graph.json").stat()
    os.utime(graphed.root / "graphify-out/graph.json", ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    tree = open_repo(graphed.root.parent / "side")
    assert seed(open_repo(graphed.root), tree) == (True, None)
    assert record_of(tree.git_dir)["current"] is None
    assert seed(open_repo(graphed.root), tree) == (False, None)  # never over one that is there


def test_a_copy_that_fails_leaves_no_graph_and_says_so(graphed: Project) -> None:
    graphed.git("worktree", "add", "-q", "-b", "side", str(graphed.root.parent / "side"))
    tree = open_repo(graphed.root.parent / "side")
    (tree.root / "graphify-out").write_text("in the way")
    seeded, trouble = seed(open_repo(graphed.root), tree)
    assert not seeded and trouble and "graph build" in trouble
