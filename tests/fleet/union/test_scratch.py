"""The place of a union: outside of every tree, the user's objects readable and nothing of the user's writable."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet.union import scratch as module
from morph_tasks.fleet.union.candidates import default_branch
from morph_tasks.fleet.union.scratch import MARKER, remove, scratch
from morph_tasks.repo.files import locked
from morph_tasks.repo.git import open_repo
from tests.conftest import Project


def _room(shop: Any) -> Any:
    repo = open_repo(shop.root)
    found = default_branch(repo)
    return scratch(repo, found.name, found.commit)


def _place(shop: Any) -> Path:
    with _room(shop) as room:
        place: Path = room.folder.parent
        return place


def test_it_lies_in_a_private_folder_of_the_cache_and_goes(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with _room(shop) as room:
        assert room.folder.is_relative_to(Path.home() / ".cache" / "morph-spec" / "union")
        assert room.folder.stat().st_mode & 0o077 == 0
        assert not room.tree.root.is_relative_to(shop.root)
    assert not room.folder.exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(shop.root.parent / "cache"))
    with _room(shop) as room:
        assert room.folder.is_relative_to(shop.root.parent / "cache" / "morph-spec")


def test_a_cache_inside_of_a_work_tree_is_not_used(
    shop: Any, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., Refusal]
) -> None:
    tree = shop.begin("one", {"one": "1\n"})
    monkeypatch.setattr(tempfile, "tempdir", str(shop.root.parent))
    for inside in (shop.root / "cache", tree / "cache", shop.root / ".git" / "cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(inside))
        with _room(shop) as room:
            assert room.folder.is_relative_to(shop.root.parent / f"morph-spec-{os.getuid()}")
        assert not inside.exists()
    monkeypatch.setattr(tempfile, "tempdir", str(shop.root))
    assert refused(lambda: _place(shop)).code == "no-room"


def test_dead_runs_are_swept_by_their_marker_and_nothing_else_is(shop: Any) -> None:
    place = _place(shop)
    dead, empty, foreign, named = (place / name for name in ("run-dead", "run-empty", "run-foreign", "notes"))
    for folder in (dead, empty, foreign, named):
        folder.mkdir()
        (folder / "lock").touch()
    (dead / MARKER).touch()
    (foreign / "file").touch()
    (dead / "union").mkdir()
    kept = shop.root / "kept"
    kept.write_text("kept")
    (dead / "union" / "link").symlink_to(shop.root)
    with _room(shop), _room(shop):
        assert not dead.exists() and not empty.exists()
        assert foreign.exists() and named.exists()
    assert kept.read_text() == "kept"


def test_a_living_run_is_left_alone(shop: Any) -> None:
    place = _place(shop)
    alive = place / "run-alive"
    alive.mkdir()
    (alive / MARKER).touch()
    with locked(alive / "lock", wait_s=0, what="it"), _room(shop):
        assert alive.exists()
    _place(shop)
    assert not alive.exists()


def test_a_removal_that_was_killed_is_ended_by_the_next_run(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(folder: Path) -> None:
        remove(folder / "union" / ".git")

    with monkeypatch.context() as some:
        some.setattr(module, "_remove_run", killed)
        with _room(shop) as room:
            pass
    assert room.folder.exists()
    _place(shop)
    assert not room.folder.exists()


def test_the_tree_holds_exactly_the_commit_whatever_was_left_in_it(shop: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    commit = shop.git("rev-parse", "HEAD")
    with _room(shop) as room:
        room.put(commit)
        root = room.tree.root
        fresh = _files(root)
        (root / "lib/total").write_text("changed")
        (root / "suite.sh").unlink()
        (root / "__pycache__").mkdir()
        (root / "__pycache__" / "x.pyc").touch()
        (root / "nested").mkdir()
        Project(root / "nested").git("init", "-q")
        (root / "link").symlink_to(outside)
        (root / "closed" / "deeper").mkdir(parents=True)
        (root / "closed" / "deeper" / "file").touch()
        (root / "closed" / "deeper").chmod(0o500)
        (root / "closed").chmod(0o500)
        room.put(commit)
        assert _files(root) == fresh
        (root / "closed" / "deeper").mkdir(parents=True)
        (root / "closed").chmod(0o000)
    assert not room.folder.exists()
    assert (outside / "file").read_text() == "kept"


def _files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b""
        for path in sorted(root.rglob("*"))
        if ".git" not in path.relative_to(root).parts
    }


def test_neither_hooks_nor_references_of_the_user_are_used(shop: Any) -> None:
    hooks = shop.root / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {shop.root}/hooked\n")
    (hooks / "post-checkout").chmod(0o755)
    shop.git("config", "core.hooksPath", str(hooks))
    shop.git("config", "core.sparseCheckout", "true")
    commit = shop.git("rev-parse", "HEAD")
    with _room(shop) as room:
        room.put(commit)
        assert (room.tree.root / "lib" / "total").exists()
        Project(room.tree.root).git("checkout", "-q", "-b", "mine")
        Project(room.tree.root).git("commit", "-q", "--allow-empty", "-m", "a suite commits")
    assert not (shop.root / "hooked").exists()
    assert shop.git("branch", "--format=%(refname:short)") == "main"


def test_settings_that_decide_about_content_hold(shop: Any) -> None:
    shop.write(shop.root, {"text": "one\ntwo\n"})
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "text")
    shop.git("config", "core.autocrlf", "true")
    shop.git("config", "filter.loud.smudge", "tr a-z A-Z")
    (shop.root / ".git/info/attributes").write_text("loud filter=loud\n")
    shop.write(shop.root, {"loud": "quiet\n"})
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "loud")
    with _room(shop) as room:
        room.put(shop.git("rev-parse", "HEAD"))
        assert (room.tree.root / "text").read_bytes() == b"one\r\ntwo\r\n"
        assert (room.tree.root / "loud").read_bytes().startswith(b"QUIET")


def test_a_repository_that_keeps_its_git_folder_elsewhere(shop: Any) -> None:
    shop.green("one", {"one": "1\n"})
    apart = shop.root.parent / "apart"
    os.rename(shop.root / ".git", apart)
    (shop.root / ".git").write_text(f"gitdir: {apart}\n")
    Project(shop.root).git("config", "core.worktree", str(shop.root))
    (shop.tree("one") / ".git").write_text(f"gitdir: {apart}/worktrees/one-tree\n")
    assert shop.union(verify=True)["verify"]["status"] == "pass"
    assert shop.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["sp ace", 'quo"te', "new\nline", "naïve", "back\\slash", "-dash", "\udcff"])
def test_odd_places_are_no_obstacle(shop: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.green("one", {"one": "1\n"})
    shop.git("worktree", "remove", "--force", str(shop.tree("one")))
    moved = shop.root.parent / name
    os.rename(shop.root, moved)
    shop.root = moved
    shop.git("worktree", "add", "-q", str(shop.tree("one")), "morph/one")
    shop.stamp("one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(moved.parent / f"cache {name}"))
    made = shop.union(verify=True)
    assert made["ok"] and made["verify"]["status"] == "pass", made
    assert shop.suites() == 1


def test_a_repository_with_long_object_ids(shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Project(tmp_path / "long")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main", "--object-format=sha256")
    made.write("suite.sh", (shop.root / "suite.sh").read_text())
    made.write("checks/ok.sh", "true\n")
    made.config(project={"build": [], "tests": [{"id": "unit", "runner": "none", "command": "sh suite.sh"}]})
    made.commit()
    shop.root = made.root
    shop.green("one", {"one": "1\n"})
    assert shop.union(verify=True)["verify"]["status"] == "pass"


def test_a_bare_repository_with_linked_trees(shop: Any, tmp_path: Path) -> None:
    shop.green("one", {"one": "1\n"})
    Project(shop.tree("one")).commit("stamp")
    bare = tmp_path / "bare.git"
    shop.git("clone", "-q", "--bare", str(shop.root), str(bare))
    shop.git("worktree", "add", "-q", str(tmp_path / "main"), "main", tree=bare)
    made = shop.union(tree=tmp_path / "main", verify=True)
    assert made["union"]["merged"] == ["one"] and made["verify"]["status"] == "pass"
