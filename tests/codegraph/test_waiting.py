"""Who needs the graph to be up to date waits for a run that is under way, and begins where that one did not do it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from morph_tasks.codegraph.freshness import freshness
from morph_tasks.codegraph.waiting import refreshed
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import GRAPHIFY, calls, files_in, pretend, until
from tests.conftest import BIN, Project


@pytest.mark.parametrize("well", [True, False])
def test_a_run_that_is_under_way_is_waited_for(graphed: Project, pretence: Path, well: bool) -> None:
    graphed.write("shop/more.py", "def more(): return 2\n")
    graphed.commit()
    gate = pretence / "gate"
    ends = f'exec {GRAPHIFY} "$@"' if well else "exit 7"
    path = pretend(pretence, f'while [ ! -e "{gate}" ]; do sleep 0.02; done; {ends}')
    argv = [str(BIN / "morph-spec"), "graph", "refresh", "--json"]
    first = subprocess.Popen(argv, cwd=graphed.root, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)
    until(lambda: len(calls(pretence)) == 1)
    told: list[str] = []

    def stage(line: str) -> None:
        told.append(line)
        gate.touch()

    ran = refreshed(open_repo(graphed.root), stage)
    assert told[0] == f"waiting for another run of graphify, process {first.pid}"
    assert (ran is None) is well and (first.wait(60) == 0) is well
    assert freshness(open_repo(graphed.root)).state == "fresh" and "shop/more.py" in files_in(graphed.root)
