from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.machine.processes import Ended
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.reading import read_result

SUMMARY = "Passed!  - Failed:     0, Passed:     9, Skipped:     0, Total:     9, Duration: 1 s - {}.dll (net8.0)\n"


@pytest.mark.parametrize(("done", "run"), [(0, 1), (1, 2), (2, 3), (3, 3)])
def test_a_timeout_says_in_which_run_of_a_chain_it_struck(tmp_path: Path, done: int, run: int) -> None:
    log = tmp_path / "log"
    log.write_text("".join(SUMMARY.format(f"P{number}.Tests") for number in range(done)) + "building\n")
    command = "dotnet test A && dotnet test B && dotnet test C"
    node = Node("tests", "unit", command, runner="dotnet")
    ended = Ended(exit_code=-15, timed_out=True, interrupted=False, duration_ms=5, leftovers=())
    result = read_result(tmp_path, node, log, ended, 5, 3, 0)
    assert (result["status"], result["reason"]) == ("fail", "timeout")
    assert result["message"] == f"timeout after 5 ms in run {run} of 3 — no test failed"
    assert "finished" not in result
