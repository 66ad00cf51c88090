"""A verify takes one slot for heavy jobs, gives it back, and is busy when there is none."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import BIN, Project


@pytest.fixture
def heavy(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    monkeypatch.delenv("MORPH_HEAVY")
    monkeypatch.setenv("MORPH_HEAVY_DIR", str(tmp_path / "slots"))
    _declare(project, "true")
    project.write("dodo.py", "from morph_tasks.tasks import *  # noqa: F403\n")
    project.commit()
    assert project.morph("create", "cart", "--type", "chore", "--description", "x").code == 0
    return project


def _declare(project: Project, command: str, **block: Any) -> None:
    tests = [{"id": name, "command": command, "runner": "none"} for name in ("one", "two")]
    block = {"slots": 1, "minFreeMemGb": 0, "waitTimeoutSec": 1, **block}
    project.config(project={"build": [], "tests": tests}, heavy=block)


def _holders(project: Project) -> list[Any]:
    found: list[Any] = project.morph("heavy", "status", "--json").json["holders"]
    return found


def test_one_slot_for_all_nodes_and_none_behind(heavy: Project) -> None:
    _declare(heavy, "morph-spec heavy status --json >> .git/seen; echo $MORPH_HEAVY_LEASE >> .git/leases")
    assert heavy.verify()["exit"] == 0
    seen = [json.loads(part) for part in (heavy.root / ".git/seen").read_text().replace("}\n{", "}\0{").split("\0")]
    assert [len(one["holders"]) for one in seen] == [1, 1]
    assert {one["holders"][0]["feature"] for one in seen} == {"cart"}
    leases = (heavy.root / ".git/leases").read_text().split()
    assert len(leases) == 2 and len(set(leases)) == 1
    assert _holders(heavy) == []
    again = heavy.verify()
    assert again["exit"] == 0 and _holders(heavy) == []


@pytest.mark.parametrize("program", [("doit", "verify:cart"), ("doit", "-n", "2", "verify:cart")])
def test_doit_gives_it_back_too(heavy: Project, program: tuple[str, ...]) -> None:
    said = heavy.doit(*program[1:])
    assert said.code == 0, said.out + said.err
    assert _holders(heavy) == []


def test_a_command_inside_of_a_verify_takes_no_second_slot(heavy: Project) -> None:
    _declare(heavy, "morph-spec heavy run -- true")
    found = heavy.verify()
    assert found["exit"] == 0, found["feedback"]


def test_busy_is_no_colour_and_leaves_no_stamp(heavy: Project) -> None:
    before = (heavy.root / ".morph/features/cart/feature.json").read_bytes()
    holder = subprocess.Popen(
        [BIN / "morph-spec", "heavy", "run", "--label", "a build", "--", "sleep", "300"], cwd=heavy.root
    )
    try:
        deadline = time.monotonic() + 60
        while not _holders(heavy) and time.monotonic() < deadline:
            assert holder.poll() is None
        said = heavy.morph("verify", "cart", "--json")
        assert said.code == 3
        assert (said.json["status"], said.json["persisted"], said.json["code"]) == ("busy", False, "busy")
        assert said.json["busy"]["holders"][0]["label"] == "a build"
        assert "waiting for a heavy slot" in said.err and "a build" in said.err
        assert (heavy.root / ".morph/features/cart/feature.json").read_bytes() == before
        assert not (heavy.root / ".morph/logs/events.jsonl").exists()
    finally:
        holder.terminate()
        holder.wait()
    assert heavy.verify()["exit"] == 0


def test_nothing_to_run_takes_no_slot(heavy: Project) -> None:
    assert heavy.verify()["exit"] == 0
    holder = subprocess.Popen([BIN / "morph-spec", "heavy", "run", "--", "sleep", "300"], cwd=heavy.root)
    try:
        deadline = time.monotonic() + 60
        while not _holders(heavy) and time.monotonic() < deadline:
            assert holder.poll() is None
        assert heavy.verify()["exit"] == 0, "everything is proved already"
    finally:
        holder.terminate()
        holder.wait()
