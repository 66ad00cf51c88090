"""Faults seen in the field: where each known case is covered, and which wait for a part that is not built yet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import BIN, Project, runs

TESTS = Path(__file__).parents[1]

READERS = "verify/runners/test_cases.py"
COVERED = {
    **{f"a{number:02}": READERS for number in range(1, 37, 2)},
    "b01": "stack/test_readiness.py::test_a_one_shot_that_nobody_depends_on_is_completed",
    "b03": "e2e/test_stack.py::test_a_dependency_that_is_unhealthy_first_and_healthy_then",
    "b05": "stack/test_sample.py::test_both_shapes_of_ps_and_what_surrounds_them",
    "b07": "stack/test_preflight.py::test_fixed_names_are_found_and_those_of_the_project_are_not",
    "b09": "e2e/test_stack.py::test_a_missing_variable_is_composes_own_refusal_and_creates_nothing",
    "b11": "stack/test_project.py::test_names_are_normalised_as_compose_does",
    "b13": "e2e/test_stack.py::test_a_volume_with_another_password_is_named_as_the_cause",
    "c11": "e2e/test_cases.py::test_before_the_first_commit",
    "c13": "e2e/test_cases.py::test_a_shallow_clone",
    "d01": "e2e/test_cases.py::test_odd_names_do_not_break_the_task_file",
    "d03": "e2e/test_cases.py::test_a_missing_input_stops_only_what_needs_it",
    "d05": "e2e/test_cases.py::test_damaged_state_is_made_again",
    "d07": "e2e/test_cases.py::test_signals_under_doit_leave_nothing",
    "d09": "e2e/test_cases.py::test_the_third_run_is_answered",
    "e05": "verify/validators/test_credentials.py",
    "f01": "machine/test_identity.py::test_a_number_that_another_process_has_now_is_dead",
    "f03": "machine/test_identity.py::test_a_zombie_is_dead",
    "f05": "machine/test_processes.py::test_what_escaped_is_ended_too",
    "f07": "machine/heavy/test_memory.py",
    "g01": "plan/test_outline.py::test_a_fence_is_closed_by_its_own_kind_and_length",
    "g03": "plan/test_outline.py::test_what_a_comment_holds_is_no_heading",
    "g05": "plan/test_source.py",
}
WAITING = {
    **dict.fromkeys(("c01", "c03", "c05", "c07", "c09", "c15", "c17"), "work trees, finishing and pruning"),
    **dict.fromkeys(("e01", "e03", "e07", "e09", "e11"), "redaction of commands in events"),
    "g07": "task lists: plans have none",
    **dict.fromkeys(("h01", "h03", "h05"), "the proof taken from continuous integration"),
}


@pytest.mark.parametrize("case", COVERED)
def test_the_table_names_tests_that_exist(case: str) -> None:
    path, _, name = COVERED[case].partition("::")
    assert f"def {name}" in (TESTS / path).read_text("utf-8")
    assert case not in WAITING


def _create(project: Project, name: str = "cart") -> None:
    said = project.morph("create", name, "--type", "feature", "--description", "x")
    assert said.code == 0, said.err


def _node(project: Project, command: str = "true", **more: object) -> None:
    project.config(project={"tests": [{"id": "t", "command": command, "runner": "none", **more}]})


def test_before_the_first_commit(tmp_path: Path) -> None:
    project = Project(tmp_path / "new")
    project.root.mkdir()
    project.git("init", "-q", "-b", "trunk")
    said = project.morph("create", "cart", "--type", "feature", "--description", "x", "--json")
    assert (said.code, said.json["code"]) == (1, "no-commits")
    assert not (project.root / ".morph").exists()
    assert project.morph("list").code == 0
    # A feature that came with a copy of the files can be verified all the same.
    project.write(".morph/features/cart/feature.json", json.dumps({"description": "x", "workType": "feature"}))
    _node(project)
    document = project.verify()
    assert (document["exit"], document["sha"]) == (0, None)
    assert project.verify()["exit"] == 0
    assert project.git("symbolic-ref", "--short", "HEAD") == "trunk"


@pytest.mark.parametrize("branches", ["--single-branch", "--no-single-branch"])
def test_a_shallow_clone(project: Project, tmp_path: Path, branches: str) -> None:
    project.write("a.txt", "1\n")
    project.commit()
    project.git("switch", "-q", "-c", "feat")
    project.write("code.py", "x = 1\n")
    project.commit()
    project.git("switch", "-q", "main")
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", branches, "-b", "feat", f"file://{project.root}", str(clone)], check=True
    )
    shallow = Project(clone)
    _node(shallow)
    shallow.write(".morph/features/cart/feature.json", json.dumps({"description": "x", "workType": "feature"}))
    document = shallow.verify()
    assert document["exit"] == 0
    checks = {entry["id"]: entry for entry in document["nodes"]["validators"]["runs"]}
    assert checks["code-budget"]["status"] == "skip" and "shallow" in checks["code-budget"]["reason"]


def test_odd_names_do_not_break_the_task_file(project: Project) -> None:
    _node(project)
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    names = {"a=b": "verify:a%3Db", "--dry": "verify:%2D-dry", "api: list users": "verify:api%3A%20list%20users"}
    for name in names:
        project.write(f".morph/features/{name}/feature.json", json.dumps({"description": "x", "workType": "feature"}))
    listed = project.doit("list", "--all")
    assert listed.code == 0
    for name, task in names.items():
        assert task in listed.out
        assert project.doit(task).code == 0
        assert project.feature(name)["verification"]["status"] == "pass"


def test_a_missing_input_stops_only_what_needs_it(project: Project) -> None:
    _create(project)
    _node(project, inputs=["not/there.txt"])
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    (project.root / ".morph/features/cart/2-plan/plan.md").unlink()
    said = project.doit("-c", "plan-check:cart", "verify:cart")
    assert said.code != 0
    assert "plan-missing" in said.out + said.err
    assert "GREEN cart" in said.out
    assert project.doit("verify:cart").code == 0


@pytest.mark.parametrize("garbage", [b"garbage", b'{"t": {', b"", b"\x00\xff"])
def test_damaged_state_is_made_again(two_suites: Project, garbage: bytes) -> None:
    for _ in range(3):
        assert two_suites.verify()["exit"] == 0
    damaged = 0
    for top in (
        two_suites.root / ".git/morph-spec",
        two_suites.root / ".morph/evidence",
        two_suites.root / ".morph/state.json",
    ):
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file():
                path.write_bytes(garbage)
                damaged += 1
    assert damaged > 10
    document = two_suites.verify()
    assert document["exit"] == 0
    assert not any(entry["reused"] for entry in document["runs"] if entry["id"].startswith(("build/", "tests/")))
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 2]
    assert two_suites.verify()["exit"] == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 2]


@pytest.mark.parametrize(
    "options", [[], ["-n", "2"], ["-n", "2", "-P", "thread"]], ids=["plain", "processes", "threads"]
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_under_doit_leave_nothing(project: Project, options: list[str], number: int, code: int) -> None:
    mark = f"{os.getpid()}{number}{len(options)}"
    _node(project, f"touch .git/started; sleep 3{mark} & sleep 4{mark}")
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    _create(project)
    process = subprocess.Popen(
        [BIN / "doit", *options, "verify:cart"], cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    limit = time.monotonic() + 60
    while not (project.root / ".git/started").exists():
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.01)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code, (out, err)
    assert b"Traceback" not in out + err
    table = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in table.splitlines() if line.strip() in (f"sleep 3{mark}", f"sleep 4{mark}")]
    assert not list((project.root / ".git/morph-spec/evidence/tests").rglob("*.json"))


def test_the_third_run_is_answered(two_suites: Project) -> None:
    two_suites.write("dodo.py", "from morph_tasks.tasks import *\n")
    for _ in range(3):
        assert two_suites.doit("verify:cart").code == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [1, 1, 1]
    two_suites.write("a/data.txt", "other\n")
    assert two_suites.doit("verify:cart").code == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 1]
