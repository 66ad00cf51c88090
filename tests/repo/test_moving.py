from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.index_lock import held_index
from morph_tasks.repo.moving import move_tree, refuse_move
from tests.repo.conftest import Tree

ODD = ("a b.txt", "quote\"d'.txt", "new\nline.txt", "höhe.txt", b"not-utf8-\xff.txt")


@pytest.fixture
def moved(tree: Tree) -> tuple[Tree, str, str]:
    """A tree on `main` at its first commit, and a second commit that changes, adds, removes, swaps and links."""
    tree.write("kept.txt", "kept\n")
    tree.write("changed.txt", "old\n")
    tree.write("gone.txt", "gone\n")
    tree.write("dir/inside.txt", "inside\n")
    tree.write("plain", "a file\n")
    for name in ODD:
        tree.write(name, "old\n")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "old")
    old = tree.git("rev-parse", "HEAD")
    tree.write("changed.txt", "new content of some length\n" * 50)
    tree.path("gone.txt").unlink()
    tree.path("dir/inside.txt").unlink()
    tree.path("dir").rmdir()
    tree.write("dir", "a file now\n")
    tree.path("plain").unlink()
    tree.write("plain/inside.txt", "a folder now\n")
    tree.write("run.sh", "#!/bin/sh\n", executable=True)
    tree.path("link").symlink_to("kept.txt")
    for name in ODD:
        tree.write(name, "new\n")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "new")
    new = tree.git("rev-parse", "HEAD")
    tree.git("reset", "-q", "--hard", old)
    return tree, old, new


def test_the_tree_moves_and_is_clean(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    repo = open_repo(tree.root)
    move_tree(repo, old, new, to="main", message="forward")
    assert (tree.git("rev-parse", "main"), tree.git("status", "--porcelain")) == (new, "")
    assert os.access(tree.path("run.sh"), os.X_OK) and tree.path("link").is_symlink()
    move_tree(repo, new, old, to="main", message="back")
    assert (tree.git("rev-parse", "main"), tree.git("status", "--porcelain")) == (old, "")
    assert tree.git("reflog", "-2", "--format=%gs", "main") == "back\nforward"
    assert list(repo.git_dir.glob("morph-*-*")) == [] and not (repo.git_dir / "index.lock").exists()


def test_head_goes_to_another_branch(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    tree.git("branch", "next", new)
    move_tree(open_repo(tree.root), old, new, to="next", message="switch")
    assert tree.git("symbolic-ref", "HEAD") == "refs/heads/next" and tree.git("rev-parse", "main") == old
    assert tree.git("status", "--porcelain") == ""


def test_local_changes_elsewhere_stay(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    tree.write("kept.txt", "mine\n")
    tree.write("untracked.txt", "mine too\n")
    tree.write("staged.txt", "staged\n")
    tree.git("add", "staged.txt")
    move_tree(open_repo(tree.root), old, new, to="main", message="forward")
    assert tree.git("status", "--porcelain").splitlines() == ["M kept.txt", "A  staged.txt", "?? untracked.txt"]
    assert tree.path("kept.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("name", "ignored"),
    [("changed.txt", False), ("gone.txt", False), ("run.sh", False), ("run.sh", True), ("link", True),
     ("plain", False), ("dir/untracked.txt", False), ("dir/ignored.txt", True)],
)  # fmt: skip
def test_what_would_be_overwritten_is_named_and_nothing_moves(
    moved: tuple[Tree, str, str], name: str, ignored: bool
) -> None:
    tree, old, new = moved
    repo = open_repo(tree.root)
    if ignored:
        (repo.git_dir / "info").mkdir(exist_ok=True)
        (repo.git_dir / "info/exclude").write_text(f"/{name}\n")
    tree.write(name, "mine\n")
    before = tree.git("status", "--porcelain", "--ignored")
    for call in (
        lambda: refuse_move(repo, old, new),
        lambda: move_tree(repo, old, new, to="main", message="forward"),
        lambda: move_tree(repo, old, new, to="main", message="forward", partly=True),
    ):
        with pytest.raises(Refusal) as caught:
            call()
        assert caught.value.code == "would-overwrite"
        assert any(path in name for path in caught.value.payload["paths"]), caught.value.payload
    assert tree.path(name).read_text() == "mine\n" and tree.git("rev-parse", "HEAD") == old
    assert tree.git("status", "--porcelain", "--ignored") == before
    assert not (repo.git_dir / "index.lock").exists()


def test_content_that_is_there_already_is_no_obstacle(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    tree.write("run.sh", "#!/bin/sh\n", executable=True)
    tree.path("gone.txt").unlink()
    move_tree(open_repo(tree.root), old, new, to="main", message="forward")
    assert tree.git("status", "--porcelain") == ""


def test_the_index_of_somebody_else_is_respected(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    repo = open_repo(tree.root)
    (repo.git_dir / "index.lock").write_bytes(b"")
    for call in (lambda: refuse_move(repo, old, new), lambda: move_tree(repo, old, new, to="main", message="m")):
        with pytest.raises(Refusal) as caught:
            call()
        assert (caught.value.code, caught.value.exit_code) == ("index-locked", 3)
    assert (repo.git_dir / "index.lock").read_bytes() == b"" and tree.git("rev-parse", "HEAD") == old


def test_a_hook_that_refuses_the_reference_stops_before_files_change(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    hook = tree.git_dir / "hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(Refusal) as caught:
        move_tree(open_repo(tree.root), old, new, to="main", message="forward", again="morph-spec finish cart --merge")
    assert caught.value.code == "reference-refused" and "update-ref" not in caught.value.fix
    assert caught.value.fix.endswith("then morph-spec finish cart --merge")
    hook.unlink()
    assert (tree.git("rev-parse", "HEAD"), tree.git("status", "--porcelain")) == (old, "")


def test_a_failed_block_leaves_the_index_as_it_was(moved: tuple[Tree, str, str]) -> None:
    tree, _, _ = moved
    repo = open_repo(tree.root)
    before = (repo.git_dir / "index").read_bytes()
    with pytest.raises(ValueError, match="on purpose"), held_index(repo) as index:
        Path(index).write_bytes(b"rubbish")
        raise ValueError("on purpose")
    assert (repo.git_dir / "index").read_bytes() == before and not (repo.git_dir / "index.lock").exists()


_KILLED = """
import os, signal, sys
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.moving import move_tree
import sh, filelock, tempfile, shutil
at, count = int(sys.argv[1]), 0
def watch(event, args):
    global count
    writes = event == "open" and (args[2] or 0) & 3 and not str(args[0]).endswith("/dev/null")
    if writes or event in {"os.rename", "os.remove", "os.link", "os.fork", "subprocess.Popen", "os.posix_spawn"}:
        count += 1
        if count == at:
            os.kill(0, signal.SIGKILL)
sys.addaudithook(watch)
move_tree(open_repo(), sys.argv[2], sys.argv[3], to="main", message="m", partly=True)
"""


def _killed(repo: Repo, at: int, old: str, new: str) -> bool:
    argv = [sys.executable, "-c", _KILLED, str(at), old, new]
    done = subprocess.run(argv, cwd=repo.root, capture_output=True, start_new_session=True, timeout=60)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


def test_killed_at_every_change_a_second_move_completes_it(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    repo = open_repo(tree.root)
    tree.write("kept.txt", "mine\n")
    at = 1
    while _killed(repo, at, old, new):
        move_tree(repo, old, new, to="main", message="again", partly=True)
        assert (tree.git("rev-parse", "main"), tree.git("status", "--porcelain")) == (new, "M kept.txt"), at
        move_tree(repo, new, old, to="main", message="back")
        assert tree.git("status", "--porcelain") == "M kept.txt", at
        at += 1
    assert at > 5


def _cut(tree: Tree, old: str, new: str) -> None:
    """Leave what git leaves when it dies in the middle of the files: some new, one cut off, some old."""
    tree.git("update-ref", "refs/heads/main", new, old)
    tree.path("gone.txt").unlink()
    tree.write("a b.txt", "new\n")
    tree.write("changed.txt", "new content of so")
    tree.write("run.sh", "#!/b")
    tree.path("plain").unlink()
    (tree.git_dir / "index.lock").write_bytes(b"morph-spec holds this index\n")


def test_a_file_that_was_cut_off_is_written_again(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    _cut(tree, old, new)
    move_tree(open_repo(tree.root), old, new, to="main", message="again", partly=True)
    assert (tree.git("rev-parse", "main"), tree.git("status", "--porcelain")) == (new, "")


def test_without_a_killed_run_before_it_a_beginning_is_somebodys_work(moved: tuple[Tree, str, str]) -> None:
    tree, old, new = moved
    _cut(tree, old, new)
    with pytest.raises(Refusal) as caught:
        move_tree(open_repo(tree.root), old, new, to="main", message="again")
    assert caught.value.code == "would-overwrite" and "changed.txt" in caught.value.payload["paths"]
    assert tree.path("run.sh").read_text() == "#!/b"
