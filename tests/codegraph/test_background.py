"""The refresh that nobody waits for: when it starts, what it does, and that it never is in anybody's way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from morph_tasks.codegraph import background, layout
from morph_tasks.codegraph.background import Kicked, kick, refresh_until_fresh
from morph_tasks.codegraph.freshness import freshness
from morph_tasks.codegraph.runlock import take
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import calls, files_in, path_without, pid_in, pretend, record_of, status
from tests.conftest import Project

COMMIT = 'echo word >> "$2/README"; git -C "$2" add README; git -C "$2" commit -q -m x'


@pytest.fixture
def old(graphed: Project) -> Project:
    """A graph of the commit before."""
    graphed.write("shop/more.py", "def more(): return 2\n")
    graphed.commit()
    return graphed


def kicked(project: Project) -> Kicked:
    """Kick, and see what was started to its end."""
    done = kick(open_repo(project.root))
    if done.pid is not None:
        os.waitpid(done.pid, 0)
    return done


def test_an_old_graph_is_brought_up_to_date_from_the_common_folder(
    old: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, object] = {}
    started = background._start

    def start(primary: object) -> int:
        pid = started(primary)  # type: ignore[arg-type]
        child = psutil.Process(pid)
        seen.update(cwd=child.cwd(), session=os.getsid(pid))
        os.waitpid(pid, 0)
        return pid

    monkeypatch.setattr(background, "_start", start)
    done = kick(open_repo(old.root))
    assert done.started and seen == {"cwd": str(old.root / ".git"), "session": done.pid}
    assert "shop/more.py" in files_in(old.root)
    assert freshness(open_repo(old.root)).state == "fresh"
    kept = record_of(old.root / ".git")["last"]
    assert kept["background"] and kept["status"] == "ok"
    log = layout.log_file(open_repo(old.root)).read_text()
    assert "HEAD is at" in log and "done in" in log and "nothing to do (fresh)" in log
    assert kicked(old).why == "fresh"


def test_graphify_runs_with_low_priority_and_its_folder_is_no_tree(
    old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", pretend(pretence, f'pwd > "{pretence}/cwd"; nice > "{pretence}/nice"'))
    assert kicked(old).started
    assert (pretence / "cwd").read_text().strip() == str(old.root / ".git")
    assert int((pretence / "nice").read_text()) >= min(os.nice(0) + 10, 19)
    assert calls(pretence) == [f"update {old.root}"]


def test_it_begins_again_when_head_moved_meanwhile(
    old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'[ -e "{pretence}/once" ] || {{ touch "{pretence}/once"; {COMMIT}; }}'
    monkeypatch.setenv("PATH", pretend(pretence, script))
    assert kicked(old).started
    assert len(calls(pretence)) == 2 and freshness(open_repo(old.root)).state == "fresh"


def test_status_knows_of_a_run_that_has_only_been_started(old: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = open_repo(old.root)
    monkeypatch.setattr(background, "_BOOT", f"import time; time.sleep(300)  # {background.__name__}")
    pid = background._start(repo)
    try:
        found = status(old)
        assert found["refresh"]["running"] and found["refresh"]["pid"] == pid and "under way" in found["next"]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert not status(old)["refresh"]["running"]
    (old.root / ".git/morph-spec/graph-refresh.started").write_text(str(os.getpid()))  # another one has its number
    assert "graph refresh" in status(old)["next"]


def test_it_does_not_go_on_for_ever(old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", pretend(pretence, COMMIT))
    assert kicked(old).started
    assert len(calls(pretence)) == 3


def test_a_failure_is_repeated_when_head_moves_and_not_before(
    old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", pretend(pretence, "exit 7"))
    assert kicked(old).started and kicked(old).why == "failed-here"
    assert len(calls(pretence)) == 1
    assert "graph-failed" in layout.log_file(open_repo(old.root)).read_text()
    old.write("shop/next.py", "def next_one(): return 3\n")
    old.commit("next")
    assert kicked(old).started and len(calls(pretence)) == 2
    rules = old.root / ".graphifyignore"
    rules.write_text(rules.read_text() + "/gone/\n")
    assert kicked(old).started and len(calls(pretence)) == 3  # other rules may help as well


def test_without_graphify_nothing_is_started_until_it_is_back(
    old: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = os.environ["PATH"]
    monkeypatch.setenv("PATH", path_without(tmp_path / "bare"))
    assert kicked(old).why == "unavailable"
    assert record_of(old.root / ".git")["last"]["status"] == "unavailable"
    assert record_of(old.root / ".git")["current"]
    monkeypatch.setenv("PATH", there)
    assert kicked(old).started and freshness(open_repo(old.root)).state == "fresh"


def test_what_keeps_it_from_starting(code: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kicked(code).why == "no-graph"  # it never makes the first one
    monkeypatch.setenv("MORPH_GRAPH_AUTO_REFRESH", "0")
    assert kicked(code).why == "off"


def test_it_leaves_a_run_that_is_under_way_alone(old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", pretend(pretence, "exit 0"))
    repo = open_repo(old.root)
    with take(repo) as lock:
        assert lock is not None and kicked(old).why == "running"
        refresh_until_fresh(repo)  # one that was started just before
    assert calls(pretence) == []


def test_from_a_work_tree_the_main_tree_is_refreshed(old: Project, tmp_path: Path) -> None:
    old.git("worktree", "add", "-q", str(tmp_path / "side"))
    done = kick(open_repo(tmp_path / "side"))
    assert done.pid is not None
    os.waitpid(done.pid, 0)
    assert "shop/more.py" in files_in(old.root) and not (tmp_path / "side/graphify-out").exists()


def test_a_tree_can_go_while_graphify_runs(old: Project, pretence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = pretence / "gate"
    script = f'echo $$ > "{pretence}/pid"; while [ ! -e "{gate}" ]; do sleep 0.02; done'
    monkeypatch.setenv("PATH", pretend(pretence, script))
    assert old.morph("worktree", "provision", "side").code == 0
    tree = old.root / "worktrees/side"
    done = kick(open_repo(tree))
    pid_in(pretence / "pid")
    said = old.morph("worktree", "remove", "--target", str(tree))
    assert said.code == 0 and not tree.exists()
    gate.touch()
    assert done.pid is not None
    os.waitpid(done.pid, 0)


def test_a_kick_never_raises(old: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise Refusal("odd", "something odd")

    monkeypatch.setattr(background, "freshness", broken)
    assert kicked(old).why == "not-started"
    assert "something odd" in layout.log_file(open_repo(old.root)).read_text()


def test_the_log_does_not_grow_for_ever(old: Project) -> None:
    from morph_tasks.codegraph.runlog import log

    repo = open_repo(old.root)
    log(repo, "x" * 300_000)
    log(repo, "next")
    path = layout.log_file(repo)
    assert path.read_text().endswith("next\n") and path.stat().st_size < 1000
    assert path.with_name(f"{path.name}.1").exists()
