"""Runs of graphify: what they write and record, and what happens when graphify, the disk or the user misbehaves."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.codegraph import layout, runlock
from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.running import REFRESH, run
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import calls, files_in, lives, path_without, pid_in, pretend, record_of, status, until
from tests.conftest import BIN, Project, Said


def build(project: Project, *args: str, cwd: Path | None = None, **env: str) -> Said:
    return project.morph("graph", "build", "--json", *args, cwd=cwd, **env)


def test_a_build_makes_a_graph_its_index_and_its_record_and_git_sees_none_of_it(code: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    said = build(code, "-p", str(code.root / "shop"), cwd=tmp_path / "elsewhere")
    assert said.code == 0, said.err
    assert files_in(code.root) == {"shop/cart.py", "shop/till.py", "shop/tests/test_cart.py"}
    with open_index(code.root) as index:
        assert [symbol.file for symbol in index.find("Cart")] == ["shop/cart.py"]
        assert said.json["nodes"] == index.counts()["nodes"] and said.json["links"] == index.counts()["links"]
    assert code.git("status", "--porcelain") == "?? .graphifyignore" and said.json["ignoreFile"] == "written"
    kept = record_of(code.root / ".git")
    head = code.git("rev-parse", "HEAD")
    assert kept["current"]["head"] == head == said.json["head"]
    assert (kept["last"]["status"], kept["last"]["command"], kept["last"]["exitCode"]) == ("ok", "build", 0)
    assert kept["last"]["version"] == said.json["version"]["installed"] and said.json["version"]["matches"] is True


def test_a_refresh_follows_what_came_and_what_went(graphed: Project) -> None:
    (graphed.root / "shop/till.py").unlink()
    graphed.write('shop/é "quoted".py', "def odd(): return 1\n")
    graphed.commit()
    assert graphed.morph("graph", "refresh").code == 0
    assert files_in(graphed.root) == {"shop/cart.py", "shop/tests/test_cart.py", 'shop/é "quoted".py'}


def test_a_repository_that_was_copied_is_no_longer_where_it_was(graphed: Project) -> None:
    other = Project(graphed.root.parent / "copy")
    assert graphed.morph("graph", "refresh").code == 0
    subprocess.run(["cp", "-a", str(graphed.root), str(other.root)], check=True)
    assert status(other)["freshness"]["state"] == "fresh"
    other.git("rm", "-q", "shop/till.py")
    other.commit()
    assert other.morph("graph", "refresh").code == 0
    assert files_in(other.root) == {"shop/cart.py", "shop/tests/test_cart.py"}


def test_without_graphify_status_says_so_and_a_build_names_the_way_out(code: Project, tmp_path: Path) -> None:
    path = path_without(tmp_path / "bare")
    said = build(code, PATH=path)
    assert said.code == 1 and said.json["code"] == said.json["reason"] == "graphify-unavailable"
    assert str(BIN) in said.json["fix"] and "pip install" in said.json["install"]
    assert record_of(code.root / ".git")["last"]["status"] == "unavailable"
    found = status(code, PATH=path)
    assert (found["available"], found["graphify"], found["version"]["installed"]) == (False, None, None)
    assert "install" in found["next"] and found["nodes"] is None
    assert code.morph("graph", "refresh", PATH=path).err.startswith("error graphify-unavailable: ")
    assert build(code).code == 0  # and it is on the PATH again


def test_a_project_without_code_is_no_error(project: Project) -> None:
    for command in ("build", "refresh"):
        said = project.morph("graph", command, "--json")
        assert said.code == 0 and said.json["empty"] and said.json["nodes"] is None
        assert "no code" in said.err
    assert status(project)["freshness"]["state"] == "no-graph"


def test_the_graph_of_code_that_is_gone_goes(graphed: Project) -> None:
    graphed.git("rm", "-rq", "shop")
    graphed.commit()
    said = graphed.morph("graph", "refresh", "--json")
    assert said.code == 0 and said.json["empty"]
    assert not status(graphed)["available"] and not layout.index_file(graphed.root).exists()


FAILURES = {
    "it fails": ("echo some words; echo 'RuntimeError: no room' >&2; exit 3", "graph-failed", "RuntimeError: no room"),
    "it dies": ("kill -9 $$", "graph-failed", "-9"),
    "garbage": ("head -c 3000000 /dev/urandom; exit 1", "graph-failed", "graphify ended with 1"),
    "it says it did": ("rm -rf graphify-out; exit 0", "corrupt-graph", "not a graph"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_run_that_fails_leaves_the_graph_that_was_there(graphed: Project, pretence: Path, name: str) -> None:
    script, code, words = FAILURES[name]
    if code == "corrupt-graph":
        script = f'echo "[1" > "{layout.graph_file(graphed.root)}"'
    before = layout.graph_file(graphed.root).read_bytes()
    said = graphed.morph("graph", "refresh", "--json", PATH=pretend(pretence, script))
    assert said.code == 1 and said.json["code"] == code and words in said.json["message"]
    last = status(graphed)["refresh"]["last"]
    assert (last["status"], last["reason"]) == ("failed", code)
    if code == "graph-failed":
        assert layout.graph_file(graphed.root).read_bytes() == before
        assert status(graphed)["freshness"]["state"] == "fresh"
        assert "ended with" in layout.log_file(open_repo(graphed.root)).read_text()
    assert graphed.morph("graph", "refresh").code == 0  # also over a graph that is none any more


def test_one_that_writes_nothing_has_failed(code: Project, pretence: Path) -> None:
    said = build(code, PATH=pretend(pretence, "exit 0"))
    assert (said.code, said.json["code"]) == (1, "graph-failed") and "wrote no" in said.json["message"]


def test_a_build_that_leaves_the_old_graph_as_it_was_has_failed_and_the_graph_stays_stale(
    graphed: Project, pretence: Path
) -> None:
    graphed.write("shop/new.py", "def new(): return 1\n")
    graphed.commit()
    before = layout.graph_file(graphed.root).read_bytes()
    said = build(graphed, PATH=pretend(pretence, "exit 0"))
    assert (said.code, said.json["code"]) == (1, "graph-failed") and "wrote no" in said.json["message"]
    assert layout.graph_file(graphed.root).read_bytes() == before
    assert status(graphed)["freshness"]["state"] == "stale"


def test_what_graphify_says_cannot_write_to_the_terminal(code: Project, pretence: Path) -> None:
    path = pretend(pretence, "printf 'oh \\033[2J\\007'; exit 3")
    for words in (("build",), ("status",)):
        said = code.morph("graph", *words, PATH=path)
        assert "oh \\x1b[2J" in said.out + said.err and "\x1b" not in said.out + said.err


def test_one_that_hangs_is_stopped_with_all_it_started(graphed: Project, pretence: Path) -> None:
    script = f'sleep 300 & echo $! > "{pretence}/child"; wait'
    said = graphed.morph("graph", "refresh", "--json", PATH=pretend(pretence, script), MORPH_GRAPH_TIMEOUT_S="1.5")
    assert (said.code, said.json["code"]) == (1, "graph-timeout")
    assert not lives(pid_in(pretence / "child"))
    assert status(graphed)["available"]


def test_a_limit_that_is_no_number_is_refused_before_anything(code: Project) -> None:
    said = build(code, MORPH_GRAPH_TIMEOUT_S="soon")
    assert (said.code, said.json["code"]) == (2, "bad-limit") and not (code.root / ".graphifyignore").exists()


def test_another_version_is_used_and_said(graphed: Project, pretence: Path) -> None:
    path = pretend(pretence, "", version="echo graphify 0.11.2")
    said = graphed.morph("graph", "refresh", "--json", PATH=path)
    assert said.code == 0 and "graphify 0.11.2 is not one" in said.err
    assert said.json["version"] == {"installed": "0.11.2", "pinned": ">=0.9.50,<0.10", "matches": False}
    assert (
        status(graphed, PATH=path)["version"]["matches"] is False
    )  # as it said at its last run: it is not asked again


def test_killed_in_the_middle_the_old_graph_stays_and_nobody_writes_beside_the_orphan(
    graphed: Project, pretence: Path
) -> None:
    env = {**os.environ, "PATH": pretend(pretence, f'echo $$ > "{pretence}/pid"; exec sleep 300')}
    argv = [str(BIN / "morph-spec"), "graph", "build"]
    child = subprocess.Popen(argv, cwd=graphed.root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    orphan = pid_in(pretence / "pid")
    child.kill()
    child.wait()
    try:
        with open_index(graphed.root) as index:
            assert index.find("Cart")
        said = build(graphed)
        assert said.code == 0 and said.json["running"] and said.json["pid"] == child.pid
        found = status(graphed)
        assert found["refresh"]["running"] and "under way" in found["next"]
    finally:
        os.kill(orphan, signal.SIGKILL)
    until(lambda: runlock.holder(str(graphed.root / ".git")) is None)
    said = build(graphed)
    assert said.code == 0 and not said.json["running"] and status(graphed)["freshness"]["state"] == "fresh"


def test_a_signal_ends_graphify_too(graphed: Project, pretence: Path) -> None:
    env = {**os.environ, "PATH": pretend(pretence, f'echo $$ > "{pretence}/pid"; exec sleep 300')}
    argv = [str(BIN / "morph-spec"), "graph", "refresh"]
    child = subprocess.Popen(argv, cwd=graphed.root, env=env, stderr=subprocess.PIPE)
    orphan = pid_in(pretence / "pid")
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 143 and b"Traceback" not in err
    until(lambda: not lives(orphan))
    assert runlock.holder(str(graphed.root / ".git")) is None


def test_a_graph_that_git_tracks_is_told(graphed: Project) -> None:
    graphed.git("add", "-f", "graphify-out/graph.json")
    said = graphed.morph("graph", "refresh")
    assert said.code == 0 and "warning: git tracks graphify-out/graph.json" in said.err
    assert "git rm -r --cached graphify-out" in said.err


def test_a_run_tells_what_it_is_at_and_what_graphify_says(graphed: Project, pretence: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", pretend(pretence, "printf 'AST: 12/30\\033[2J files\\n\\n'"))
    stages: list[str] = []
    run(open_repo(graphed.root), REFRESH, stage=stages.append)
    assert stages[:2] == ["graphify extracts", "graphify: AST: 12/30\\x1b[2J files"]
    assert stages[2:] == ["looking for edges that graphify lost", "making the index"]


def test_two_at_once_are_one_run(graphed: Project, pretence: Path) -> None:
    gate = pretence / "gate"
    path = pretend(pretence, f'while [ ! -e "{gate}" ]; do sleep 0.02; done')
    argv = [str(BIN / "morph-spec"), "graph", "refresh", "--json"]
    first = subprocess.Popen(argv, cwd=graphed.root, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE)
    until(lambda: len(calls(pretence)) == 1)
    second = graphed.morph("graph", "refresh", "--json", PATH=path)
    assert second.code == 0 and second.json["running"] and second.json["pid"] == first.pid
    gate.touch()
    out, _ = first.communicate(timeout=60)
    assert first.returncode == 0 and json.loads(out)["running"] is False
    assert len(calls(pretence)) == 1


def test_the_commit_that_the_files_were_read_at_counts(graphed: Project, pretence: Path) -> None:
    script = 'echo word >> "$2/README"; git -C "$2" add README; git -C "$2" commit -q -m meanwhile'
    before = graphed.git("rev-parse", "HEAD")
    said = graphed.morph("graph", "refresh", "--json", PATH=pretend(pretence, script))
    assert said.code == 0 and said.json["head"] == before and "HEAD moved" in said.err
    assert status(graphed)["freshness"]["reason"] == "old-stamp"


def test_a_file_where_the_folder_should_be_is_refused(graphed: Project) -> None:
    folder = layout.graph_folder(graphed.root)
    folder.rename(folder.with_name("aside"))
    folder.write_text("a file is in its place")
    said = build(graphed)
    assert said.code == 1 and said.json["code"] == "graph-unwritable" and said.json["fix"].startswith("mv ")


def test_a_folder_that_is_a_link_to_itself_is_refused(code: Project) -> None:
    layout.graph_folder(code.root).symlink_to("graphify-out")
    said = build(code)
    assert said.code == 1 and said.json["code"] == "graph-unwritable" and said.json["fix"].startswith("mv ")


def test_a_read_only_folder_is_refused_before_graphify_works(graphed: Project, pretence: Path) -> None:
    # Root may write anywhere, unless it gave that up.
    words = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    if words and not shutil.which("setpriv"):
        pytest.skip("setpriv is not here")
    folder = layout.graph_folder(graphed.root)
    folder.chmod(0o555)
    argv = [*words, str(BIN / "morph-spec"), "graph", "refresh", "--json"]
    env = {**os.environ, "PATH": pretend(pretence, "exit 0")}
    done = subprocess.run(argv, cwd=graphed.root, capture_output=True, check=False, env=env)
    folder.chmod(0o755)
    assert done.returncode == 1 and json.loads(done.stdout)["code"] == "graph-unwritable", done.stderr
    assert calls(pretence) == [] and status(graphed)["freshness"]["state"] == "fresh"


def test_a_disk_without_room_for_a_note_in_the_lock_is_no_fault(
    graphed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    assert run(open_repo(graphed.root), REFRESH).counts
    assert runlock.holder(str(graphed.root / ".git")) is None


def test_what_is_looked_for_afterwards_never_fails_a_run(graphed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("morph_tasks.codegraph.running.import_module", broken)
    ran = run(open_repo(graphed.root), REFRESH)
    assert ran.recovered is None and ran.counts and any("ZeroDivisionError" in line for line in ran.warnings)


def test_graphify_is_told_to_write_nowhere_else(graphed: Project, tmp_path: Path) -> None:
    said = build(graphed, GRAPHIFY_OUT=str(tmp_path / "out"))
    assert said.code == 0 and not (tmp_path / "out").exists()
    assert not (Path(os.environ["HOME"]) / ".graphify").exists()
