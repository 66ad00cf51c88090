"""The main job, end to end: the installed command and doit on real repositories with real suites."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import BIN, Project, runs


def _create(project: Project, name: str = "cart") -> None:
    said = project.morph("create", name, "--type", "feature", "--description", "A cart that adds up")
    assert said.code == 0, said.err


def _entry(document: dict, ref: str) -> dict:
    return next(entry for entry in document["runs"] if entry["id"] == ref)


def test_red_then_green_then_reused(python_project: Project) -> None:
    _create(python_project)
    red = python_project.verify()
    assert red["exit"] == 1
    assert red["status"] == "fail"
    tests = red["nodes"]["tests"]["runs"][0]
    assert (tests["status"], tests["count"], tests["counts"]["failed"]) == ("fail", 2, 1)
    assert any(line.startswith("[tests/pytest]") and "test_sum" in line for line in red["feedback"])
    assert Path(tests["log"]).read_text().count("assert") >= 1
    assert python_project.feature()["verification"]["status"] == "fail"

    again = python_project.verify()
    assert again["exit"] == 1
    assert _entry(again, "build/python")["reused"]
    assert _entry(again, "tests/pytest")["reused"] is None
    assert _entry(again, "tests/pytest")["afterFailures"] == 1
    assert again["repeatOf"]["status"] == "fail"

    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    green = python_project.verify()
    assert (green["exit"], green["status"]) == (0, "pass")
    stamp = python_project.feature()["verification"]
    assert stamp["nodes"] == {"build": "pass", "tests": "pass", "validators": "skip", "e2e": "skip"} or (
        stamp["nodes"]["tests"] == "pass"
    )
    before = (python_project.root / ".morph/features/cart/feature.json").read_bytes()
    for _ in range(3):
        reused = python_project.verify()
        assert reused["exit"] == 0
        assert all(entry["reused"] for entry in reused["runs"] if entry["status"] == "pass")
    assert (python_project.root / ".morph/features/cart/feature.json").read_bytes() == before
    assert python_project.git("status", "--porcelain", "--ignored").count("__pycache__") == 0


def test_the_same_answer_in_text_and_by_doit(python_project: Project) -> None:
    _create(python_project)
    python_project.write("dodo.py", "from morph_tasks.tasks import *\n")
    red = python_project.doit("verify:cart")
    assert red.code != 0
    assert "RED cart" in red.out
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    green = python_project.doit("verify:cart")
    assert green.code == 0, green.out + green.err
    assert "GREEN cart" in green.out
    by_doit = python_project.feature()["verification"]
    text = python_project.morph("verify", "cart")
    assert text.code == 0
    assert "reused" in text.out
    assert python_project.feature()["verification"] == by_doit
    assert not list(python_project.root.glob(".doit*"))


def test_doit_lists_families_and_refuses_their_bare_names(two_suites: Project) -> None:
    two_suites.write("dodo.py", "from morph_tasks.tasks import *\n")
    listed = two_suites.doit("list")
    assert listed.code == 0
    assert len([line for line in listed.out.splitlines() if line.startswith("verify ")]) == 1
    every = two_suites.doit("list", "--all")
    assert "verify:cart" in every.out and "tests:cart:a" in every.out and "_measure" not in every.out
    bare = two_suites.doit()
    assert bare.code == 0 and "cart" in bare.out
    family = two_suites.doit("verify")
    assert family.code != 0 and "feature-not-named" in family.out + family.err
    assert runs(two_suites, "a") == 0
    assert two_suites.doit("tests:cart:a").code == 0
    assert (runs(two_suites, "a"), runs(two_suites, "b")) == (1, 0)
    odd = two_suites.doit("verify:cart", "colour=red")
    assert odd.code != 0 and "unknown-option" in odd.out + odd.err
    nothing = two_suites.doit("verify:cart", "filter=zzz")
    assert nothing.code != 0 and "filter-matches-nothing" in nothing.out + nothing.err
    assert "GREEN" not in nothing.out
    chosen = two_suites.doit("verify:cart", "filter=b")
    assert chosen.code == 0, chosen.out + chosen.err
    assert (runs(two_suites, "a"), runs(two_suites, "b")) == (1, 1)


def test_a_projects_own_doit_config_wins_key_by_key(two_suites: Project) -> None:
    two_suites.write(
        "dodo.py",
        "from morph_tasks.tasks import *\n\nDOIT_CONFIG = {'default_tasks': ['mine']}\n\n"
        "def task_mine():\n    return {'actions': ['echo mine it is'], 'verbosity': 2}\n",
    )
    said = two_suites.doit()
    assert said.code == 0 and "mine it is" in said.out
    assert not list(two_suites.root.glob(".doit*"))


def test_only_what_reads_the_change_runs_again(two_suites: Project) -> None:
    assert two_suites.verify()["exit"] == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [1, 1, 1]
    two_suites.write("a/data.txt", "2\n")
    said = two_suites.morph("explain", "cart", "--json").json["nodes"]
    assert {
        node["node"]: node["wouldRun"] for node in said if "/" in node["node"] and node["node"] != "validators/none"
    }["tests/b"] is False
    assert next(node for node in said if node["node"] == "tests/a")["why"] == ["file a/data.txt changed"]
    assert two_suites.verify()["exit"] == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 1]
    two_suites.write("README.md", "other\n")
    assert two_suites.verify()["exit"] == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 1]


def test_there_and_back_again_is_green_without_a_run(two_suites: Project) -> None:
    two_suites.verify()
    first = two_suites.feature()["verification"]["fingerprint"]
    two_suites.write("a/data.txt", "2\n")
    two_suites.verify()
    assert two_suites.feature()["verification"]["fingerprint"] != first
    two_suites.write("a/data.txt", "1\n")
    back = two_suites.verify()
    assert back["exit"] == 0
    assert two_suites.feature()["verification"]["fingerprint"] == first
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 1]


def test_a_commit_and_a_worktree_of_the_same_content_reuse(two_suites: Project, tmp_path: Path) -> None:
    two_suites.verify()
    two_suites.commit("the same content, committed")
    assert two_suites.verify()["exit"] == 0
    two_suites.git("worktree", "add", "-q", "-b", "morph-task/x", str(tmp_path / "other tree"))
    other = two_suites.verify(cwd=tmp_path / "other tree")
    assert other["exit"] == 0
    assert all(entry["reused"] for entry in other["runs"] if entry["status"] == "pass")
    assert (other["persisted"], other["reason"]) == (False, "unregistered-worktree")
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [1, 1, 1]


def test_options_that_make_no_whole_proof(two_suites: Project) -> None:
    for option, reason in (
        (("--filter", "a"), "filtered"), (("--skip-tests",), "skip-tests"), (("--skip-build",), "skip-build"),
        (("--no-persist",), "no-persist"),
    ):  # fmt: skip
        document = two_suites.verify("cart", *option)
        assert (document["persisted"], document["reason"]) == (False, reason)
    assert "verification" not in two_suites.feature() or two_suites.feature()["verification"] is None
    filtered = two_suites.verify("cart", "--filter", "a")
    assert _entry(filtered, "tests/b")["status"] == "skip" and "--filter" in _entry(filtered, "tests/b")["reason"]
    nothing = two_suites.morph("verify", "cart", "--filter", "zzz", "--json")
    assert (nothing.code, nothing.json["code"]) == (2, "filter-matches-nothing")
    skipped = two_suites.verify("cart", "--skip-e2e")
    assert skipped["persisted"] and skipped["e2eReason"] == "--skip-e2e"


def test_fresh_measures_everything(two_suites: Project) -> None:
    two_suites.verify()
    assert two_suites.verify("cart", "--fresh")["exit"] == 0
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [2, 2, 2]


def test_inputs_that_change_under_a_node_are_never_a_pass(project: Project) -> None:
    project.config(project={"tests": [{"id": "gen", "command": "date +%N%s > made.txt"}]})
    project.commit("a suite that writes")
    _create(project)
    document = project.verify()
    assert document["exit"] == 1
    assert _entry(document, "tests/gen")["reason"] == "inputs-changed"
    assert any("made.txt" in line for line in document["feedback"])


def test_a_baseline_that_drops_is_red_and_a_rise_warns(python_project: Project) -> None:
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    command = {"id": "unit", "command": "python -m pytest -q -p no:cacheprovider", "env": ["PYTHONDONTWRITEBYTECODE"]}
    _create(python_project)
    for expected, code, reason in ((3, 1, "count-drop"), (2, 0, None), (1, 0, None)):
        python_project.config(project={"tests": [{**command, "expectedCount": expected}]})
        document = python_project.verify()
        assert (document["exit"], _entry(document, "tests/unit")["reason"]) == (code, reason)
    assert any("record the baseline" in line for line in document["feedback"])


@pytest.mark.parametrize(
    ("command", "runner", "reason"),
    [
        ("python -m pytest -q -k nothing_has_this_name", "pytest", "no-tests"),
        ("python -m pytest -q | tail -n 40", "pytest", "inconsistent-exit"),
        ("no-such-program-here", "pytest", "command-not-found"),
        ("exit 3", "none", "exit-code"),
        ("kill -9 $$", "none", "signal"),
    ],
)
def test_never_green_without_proof(python_project: Project, command: str, runner: str, reason: str) -> None:
    python_project.config(
        project={
            "build": [{"id": "ok", "command": "true"}],
            "tests": [{"id": "t", "command": command, "runner": runner}],
        }
    )
    _create(python_project)
    document = python_project.verify()
    assert document["exit"] == 1
    assert (_entry(document, "tests/t")["status"], document["nodes"]["tests"]["runs"][0]["reason"]) == ("fail", reason)


def test_a_timeout_is_named_and_leaves_no_process(project: Project) -> None:
    command = "sleep 30017 & (setsid sleep 30117 &) ; echo here; sleep 30217"
    project.config(project={"tests": [{"id": "slow", "command": command, "timeoutMs": 600}]})
    _create(project)
    document = project.verify()
    entry = document["nodes"]["tests"]["runs"][0]
    assert (entry["status"], entry["reason"]) == ("fail", "timeout")
    assert "timeout after 600 ms in run 1 of 1 — no test failed" in entry["message"]
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in left.splitlines() if line.strip() in ("sleep 30017", "sleep 30117", "sleep 30217")]


def test_ctrl_c_keeps_what_was_finished(project: Project) -> None:
    project.config(
        project={
            "tests": [
                {"id": "quick", "command": "true", "runner": "none"},
                {"id": "slow", "command": "touch .git/started; sleep 30417", "runner": "none"},
            ]
        }
    )
    _create(project)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen(
            [BIN / "morph-spec", "verify", "cart"], cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        _wait_for(project.root / ".git/started", process)
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == code
        assert b"Traceback" not in out + err
        (project.root / ".git/started").unlink()
    store = project.root / ".git/morph-spec/evidence/tests"
    assert [json.loads(path.read_text())["status"] for path in (store / "quick").rglob("*.json")] == ["pass"]
    assert not list((store / "slow").rglob("*.json"))


def _wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    import time

    limit = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.01)


def test_kill_9_leaves_whole_evidence_and_the_next_verify_goes_on(project: Project) -> None:
    tests = [{"id": f"t{number}", "command": "true", "runner": "none"} for number in range(4)]
    tests.append({"id": "slow", "command": "test -e .git/go || { touch .git/started; sleep 30517; }", "runner": "none"})
    project.config(project={"tests": tests})
    _create(project)
    process = subprocess.Popen([BIN / "morph-spec", "verify", "cart"], cwd=project.root, stdout=subprocess.DEVNULL)
    _wait_for(project.root / ".git/started", process)
    process.kill()
    process.wait()
    for path in project.root.rglob("*.json"):
        json.loads(path.read_text())
    (project.root / ".git/go").touch()
    document = project.verify()
    assert document["exit"] == 0
    assert [bool(_entry(document, f"tests/t{number}")["reused"]) for number in range(4)] == [True] * 4
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 30517" not in [line.strip() for line in left.splitlines()]


def test_two_at_once_measure_once(two_suites: Project) -> None:
    argv = [BIN / "morph-spec", "verify", "cart", "--json"]
    both = [subprocess.Popen(argv, cwd=two_suites.root, stdout=subprocess.PIPE) for _ in range(2)]
    documents = [json.loads(process.communicate(timeout=120)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(document["status"] == "pass" for document in documents)
    assert [runs(two_suites, name) for name in ("build", "a", "b")] == [1, 1, 1]


def test_busy_is_exit_3_and_writes_nothing(project: Project) -> None:
    project.config(project={"tests": [{"id": "slow", "command": "touch .git/started; sleep 30617"}]})
    _create(project)
    process = subprocess.Popen([BIN / "morph-spec", "verify", "cart"], cwd=project.root, stdout=subprocess.DEVNULL)
    _wait_for(project.root / ".git/started", process)
    said = project.morph("verify", "cart", "--wait", "0", "--json")
    process.terminate()
    process.wait(timeout=30)
    assert (said.code, said.json["code"]) == (3, "busy")
    assert not (project.root / ".morph/logs/events.jsonl").exists()


def test_invalid_nodes_are_red_and_the_others_are_measured(project: Project) -> None:
    project.config(
        project={
            "tests": [
                {"id": "twice", "command": "true"},
                {"id": "twice", "command": "true"},
                {"id": "outside", "command": "true", "cwd": "../"},
                {"id": "missing", "command": "true", "cwd": "not/here"},
                {"id": "built", "command": "true", "runner": "pytest", "build": ["x"]},
                {"id": "good", "command": "true", "runner": "none"},
            ]
        }
    )
    _create(project)
    document = project.verify()
    assert document["exit"] == 1
    found = [(entry["id"], entry["status"], entry["reason"]) for entry in document["nodes"]["tests"]["runs"]]
    assert found == [
        *[(name, "fail", "invalid-test-node") for name in ("twice", "twice", "outside", "missing", "built")],
        ("good", "pass", None),
    ]


def test_e2e_says_the_truth(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    _create(project)
    project.config(project={"tests": [{"id": "t", "command": "true", "runner": "none"}]})
    assert project.verify()["e2eReason"] == "project does not containerize"
    project.config(project={"stack": "python+docker", "tests": [{"id": "t", "command": "true", "runner": "none"}]})
    document = project.verify()
    assert (document["exit"], document["nodes"]["e2e"]["status"]) == (1, "fail")
    project.write("compose.yml", "services: {}\n")
    assert project.verify()["e2eReason"].startswith("docker is not available: ")


def test_nothing_verified_is_red(project: Project) -> None:
    _create(project)
    project.config(project={"tests": []})
    document = project.verify()
    assert document["exit"] == 1 and any("nothing was verified" in line for line in document["feedback"])
