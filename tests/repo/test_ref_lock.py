from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo import ref_lock
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.index_lock import OURS, held_index
from morph_tasks.repo.ref_lock import ref_moves
from tests.repo.conftest import Tree


@pytest.fixture
def repo(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(ref_lock, "_SETTLED_S", 0.05)
    return open_repo(tree.root)


def move(repo: Repo, name: str = "next") -> int:
    with ref_moves(repo, name) as git:
        return git.run("update-ref", f"refs/heads/{name}", "HEAD", ok=range(256)).code


def killed(repo: Repo, *locks: str) -> None:
    """Leave what a run leaves that was killed while git held these files."""
    repo.store.mkdir(exist_ok=True)
    paths = [repo.common_dir / lock for lock in locks]
    (repo.store / "refs.intent").write_text(json.dumps([str(path) for path in paths]))
    for path in paths:
        path.write_bytes(b"")


def test_a_lock_that_a_killed_run_left_is_removed(repo: Repo) -> None:
    killed(repo, "refs/heads/next.lock", "HEAD.lock", "packed-refs.lock")
    assert move(repo) == 0 and repo.text("rev-parse", "next") == repo.head()
    assert not list(repo.common_dir.rglob("*.lock")) and not (repo.store / "refs.intent").exists()


def test_a_lock_that_nobody_announced_stays(repo: Repo) -> None:
    lock = repo.common_dir / "refs/heads/next.lock"
    lock.write_bytes(b"")
    assert move(repo) != 0 and lock.exists()


def test_a_lock_from_before_the_killed_run_stays(repo: Repo) -> None:
    killed(repo, "refs/heads/next.lock")
    lock = repo.common_dir / "refs/heads/next.lock"
    os.utime(lock, (1_000_000, 1_000_000))
    assert move(repo) != 0 and lock.exists()


def test_a_torn_announcement_is_no_reason_to_fail(repo: Repo) -> None:
    repo.store.mkdir(exist_ok=True)
    (repo.store / "refs.intent").write_text('["/a')
    assert move(repo) == 0


def test_a_refused_move_leaves_no_announcement(repo: Repo) -> None:
    with pytest.raises(Refusal), ref_moves(repo, "next") as git:
        git.git("update-ref", "refs/heads/next", "no-such-commit")
    assert not (repo.store / "refs.intent").exists()


def test_git_that_outlived_its_run_is_waited_for(repo: Repo, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ref_lock, "_WAIT_S", 0.2)
    killed(repo, "refs/heads/next.lock")
    # What a killed run had started still holds the guard.
    holding = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True); input()"
    argv = [sys.executable, "-c", holding, str(repo.store / "refs.guard")]
    holder = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout and holder.stdin
    holder.stdout.readline()
    assert move(repo) != 0 and (repo.common_dir / "refs/heads/next.lock").exists()
    holder.communicate(b"\n")
    assert move(repo) == 0


def test_an_index_lock_of_ours_without_a_living_writer_is_taken_over(repo: Repo) -> None:
    lock = repo.git_dir / "index.lock"
    lock.write_bytes(OURS)
    with held_index(repo) as index:
        assert Path(index).exists()
    assert not lock.exists()


def test_two_of_us_do_not_hold_one_index(repo: Repo) -> None:
    with held_index(repo), pytest.raises(Refusal) as caught, held_index(repo, wait_s=0.1):
        pass
    assert caught.value.code == "index-locked"
