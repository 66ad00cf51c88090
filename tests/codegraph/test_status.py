"""What `graph status` says, by the short way and by the long one, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.index import build
from morph_tasks.codegraph.quick import answer
from tests.codegraph.scene import status
from tests.conftest import Project

_WATCH = """
import json, sys
seen = []
def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        seen.append(args[0])
    elif event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
        seen.append(event)
sys.addaudithook(watch)
from morph_tasks.entry import _run
code = _run(["graph", "status", "--json"])
print(json.dumps({"code": code, "seen": seen, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


def watched(project: Project) -> tuple[Any, Any]:
    done = subprocess.run([sys.executable, "-c", _WATCH], cwd=project.root, capture_output=True, check=True)
    return json.loads(done.stdout), json.loads(done.stderr)


def test_a_fresh_graph_has_all_its_numbers(graphed: Project) -> None:
    found = status(graphed)
    keys = ["available", "path", "nodes", "testNodes", "links", "freshness", "refresh", "version", "sanitize"]
    assert list(found)[: len(keys)] == keys
    assert found["available"] and found["path"] == str(layout.graph_file(graphed.root))
    assert found["nodes"] > found["testNodes"] > 0 and found["links"] > 0
    assert found["freshness"]["state"] == "fresh" and found["freshness"]["reason"] is None
    assert set(found["refresh"]) == {"auto", "running", "since", "pid", "last"}
    assert (found["refresh"]["auto"], found["refresh"]["running"], found["refresh"]["pid"]) == (True, False, None)
    assert {"coalescible", "external", "ambiguous", "recoveredDispatch"} <= set(found["sanitize"])
    assert found["next"] is None
    assert status(graphed, MORPH_GRAPH_AUTO_REFRESH="0")["refresh"]["auto"] is False


def test_the_graph_is_not_opened_and_no_program_started(graphed: Project) -> None:
    told, cost = watched(graphed)
    assert told["freshness"]["state"] == "fresh" and told["nodes"]
    started = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"}
    assert not [name for name in cost["seen"] if name.endswith("/graph.json") or name in started]
    heavy = {"click", "msgspec", "sqlite3", "pathlib", "dataclasses", "sh", "networkx", "subprocess"}
    assert heavy.isdisjoint(cost["modules"])


def test_the_short_way_and_the_long_one_say_the_same(
    graphed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(graphed.root / "shop")
    long = graphed.morph("graph", "status", "--json", "-p", ".").json
    assert answer(["graph", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == long
    assert answer(["graph", "status"]) == 0
    assert capsys.readouterr().out == graphed.morph("graph", "status", "-p", ".").out
    assert answer(["graph", "status", "--help"]) is None and answer(["graph", "build"]) is None


def test_no_graph_is_a_state_and_unknown_is_null(code: Project) -> None:
    found = status(code)
    assert (found["available"], found["nodes"], found["testNodes"], found["links"]) == (False, None, None, None)
    assert found["sanitize"] is None and found["indexed"] is None and found["refresh"]["last"] is None
    assert "graph build" in found["next"]
    assert code.morph("graph", "status").out.startswith("there is no code graph")


def test_a_graph_that_nobody_indexed_has_no_numbers_until_one_is_made(graphed: Project) -> None:
    (graphed.root / ".git/morph-spec/graph-refresh-state.json").unlink()
    layout.index_file(graphed.root).unlink()
    found = status(graphed)
    assert (found["available"], found["nodes"], found["sanitize"], found["indexed"]) == (True, None, None, False)
    assert "not indexed" in graphed.morph("graph", "status").out
    build(graphed.root)
    found = status(graphed)
    assert found["nodes"] and found["indexed"] and found["freshness"]["state"] == "stale"
    with open(layout.graph_file(graphed.root), "ab") as file:
        file.write(b"\n")
    assert status(graphed)["nodes"] is None  # the index is of another graph


@pytest.mark.parametrize("left", [0, 1, -1, -30])
def test_a_graph_that_is_cut_off_is_told_as_such_and_not_as_old(graphed: Project, left: int) -> None:
    graph = layout.graph_file(graphed.root)
    whole = graph.read_bytes().rstrip()
    graph.write_bytes(whole[:left])
    graphed.write("shop/more.py", "def more(): return 2\n")
    graphed.commit()
    found = status(graphed)
    assert (found["freshness"]["state"], found["freshness"]["reason"]) == ("stale", "corrupt-graph")
    assert found["nodes"] is None and found["freshness"]["builtAtCommit"] is None
    assert found["next"] == "make another: morph-spec graph build"
    assert "cannot be read" in graphed.morph("graph", "status").out
    graph.write_bytes(whole + b"\n")
    assert status(graphed)["freshness"]["reason"] == "old-stamp"


@pytest.mark.parametrize("what", ["the index is garbage", "the graph is a folder", "the record is a folder"])
def test_it_never_fails_over_what_lies_there(graphed: Project, what: str) -> None:
    state = graphed.root / ".git/morph-spec/graph-refresh-state.json"
    state.unlink()
    if what == "the index is garbage":
        layout.index_file(graphed.root).write_bytes(b"SQLite format 3\0 no")
    elif what == "the record is a folder":
        state.mkdir()
    else:
        layout.graph_file(graphed.root).unlink()
        layout.graph_file(graphed.root).mkdir()
    assert status(graphed)["version"]["matches"] is True


def test_outside_of_a_repository_it_is_refused(tmp_path: Any, project: Project) -> None:
    said = project.morph("graph", "status", "--json", cwd=tmp_path)
    assert (said.code, said.json["code"]) == (2, "not-a-repository")
