"""Files of code that are not checked out: each run, the status and each answer say that the graph lacks them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.codegraph.sparse import left_out, words
from tests.conftest import Project

LINE = "1 file of code is not checked out (sparse checkout), so uses in there may be missing: away/far.py"


@pytest.fixture
def sparse(graphed: Project) -> Project:
    """A graph of a tree without the folder `away`, which uses the cart."""
    graphed.write("away/far.py", "from shop.cart import Cart\n\n\ndef far() -> int:\n    return Cart().total()\n")
    graphed.write("away/notes.txt", "no code\n")
    graphed.write("private/own.py", "x = 1\n")
    with open(graphed.root / ".graphifyignore", "a") as file:
        file.write("private/\n")
    graphed.commit("away")
    graphed.git("sparse-checkout", "set", "shop", ".morph")
    assert not (graphed.root / "away").exists() and not (graphed.root / "private").exists()
    return graphed


def places(root: Path) -> tuple[str, str, str]:
    return str(root), f"{root}/.git", f"{root}/.git"


def test_runs_status_and_answers_say_what_is_not_checked_out(sparse: Project) -> None:
    for command in ("build", "refresh"):
        said = sparse.morph("graph", command, "--json")
        assert said.code == 0 and said.json["notCheckedOut"] == ["away/far.py"] and LINE in said.json["warnings"]
        assert f"warning: {LINE}" in said.err
    freshness = sparse.morph("graph", "status", "--json").json["freshness"]
    assert (freshness["state"], freshness["notCheckedOut"]) == ("fresh", ["away/far.py"])
    assert LINE in sparse.morph("graph", "status").out.splitlines()
    for asked in (("affected", "Cart"), ("affected", "--diff"), ("explain", "Cart")):
        assert LINE in sparse.morph("graph", *asked).out.splitlines(), asked
        assert sparse.morph("graph", *asked, "--json").json["freshness"]["notCheckedOut"] == ["away/far.py"]
    assert "not checked out" in sparse.morph("graph", "affected", "Cart", "--mermaid").out
    sparse.git("sparse-checkout", "disable")
    said = sparse.morph("graph", "refresh", "--json")
    assert said.json["notCheckedOut"] == [] and said.err == ""
    told = sparse.morph("graph", "affected", "Cart").out
    assert "far()" in told and "not checked out" not in told


@pytest.mark.parametrize("way", ["the old settings", "packed", "by hand", "a sparse index"])
def test_each_way_to_leave_files_out_is_seen(sparse: Project, way: str) -> None:
    if way == "a sparse index":
        sparse.git("sparse-checkout", "set", "--sparse-index", "shop", ".morph")
    elif way == "packed":
        sparse.git("update-index", "--index-version", "4")
    else:
        sparse.git("sparse-checkout", "disable")
        assert left_out(*places(sparse.root)) == []
        if way == "by hand":
            sparse.git("update-index", "--skip-worktree", "away/far.py", "shop/cart.py")
            (sparse.root / "away/far.py").unlink()
        else:
            sparse.git("config", "--unset", "extensions.worktreeConfig")
            sparse.git("config", "core.sparseCheckout", "true")
            (sparse.root / ".git/info/sparse-checkout").write_text("/*\n!/away/\n")
            sparse.git("read-tree", "-mu", "HEAD")
    assert left_out(*places(sparse.root)) == ["away/far.py"]


@pytest.mark.parametrize("packed", [False, True])
def test_an_ordinary_tree_costs_no_process(graphed: Project, packed: bool) -> None:
    if packed:
        graphed.git("update-index", "--index-version", "4")
    code = (
        "import sys, os; from morph_tasks.codegraph.sparse import left_out\n"
        "os.posix_spawn = os.posix_spawnp = os.fork = os.execv = None\n"
        "print(left_out(*sys.argv[1:]), 'subprocess' in sys.modules)"
    )
    argv = [sys.executable, "-c", code, *places(graphed.root)]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "[] False\n"


def test_a_tree_without_an_index_has_nothing_left_out(tmp_path: Path) -> None:
    assert left_out(*places(tmp_path)) == []


def test_of_many_the_first_are_named() -> None:
    assert words([]) == []
    (line,) = words([f"{number}.py" for number in range(5)])
    assert line.startswith("5 files of code are") and line.endswith(": 0.py, 1.py, 2.py and 2 more")
    assert "\x1b" not in words(["\x1b[2J.py"])[0]


def test_the_quick_way_says_it_as_the_command_does(
    sparse: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from morph_tasks.codegraph.quick_affected import answer

    assert sparse.morph("graph", "refresh").code == 0
    sparse.git("config", "--unset", "extensions.worktreeConfig")
    sparse.git("config", "core.sparseCheckout", "true")
    monkeypatch.chdir(sparse.root)
    code = answer(["graph", "affected", "Cart"])
    assert code == 0 and LINE in capsys.readouterr().out.splitlines()
