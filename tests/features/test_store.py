from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features import store
from morph_tasks.features.store import (
    active_feature,
    feature_dir,
    list_features,
    read_feature,
    state_lock,
    update_feature,
)
from morph_tasks.repo.git import Repo, open_repo


def put(root: Path, slug: str, data: Any = None, *, where: str = "features") -> Path:
    folder = root / ".morph" / where / slug
    folder.mkdir(parents=True)
    path = folder / "feature.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data or {"description": "d"}))
    return path


def refusal(call: Any, *args: Any) -> Refusal:
    with pytest.raises(Refusal) as refused:
        call(*args)
    return refused.value


@pytest.mark.parametrize("slug", ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "-x", ".hidden", "x" * 300, "none"])
def test_a_name_without_a_feature_is_usage(tmp_path: Path, slug: str) -> None:
    error = refusal(read_feature, tmp_path, slug)
    assert (error.code, error.exit_code) == ("feature-not-found", 2)


def test_an_archived_feature_is_named_as_such(tmp_path: Path) -> None:
    put(tmp_path, "shop", where="archive")
    assert "archived" in refusal(read_feature, tmp_path, "shop").what


@pytest.mark.parametrize("text", ["", "{", '{"name": "sho', "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x", "\xff"])
def test_a_torn_file_is_named_with_its_place(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, "shop", "{}")
    path.write_bytes(text.encode("latin-1"))
    error = refusal(read_feature, tmp_path, "shop")
    assert error.code == "corrupt-file" and "feature.json" in error.what


def test_a_wrong_value_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = put(tmp_path, "shop", {"workType": "epic"})
    before = path.read_bytes()
    assert refusal(update_feature, tmp_path, "shop", lambda data: data.update(name="x")).code == "invalid-feature"
    assert path.read_bytes() == before


def test_an_update_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    path = put(tmp_path, "shop", {"later": {"a": [1, None]}, "approvalGates": {"plan": {"approved": False, "x": 1}}})
    update_feature(tmp_path, "shop", lambda data: data.update(status="in_progress"))
    data = json.loads(path.read_text())
    assert data["later"] == {"a": [1, None]} and data["approvalGates"]["plan"]["x"] == 1
    assert data["status"] == "in_progress" and data["updatedAt"].endswith("Z")


def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "shop", '{"description":   "d"}')
    update_feature(tmp_path, "shop", lambda data: data.update(description="d"))
    assert path.read_text() == '{"description":   "d"}'
    assert not (tmp_path / ".morph/state.json").exists()


def test_an_update_that_makes_a_wrong_value_writes_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "shop")
    before = path.read_bytes()
    assert refusal(update_feature, tmp_path, "shop", lambda data: data.update(status="odd")).code == "invalid-feature"
    assert path.read_bytes() == before


def test_a_change_that_refuses_writes_nothing_and_frees_the_lock(tmp_path: Path) -> None:
    put(tmp_path, "shop")

    def change(data: dict[str, Any]) -> None:
        data["name"] = "half"
        raise Refusal("no", "no")

    assert refusal(update_feature, tmp_path, "shop", change).code == "no"
    assert "name" not in update_feature(tmp_path, "shop", lambda data: data.update(status="draft"))


def test_mutators_of_one_tree_wait_for_each_other(repo: Repo) -> None:
    put(repo.root, "shop", {"description": "d", "count": 0})

    def change(data: dict[str, Any]) -> None:
        data["count"] += 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: update_feature(repo.root, "shop", change), range(24)))
    assert read_feature(repo.root, "shop")["count"] == 24


def test_a_lock_that_is_not_freed_is_busy(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repo.root, "shop")
    monkeypatch.setattr(store, "lock_wait", ContextVar("lock_wait", default=0.01))
    with state_lock(repo.root):
        code = (
            "import sys; from pathlib import Path; from morph_tasks.features.store import state_lock\n"
            "from morph_tasks.errors import Refusal\n"
            "try:\n    with state_lock(Path(sys.argv[1]), wait_s=0.01): pass\n"
            "except Refusal as refused: sys.exit(refused.exit_code)"
        )
        ended = subprocess.run([sys.executable, "-c", code, str(repo.root)], check=False)
    assert ended.returncode == 3


def test_linked_trees_have_locks_of_their_own(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "wt"))
    with state_lock(repo.root), state_lock(tmp_path / "wt", wait_s=0.01):
        pass
    assert (open_repo(tmp_path / "wt").git_dir / "morph-spec" / "state.lock").exists()


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(repo: Repo) -> None:
    path = put(repo.root, "shop", {"description": "d", "filler": "x" * 200_000, "n": 0})
    code = (
        "import sys; from pathlib import Path; from morph_tasks.features.store import update_feature\n"
        "print('ready', flush=True)\n"
        "while True: update_feature(Path(sys.argv[1]), 'shop', lambda d: d.update(n=d['n'] + 1, filler=d['filler']))"
    )
    for kill_after in (1, 3, 6):
        start = json.loads(path.read_text())["n"]
        with subprocess.Popen([sys.executable, "-c", code, str(repo.root)], stdout=subprocess.PIPE) as child:
            assert child.stdout and child.stdout.readline()
            while json.loads(path.read_text())["n"] < start + kill_after:  # never torn while it is written, either
                assert child.poll() is None
            os.kill(child.pid, signal.SIGKILL)
        assert json.loads(path.read_text())["n"] >= start + kill_after
    update_feature(repo.root, "shop", lambda data: data.update(n=-1))
    assert read_feature(repo.root, "shop")["n"] == -1


def test_the_index_is_written_by_mutators_and_never_believed(tmp_path: Path) -> None:
    put(tmp_path, "shop", {"description": "d", "status": "in_progress", "updatedAt": "2026-01-01T00:00:00.000Z"})
    put(tmp_path, "cart")
    index = tmp_path / ".morph" / "state.json"
    index.write_text("{ torn")
    assert [view.slug for view in list_features(tmp_path)] == ["cart", "shop"]
    assert index.read_text() == "{ torn"
    update_feature(tmp_path, "cart", lambda data: data.update(name="Cart"))
    rows = json.loads(index.read_text())["features"]
    assert rows["shop"] == {"status": "in_progress", "updatedAt": "2026-01-01T00:00:00.000Z"}
    assert set(rows) == {"cart", "shop"}


def test_an_index_that_cannot_be_written_does_not_undo_the_change(tmp_path: Path) -> None:
    put(tmp_path, "shop")
    (tmp_path / ".morph" / "state.json").mkdir()
    update_feature(tmp_path, "shop", lambda data: data.update(name="Shop"))
    assert read_feature(tmp_path, "shop")["name"] == "Shop"


@pytest.mark.parametrize("text", ["{", "[]", '{"status": 7}', "null", "\ufeff"])
def test_a_feature_that_cannot_be_read_is_a_row(tmp_path: Path, text: str) -> None:
    put(tmp_path, "bad", text)
    put(tmp_path, "good")
    bad, good = list_features(tmp_path)
    assert bad.flags == ("unreadable",) and bad.problem and bad.phase is None
    assert good.flags == ()


def test_folders_without_a_feature_and_files_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "good")
    (tmp_path / ".morph/features/empty").mkdir()
    (tmp_path / ".morph/features/.unborn-x").mkdir()
    (tmp_path / ".morph/features/README.md").write_text("hello")
    assert [(view.slug, view.flags) for view in list_features(tmp_path)] == [("empty", ("unreadable",)), ("good", ())]


def test_archived_features_come_when_asked_for(tmp_path: Path) -> None:
    put(tmp_path, "new")
    put(tmp_path, "old", where="archive")
    assert [view.slug for view in list_features(tmp_path)] == ["new"]
    assert [(v.slug, v.phase, v.status) for v in list_features(tmp_path, archived=True)][1] == (
        "old",
        "archived",
        "archived",
    )


def test_no_folder_no_features(tmp_path: Path) -> None:
    assert list_features(tmp_path) == []
    assert active_feature(tmp_path) is None


def test_the_active_feature_is_the_living_one_touched_last(tmp_path: Path) -> None:
    put(tmp_path, "a", {"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-03-01T00:00:00Z"})
    put(tmp_path, "b", {"createdAt": "2026-02-01T00:00:00Z"})
    put(tmp_path, "c", {"createdAt": "2026-04-01T00:00:00Z", "status": "abandoned"})
    put(tmp_path, "d", "{")
    assert active_feature(tmp_path) == "a"


def test_a_feature_of_another_tree_is_read_there(repo: Repo, tmp_path: Path) -> None:
    put(repo.root, "shop", {"description": "frozen"})
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "shop"))
    repo.git("worktree", "add", "-q", "-b", "morph/cart", str(tmp_path / "cart"))
    repo.git("worktree", "add", "-q", "-b", "morph/gone", str(tmp_path / "gone"))
    put(tmp_path / "shop", "shop", {"description": "living"})
    put(tmp_path / "cart", "cart", {"description": "only there"})
    told = {view.slug: (view.description, view.tree) for view in list_features(repo.root, repo=repo)}
    assert told == {"cart": ("only there", str(tmp_path / "cart")), "shop": ("living", str(tmp_path / "shop"))}
    there = open_repo(tmp_path / "shop")
    assert {view.slug: view.tree for view in list_features(there.root, repo=there)}["shop"] is None


def test_a_copy_that_the_owner_lacks_is_flagged(repo: Repo, tmp_path: Path) -> None:
    put(repo.root, "shop")
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "shop"))
    (row,) = list_features(repo.root, repo=repo)
    assert row.flags == ("not-in-owner-tree",)


def test_feature_dir_is_where_features_lie(tmp_path: Path) -> None:
    assert feature_dir(tmp_path, "shop") == tmp_path / ".morph" / "features" / "shop"
