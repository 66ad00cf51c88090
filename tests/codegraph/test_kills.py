"""`kill -9` between any two changes: the graph that was there answers, the same command typed again completes it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from morph_tasks.codegraph.freshness import freshness
from morph_tasks.codegraph.index import open_index
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import files_in, graph_of, pretend
from tests.conftest import Project
from tests.faults import Moment, in_child

MOMENTS = 6


def spread(changes: int) -> Iterator[int]:
    """Yield moments all over a command: the first, the last and some in between."""
    yield from sorted({1 + round(step * (changes - 1) / (MOMENTS - 1)) for step in range(MOMENTS)})


def again(project: Project, master: Path) -> None:
    shutil.rmtree(project.root)
    subprocess.run(["cp", "-a", str(master), str(project.root)], check=True)


def test_a_build(graphed: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # What graphify itself does is graphify's: here it is a quick one, that writes the graph anew.
    script = 'cp "$2/graphify-out/graph.json" "$2/new" && mv "$2/new" "$2/graphify-out/graph.json"'
    monkeypatch.setenv("PATH", pretend(pretence, script))
    (graphed.root / ".graphifyignore").unlink()
    subprocess.run(["cp", "-a", str(graphed.root), str(tmp_path / "master")], check=True)
    argv = ["graph", "build", "--json"]
    whole = in_child(argv, graphed.root)
    assert whole.code == 0, whole.err
    killed = 0
    for number in spread(whole.changes):
        again(graphed, tmp_path / "master")
        ended = in_child(argv, graphed.root, moment=Moment("change", number, group=bool(number % 2)))
        # A file that was touched a moment ago is looked at twice, so that one run may change less than another.
        assert ended.code in (-9, 0), number
        killed += ended.code == -9
        with open_index(graphed.root) as index:
            assert index.find("Cart"), number
        assert freshness(open_repo(graphed.root)).state in ("fresh", "stale")
        after = in_child(argv, graphed.root)
        assert after.code == 0, (number, after.out, after.err)
        assert freshness(open_repo(graphed.root)).state == "fresh", number
        for folder in (graphed.root, graphed.root / "graphify-out", graphed.root / ".git/morph-spec"):
            assert not list(folder.glob(".*.tmp")), number
    assert killed >= MOMENTS - 1


def test_a_copy_into_a_new_tree(graphed: Project, tmp_path: Path) -> None:
    subprocess.run(["cp", "-a", str(graphed.root), str(tmp_path / "master")], check=True)
    argv = ["worktree", "provision", "side", "--json"]
    tree, killed = graphed.root / "worktrees/side", 0
    for _ in range(2):  # the second finds what is kept outside of the repository
        again(graphed, tmp_path / "master")
        whole = in_child(argv, graphed.root)
        assert whole.code == 0, whole.err
    for number in range(whole.changes - 2 * MOMENTS, whole.changes, 2):  # the graph comes last
        again(graphed, tmp_path / "master")
        killed += in_child(argv, graphed.root, moment=Moment("change", number)).code == -9
        after = in_child(argv, graphed.root)
        assert after.code == 0 or "task-in-use" in after.out, (number, after.out, after.err)  # it was complete
        assert graph_of(tree) == graph_of(graphed.root) and files_in(tree)
        assert freshness(open_repo(tree)).state == "fresh", number
        assert Project(tree).git("status", "--porcelain") == "", number
    assert killed >= MOMENTS // 2
