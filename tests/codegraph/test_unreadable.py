"""A graph that lies there and cannot be read: no run of graphify stumbles over it, and each way out is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.unreadable import aside, unreadable
from tests.codegraph.scene import calls, pretend
from tests.conftest import BIN, Project

# Root may read everything, unless it gave that up.
GIVEN_UP = "-dac_override,-dac_read_search"
BOUND = ["setpriv", f"--bounding-set={GIVEN_UP}", f"--inh-caps={GIVEN_UP}"] if os.geteuid() == 0 else []


def asked(root: Path, *words: str, **env: str) -> tuple[int, Any]:
    if BOUND and not shutil.which("setpriv"):
        pytest.skip("setpriv is not here")
    argv = [*BOUND, str(BIN / "morph-spec"), "graph", *words, "--json"]
    done = subprocess.run(argv, cwd=root, capture_output=True, check=False, env={**os.environ, **env})
    return done.returncode, json.loads(done.stdout)


def spoil(graph: Path, how: str) -> None:
    if how == "mode 000":
        graph.chmod(0)
    elif how == "its folder":
        graph.parent.chmod(0)
    else:
        graph.unlink()
        if how == "a folder":
            (graph / "inside").mkdir(parents=True)
            aside_of_before = graph.with_name("graph.json.aside")
            (aside_of_before / "inside").mkdir(parents=True)
        else:
            graph.symlink_to("graph.json")


@pytest.mark.parametrize("how", ["mode 000", "its folder", "a folder", "a link to itself"])
@pytest.mark.parametrize("words", [("build",), ("refresh",), ("affected", "pay")])
def test_the_way_out_leads_to_an_answer(
    graphed: Project, pretence: Path, tmp_path: Path, how: str, words: tuple[str, ...]
) -> None:
    graph = layout.graph_file(graphed.root)
    spoil(graph, how)
    code, said = asked(graphed.root, *words, PATH=pretend(pretence, "exit 0"))
    assert code == 1 and said["code"] in ("unreadable-file", "graph-unwritable"), said
    assert calls(pretence) == []
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([*BOUND, "sh", "-c", said["fix"]], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 0, (said["fix"], done.stderr)
    code, said = asked(graphed.root, *words)
    assert code == 0, said
    assert asked(graphed.root, "affected", "Cart")[1]["counts"]["affected"]


def test_what_goes_aside_takes_a_name_that_is_free(tmp_path: Path) -> None:
    place = tmp_path / "graph.json"
    assert aside(str(place)) == f"{place}.aside"
    (tmp_path / "graph.json.aside").symlink_to("nowhere")
    assert aside(str(place)) == f"{place}.aside2"


def test_a_graph_of_somebody_else_goes_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = layout.graph_file(tmp_path)
    graph.parent.mkdir()
    graph.touch()
    fix = unreadable(str(tmp_path), "permission denied").fix
    assert fix and fix.startswith("chmod u+rw ")
    monkeypatch.setattr("os.geteuid", lambda: graph.stat().st_uid + 1)
    fix = unreadable(str(tmp_path), "permission denied").fix
    assert fix and fix.startswith(f"mv {graph} {graph}.aside && ")
