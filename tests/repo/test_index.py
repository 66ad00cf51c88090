"""The real index is never written; whatever happens to the private one, the answer is right."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo import spawn
from morph_tasks.repo.hashing import blob_id
from morph_tasks.repo.index_file import doubted, is_whole

if TYPE_CHECKING:
    from conftest import Tree


def _real_index(tree: Tree) -> tuple[bytes, int, int]:
    path = tree.git_dir / "index"
    return path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino


def _private_index(tree: Tree) -> Path:
    (found,) = tree.private().glob("index-*")
    return found


def test_the_real_index_is_never_written(tree: Tree) -> None:
    tree.git("update-index", "--assume-unchanged", "b/z.py")
    tree.git("update-index", "--split-index")
    os.utime(tree.path("a/x.py"), (1, 1))
    before = _real_index(tree)
    for number in range(3):
        tree.write("b/new.py", f"{number}")
        tree.sum()

    assert _real_index(tree) == before
    assert tree.git("ls-files", "-v", "b/z.py").startswith("h ")
    assert b"UNTR" not in before[0]
    assert b"UNTR" in _private_index(tree).read_bytes()
    assert len(list(tree.git_dir.glob("sharedindex.*"))) == 1


@pytest.mark.parametrize("how", ["garbage", "empty", "half", "zeros", "gone", "flipped", "folder gone", "other index"])
@pytest.mark.parametrize("which", ["index", "seal", "sums", "blobs"])
def test_torn_private_state_is_rebuilt(tree: Tree, which: str, how: str) -> None:
    tree.write("a/x.py", "9\n")
    tree.write("b/new.py", "n\n")
    tree.git("update-index", "--skip-worktree", "b/z.py")
    tree.write("b/z.py", "hidden\n")
    for path in ("a/x.py", "b/new.py", "b/z.py"):
        os.utime(tree.path(path), (1, 1))
    before = tree.state({"a": ["a"]})
    assert tree.state({"a": ["a"]}) == before
    path = _private_index(tree) if which == "index" else tree.private() / which
    assert path.exists() or which == "blobs"
    data = path.read_bytes() if path.exists() else b""

    if how == "gone":
        path.unlink(missing_ok=True)
    elif how == "folder gone":
        for each in tree.private().iterdir():
            each.unlink()
        tree.private().rmdir()
    elif how == "other index":
        path.write_bytes((tree.git_dir / "index").read_bytes())
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1 if data else 1]) + data[middle + 1 :]
        changed = {"garbage": os.urandom(300), "empty": b"", "half": data[:middle], "zeros": bytes(len(data))}
        path.write_bytes(changed.get(how, flipped))

    assert tree.state({"a": ["a"]}) == before
    assert tree.state({"a": ["a"]}) == before


def test_a_seeded_copy_is_used_until_the_real_index_changes(tree: Tree, children: list[str]) -> None:
    tree.sum()
    copy = _private_index(tree)
    assert children == ["ls-files", "status", "ls-tree"]
    tree.sum()
    assert children[3:] == ["status"]
    assert _private_index(tree) == copy

    tree.git("rm", "-q", "--cached", "forced.log")
    tree.sum()
    assert children[4:] == ["ls-files", "status"]
    assert _private_index(tree) != copy


def test_what_a_killed_process_left_goes(tree: Tree) -> None:
    tree.sum()
    leftovers = [tree.private() / "index-0123456789abcdef", tree.private() / "sums-1-00.tmp"]
    young = tree.private() / "blobs-1-00.tmp"
    for path in (*leftovers, young):
        path.write_bytes(b"left")
        if path != young:
            os.utime(path, (1, 1))
    lock = Path(f"{_private_index_named(tree)}.lock")
    lock.write_bytes(b"")
    os.utime(lock, (1, 1))

    tree.git("rm", "-q", "--cached", "forced.log")
    tree.sum()

    assert [path.exists() for path in (*leftovers, young)] == [False, False, True]
    assert not lock.exists()


def _private_index_named(tree: Tree) -> Path:
    return max(tree.private().glob("index-*"), key=lambda path: path.stat().st_mtime)


def test_a_lock_that_a_killed_git_left_goes(tree: Tree) -> None:
    tree.sum()
    lock = Path(f"{_private_index(tree)}.lock")
    lock.write_bytes(b"")
    os.utime(lock, (1, 1))

    tree.sum()

    assert not lock.exists()


def test_the_copy_is_as_old_as_the_look_that_filled_it(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dated by its end, git would trust what changed while it looked, up to a whole second."""
    started: list[int] = []
    real = spawn.stream

    def timed(*args: object, **kwargs: object) -> object:
        started.append(time.time_ns())
        return real(*args, **kwargs)  # type: ignore[arg-type]

    tree.sum()
    monkeypatch.setattr(spawn, "stream", timed)
    for number in range(3):
        before = _private_index(tree).read_bytes()
        tree.write(f"new{number}", "1")
        started.clear()
        tree.sum()
        assert _private_index(tree).read_bytes() != before
        assert _private_index(tree).stat().st_mtime_ns < started[0]


def _next_second(path: Path, well_into: float = 0.1) -> None:
    """Wait until the clock is well into another second than the last change of the file."""
    while int(time.time() - well_into) <= int(path.stat().st_ctime):
        time.sleep(0.01)


def test_an_edit_in_the_second_in_which_the_index_was_written(tree: Tree) -> None:
    """Git compares whole seconds, and looks closer only at what is no older than the index."""
    tree.write("a/x.py", "8\n")
    tree.git("add", "a/x.py")
    tree.write("a/x.py", "9\n")
    _next_second(tree.path("a/x.py"), well_into=0.7)

    assert tree.state().dirty == {b"a/x.py": ("100644", blob_id(b"9\n", 40))}


@pytest.mark.parametrize("setting", ["core.trustctime=false", "core.checkStat=minimal", "user.name=Tess"])
def test_an_edit_that_puts_size_and_time_back(tree: Tree, setting: str) -> None:
    tree.git("config", *setting.split("="))
    os.utime(tree.path("a/x.py"), (1, 1))
    tree.git("status")
    before = tree.sum()
    _next_second(tree.path("a/x.py"))

    tree.write("a/x.py", "9\n")
    os.utime(tree.path("a/x.py"), (1, 1))

    assert tree.sum() != before


@pytest.mark.parametrize("refreshed_by", ["us", "the user"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_an_edit_in_the_second_of_a_look_that_puts_size_and_time_back(
    tree: Tree, refreshed_by: str, version: str
) -> None:
    tree.git("update-index", "--index-version", version)
    os.utime(tree.path("a/x.py"), (1, 1))
    tree.git("status")
    before = tree.sum()
    _next_second(tree.path("a/x.py"))

    for number in range(3):
        tree.write("a/x.py", "1\n")
        os.utime(tree.path("a/x.py"), (1, 1))
        if refreshed_by == "the user":
            tree.git("status")
        assert tree.sum() == before
        tree.write("a/x.py", f"{number + 2}\n")
        os.utime(tree.path("a/x.py"), (1, 1))
        assert tree.sum() != before


def test_a_new_file_in_the_second_of_a_look_in_a_folder_whose_time_is_put_back(tree: Tree) -> None:
    tree.write("new/first", "1")
    os.utime(tree.path("new"), (1, 1))
    seen = {tree.sum()}
    _next_second(tree.path("new"))

    for number in range(4):
        tree.write(f"new/{number}", "1")
        os.utime(tree.path("new"), (1, 1))
        seen.add(tree.sum())

    assert len(seen) == 5


def test_doubt_keeps_the_index_whole(tree: Tree) -> None:
    real = (tree.git_dir / "index").read_bytes()
    assert doubted(real, range(1, 4)) is None

    first, last = (int(tree.path(path).stat().st_ctime) for path in ("a/x.py", "b/z.py"))
    changed = doubted(real, range(first, last + 1))

    assert changed is not None
    assert is_whole(changed)
    assert len(changed) == len(real)
    (tree.git_dir / "index").write_bytes(changed)
    assert tree.git("fsck") == ""
    assert tree.git("ls-files", "--debug", "a/x.py").count("size: 0") == 1
    assert tree.git("status", "--porcelain") == ""


def test_a_warm_look_opens_no_folder(tree: Tree) -> None:
    trace = tree.root.parent / "trace"
    for number in range(20):
        tree.write(f"many/{number}/file", "1")
    tree.commit()
    tree.settle()
    tree.git("config", "--global", "trace2.perfTarget", str(trace))

    tree.sum()

    said = trace.read_text()
    if "opendir:" not in said:
        pytest.skip("this git does not tell")
    assert "opendir:0" in said


def test_corrupt_real_index_is_refused(tree: Tree) -> None:
    index = tree.git_dir / "index"
    data = index.read_bytes()
    flipped = data[:80] + bytes([data[80] ^ 1]) + data[81:]
    for broken in (b"garbage", b"", data[:40], data[:-30], b"XXXX" + data[4:], flipped):
        index.write_bytes(broken)
        with pytest.raises(Refusal) as refused:
            tree.sum()
        assert refused.value.code == "corrupt-index"
        assert str(tree.root) in refused.value.what

    index.write_bytes(data)
    assert tree.state().dirty == {}


def test_broken_repository_is_refused(tree: Tree) -> None:
    tree.write("a/x.py", "9\n")
    git_dir = str(tree.git_dir)
    for path in (tree.git_dir / "objects").rglob("*"):
        if path.is_file():
            path.unlink()

    with pytest.raises(Refusal) as refused:
        tree.state(git_dir=git_dir)

    assert refused.value.code == "git-failed"
    assert "fsck" in refused.value.fix


def test_missing_git_is_refused(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    git_dir = str(tree.git_dir)
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(Refusal) as refused:
        tree.state(git_dir=git_dir)

    assert refused.value.code == "git-missing"


def test_unwritable_state_is_refused(tree: Tree) -> None:
    (tree.git_dir / "morph-spec").write_text("a file where the folder belongs")

    with pytest.raises(Refusal) as refused:
        tree.sum()

    assert refused.value.code == "state-unwritable"


def test_hooks_of_the_repository_do_not_run(tree: Tree) -> None:
    hook = tree.git_dir / "hooks/post-index-change"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tree.root}/ran\n")
    hook.chmod(0o755)
    tree.git("update-index", "--assume-unchanged", "b/z.py")
    tree.path("ran").unlink(missing_ok=True)

    tree.write("a/x.py", "9\n")
    tree.sum()

    assert not tree.path("ran").exists()


_ASK = """
import sys
from morph_tasks.repo.fingerprint import tree_state
for _ in range(int(sys.argv[3])):
    print(tree_state(sys.argv[1], sys.argv[2], {"a": ["a"], "b": ["**/*.py"]}).sum)
"""


def test_callers_at_once_all_get_the_right_answer(tree: Tree) -> None:
    tree.git("update-index", "--assume-unchanged", "b/z.py")
    tree.write("b/z.py", "hidden\n")
    for number in range(50):
        tree.write(f"new/{number}.py", f"{number}\n")
    argv = [sys.executable, "-c", _ASK, str(tree.root), str(tree.git_dir), "8"]
    asking = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    # The real index changes under them; the content does not.
    for number in range(1, 11):
        tree.git(*(["add"] if number % 2 else ["rm", "-q", "--cached"]), "new/1.py")
    outcomes = [process.communicate() for process in asking]

    assert [error for _, error in outcomes] == [""] * 4
    assert {line for said, _ in outcomes for line in said.split()} == {tree.sum()}
