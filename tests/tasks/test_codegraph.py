"""`doit graph-refresh`: up to date by HEAD and by the content of the rules, with the graph as its target."""

from __future__ import annotations

import os

import pytest

from morph_tasks.codegraph.runlock import take
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import files_in, path_without
from tests.conftest import BIN, Project

DODO = "from morph_tasks.tasks import *\n"


@pytest.fixture
def doing(project: Project) -> Project:
    project.write("cart.py", "def total(): return 1\n")
    project.write("dodo.py", DODO)
    project.write(".graphifyignore", "*.md\n")
    project.commit("a cart")
    return project


def ran(project: Project) -> bool:
    said = project.doit("graph-refresh")
    assert said.code == 0, said.out + said.err
    return said.out.startswith(".  graph-refresh")


def why(project: Project) -> str:
    return project.doit("info", "graph-refresh").out


def test_it_runs_when_head_or_the_rules_moved_and_not_otherwise(doing: Project) -> None:
    assert "there is no graphify-out/graph.json" in why(doing)
    assert ran(doing) and not ran(doing)
    assert doing.git("status", "--porcelain") == ""
    os.utime(doing.root / ".graphifyignore", (1, 1))
    doing.write(".graphifyignore", "# words\n*.md\n")
    assert not ran(doing)
    doing.write(".graphifyignore", "*.md\n/none/\n")
    assert "ignore rules are not those" in why(doing) and ran(doing)
    doing.write("more.py", "def more(): return 2\n")
    doing.commit()
    assert "HEAD is at" in why(doing) and ran(doing) and "more.py" in files_in(doing.root)
    (doing.root / "graphify-out/graph.json").unlink()
    assert ran(doing)
    assert "graph-refresh" in doing.doit("list").out


def test_without_graphify_it_is_refused_in_our_words(doing: Project) -> None:
    path = path_without(doing.root.parent / "bare")
    said = doing.doit("graph-refresh", PATH=path)
    assert said.code != 0 and "graphify-unavailable" in said.out + said.err
    assert f"{BIN}" in said.out + said.err


def test_one_that_does_not_end_fails_the_task(doing: Project) -> None:
    with take(open_repo(doing.root)) as lock:
        assert lock is not None
        said = doing.doit("graph-refresh", MORPH_GRAPH_TIMEOUT_S="0.5")
    assert said.code != 0 and "graph-busy" in said.out + said.err
