"""What must never happen: a traceback, a green that nothing stands behind, a hang, something left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project


def _with(project: Project, *tests: dict[str, Any], **more: Any) -> None:
    """Declare test nodes and start the feature."""
    project.config(project={"tests": [{"id": "t", "runner": "none", **test} for test in tests], **more})
    project.commit("suites")
    _create(project)


def _create(project: Project) -> None:
    assert project.morph("create", "cart", "--type", "feature", "--description", "Cases").code == 0


def _node(document: dict[str, Any], ref: str = "tests/t") -> dict[str, Any]:
    return next(entry for entry in document["runs"] if entry["id"] == ref)


def _counted(command: str = "true") -> str:
    return f"echo run >> .git/runs-of-t; {command}"


def _settled(project: Project) -> None:
    """Verify until a call does nothing but look, and make sure that it does."""
    for _ in range(4):
        document = project.verify()
    assert document["exit"] == 0
    assert list((project.root / ".git/morph-spec/witness").iterdir())


# Configurations


_BAD_CONFIGS = (
    ('{"project": {"testTimeoutMs": ' + "9" * 5000 + "}}", "corrupt-file"),
    ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "corrupt-file"),
    ('{"project": {"tests": [{"id": "a", "command": "false"}], "tests": []}}', "corrupt-file"),
    ('{"project": {"testTimeoutMs": NaN}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "a", "command": "echo \\ud800"}]}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "' + "a" * 250 + '", "command": "true"}]}}', "invalid-config"),
    ('{"project": {"tests": [{"id": "a", "command": "' + "a" * 200_000 + '"}]}}', "invalid-config"),
    ('{"project": {"testTimeoutMs": ' + "9" * 400 + "}}", "invalid-config"),
)


def test_a_configuration_that_cannot_be_used_is_refused(project: Project) -> None:
    _with(project, {"command": "true"})
    for text, code in _BAD_CONFIGS:
        project.write(".morph/config/config.json", text)
        said = project.morph("verify", "cart", "--json")
        assert (said.code, said.json["code"]) == (1, code), text[:80]
        assert ".morph/config/config.json" in said.json["message"]


def test_a_glob_that_leads_nowhere_makes_its_node_invalid(project: Project) -> None:
    globs = ["/etc/*", "../**", "a/../../b", "a\0b", "{a,b}" * 20]
    node = {"command": "true", "runner": "none"}
    broken = [
        {**node, "id": f"{option}-{place}", option: [glob]}
        for option in ("inputs", "junit")
        for place, glob in enumerate(globs)
    ]
    odd = [
        {**node, "id": f"odd-{place}", "junit": glob} for place, glob in enumerate(["**foo/x", "r/", "[", "n-*.xml"])
    ]
    builds = [{"id": f"outputs-{place}", "command": "true", "outputs": [glob]} for place, glob in enumerate(globs)]
    project.config(project={"tests": [*broken, *odd, {**node, "id": "good"}], "build": builds})
    _create(project)
    runs = project.verify()["runs"]
    reasons = {entry["id"]: entry["reason"] for entry in runs}
    assert [reasons[f"build/{build['id']}"] for build in builds] == ["invalid-test-node"] * len(globs)
    assert [reasons[f"tests/{test['id']}"] for test in broken] == ["invalid-test-node"] * len(broken)
    assert _node({"runs": runs}, "tests/good")["status"] == "pass"


def test_builds_in_a_circle_are_red_and_the_rest_is_measured(project: Project) -> None:
    builds = [{"id": "a", "needs": ["c"]}, {"id": "b", "needs": ["a"]}, {"id": "c", "needs": ["b"]}, {"id": "free"}]
    _with(project, {"command": "true"}, build=[{**build, "command": "true"} for build in builds])
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    document = project.verify()
    assert document["exit"] == 1
    assert [_node(document, f"build/{name}")["reason"] for name in "abc"] == ["invalid-test-node"] * 3
    assert any("circle" in line and "build/a" in line for line in document["feedback"])
    assert [_node(document, ref)["status"] for ref in ("build/free", "tests/t")] == ["pass", "pass"]
    assert project.doit("verify:cart").code != 0


def test_a_command_that_cannot_start_is_a_red_node(project: Project) -> None:
    _with(project, {"command": "echo \0"}, {"id": "good", "command": "true"})
    document = project.verify()
    assert _node(document)["reason"] == "command-not-started"
    assert _node(document, "tests/good")["status"] == "pass"


def test_the_runner_is_the_same_from_every_folder(project: Project) -> None:
    project.write("web/package.json", '{"scripts": {"test": "vitest run"}}')
    project.write("web/src/x.ts", "")
    _with(project, {"id": "web", "command": "npm test || true", "cwd": "web", "runner": None})
    document = {folder: project.verify(cwd=project.root / folder) for folder in (".", "web", "web/src")}
    assert {each["nodes"]["tests"]["runs"][0]["runner"] for each in document.values()} == {"vitest"}
    assert len({_node(each, "tests/web")["key"] for each in document.values()}) == 1


# State on disk


def test_a_stamp_that_was_edited_by_hand_is_written_anew(project: Project) -> None:
    _with(project, {"command": "true"})
    project.verify()
    for found in ("x", [1, 2], {"a": 1}, None, [[]]):
        data = project.feature()
        data["verification"]["runs"] = found
        project.write(".morph/features/cart/feature.json", json.dumps(data))
        assert project.verify()["exit"] == 0
        assert [entry["status"] for entry in project.feature()["verification"]["runs"]].count("pass") == 1


def test_a_file_that_is_none_is_refused_and_never_waited_for(project: Project) -> None:
    _with(project, {"command": "true"})
    for name in (".morph/config/config.json", ".morph/features/cart/feature.json"):
        path = project.root / name
        good = path.read_text()
        for make, code in (
            (os.mkfifo, "unreadable-file"), (os.mkdir, "unreadable-file"),
            (lambda path: path.symlink_to("/dev/zero"), "unreadable-file"),
            (lambda path: path.write_text('{"x": ' + "1" * 5000 + "}"), "corrupt-file"),
        ):  # fmt: skip
            path.unlink()
            make(path)
            said = project.morph("verify", "cart", "--json")
            assert (said.code, said.json["code"]) == (1, code)
            assert project.morph("list").code == 0
            path.rmdir() if path.is_dir() else path.unlink()
            path.write_text(good)


def test_a_name_that_no_folder_can_have_is_not_found(project: Project) -> None:
    _with(project, {"command": "true"})
    said = project.morph("verify", "x" * 300, "--json")
    assert (said.code, said.json["code"]) == (2, "feature-not-found")


def test_features_with_long_names_do_not_answer_for_each_other(project: Project) -> None:
    _with(project, {"command": "true"})
    for name in ("n" * 120 + "-one", "n" * 120 + "-two"):
        shutil.copytree(project.root / ".morph/features/cart", project.root / ".morph/features" / name)
    for _ in range(4):
        assert project.verify("n" * 120 + "-one")["exit"] == 0
    assert project.verify("n" * 120 + "-two")["feature"].endswith("-two")


def test_a_clock_that_was_ahead_does_not_decide(project: Project) -> None:
    _with(project, {"command": _counted("test -e .git/good")})
    (project.root / ".git/good").touch()
    assert project.verify()["exit"] == 0
    for path in (project.root / ".git/morph-spec/evidence/tests/t").rglob("*.*"):
        path.rename(path.with_name(path.name.replace("20", "29", 1)))
    assert project.verify()["exit"] == 0
    (project.root / ".git/good").unlink()
    assert project.verify("cart", "--fresh")["exit"] == 1
    assert project.verify()["exit"] == 1
    (project.root / ".git/good").touch()
    assert project.verify()["exit"] == 0
    assert project.verify()["exit"] == 0


def test_a_stray_file_in_the_store_is_no_record(project: Project) -> None:
    _with(project, {"command": "test -e .git/good"})
    (project.root / ".git/good").touch()
    project.verify()
    (record,) = (project.root / ".git/morph-spec/evidence/tests/t").rglob("*.json")
    (project.root / ".git/good").unlink()
    assert project.verify("cart", "--fresh")["exit"] == 1
    shutil.copy(record, record.with_name("zzz-copy.json"))
    assert project.verify()["exit"] == 1


# What commands do


def test_a_node_that_removes_its_log_is_red(project: Project) -> None:
    victims = (".git/morph-spec", ".git/morph-spec/evidence", ".git/morph-spec/evidence/tests/t2")
    tests = [{"id": f"t{place}", "command": f"rm -rf {victim}"} for place, victim in enumerate(victims)]
    _with(project, *tests, {"id": "good", "command": "true"})
    document = project.verify()
    assert document["exit"] == 1
    assert [_node(document, f"tests/t{place}")["reason"] for place in range(3)] == ["log-lost"] * 3
    assert _node(document, "tests/good")["status"] == "pass"


def test_a_verify_inside_a_verify_is_refused_at_once(project: Project) -> None:
    _with(project, {"command": "morph-spec verify cart --json"})
    document = project.verify()
    assert document["exit"] == 1
    assert json.loads(Path(_run_of(document)["log"]).read_text())["code"] == "verify-inside-verify"


def test_a_verify_of_another_tree_may_run_inside(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(project.root, other)
    _with(Project(other), {"command": "true"})
    _with(project, {"command": f"cd {other} && morph-spec verify cart"})
    assert project.verify()["exit"] == 0


def _run_of(document: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in document["nodes"]["tests"]["runs"] if entry["id"] == "t")


def test_what_a_node_leaves_running_is_named_as_what_it_is(project: Project) -> None:
    _with(
        project,
        {"command": "for i in 1 2 3 4 5 6 7; do sleep 30713 & done; true"},
        {"id": "daemon", "command": "setsid sleep 30717 > /dev/null 2>&1 < /dev/null & sleep 0.3"},
    )
    document = project.verify()
    warnings = "\n".join(document["feedback"])
    (daemon,) = _pids("sleep 30717")
    os.kill(daemon, 9)
    assert (
        f"[tests/daemon] warning: left its group and still runs: {daemon} sleep; end it with `kill {daemon}`"
        in warnings
    )
    assert "[tests/t] warning: left running and ended by us: " in warnings and "and 2 more" in warnings
    assert not _pids("sleep 30713")


def _pids(args: str) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if line.split(None, 1)[1:] == [args]]


# Streams


@pytest.mark.parametrize("program", ["morph-spec verify cart", "morph-spec verify cart --json", "doit verify:cart"])
def test_a_reader_that_is_not_there_changes_nothing(project: Project, program: str) -> None:
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    _with(project, {"command": "true"})
    fresh = " fresh=1" if "doit" in program else " --fresh"
    for ending in ("| head -1", ">&-", "<&- >&- 2>&-", "> /dev/full"):
        for option in (fresh, ""):
            script = f"{program}{option} {ending}; echo ${{PIPESTATUS[0]}} > .git/code"
            done = subprocess.run(["bash", "-c", script], cwd=project.root, capture_output=True, timeout=120)
            lost = ending == "> /dev/full" and "doit" not in program
            assert (project.root / ".git/code").read_text().strip() == ("1" if lost else "0"), (script, done)
            assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr
            assert (b"write-failed" in done.stderr) == lost
    assert project.feature()["verification"]["status"] == "pass"


def test_signs_that_the_terminal_cannot_show(project: Project) -> None:
    _with(project, {"id": "bad", "command": "false", "cwd": "größe"}, {"command": "true"})
    project.write("größe/x", "")
    for encoding in ("ascii", "latin-1"):
        said = project.morph("verify", "cart", PYTHONIOENCODING=encoding)
        assert said.code == 1 and "RED cart" in said.out
