"""The same content gives the same sum, however it came about; other content gives another."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from morph_tasks.repo.hashing import blob_id

if TYPE_CHECKING:
    from conftest import Tree

Step = Callable[["Tree"], object]


def _nothing(tree: Tree) -> None:
    """Start from the committed tree."""


def _git(*args: str, ok: tuple[int, ...] = (0,)) -> Step:
    return lambda tree: tree.git(*args, ok=ok)


def _write(path: str, text: str, *, executable: bool = False) -> Step:
    return lambda tree: tree.write(path, text, executable=executable)


def _all(*steps: Step) -> Step:
    return lambda tree: [step(tree) for step in steps]


def _keeping_times(path: str, text: str) -> Step:
    """Write other bytes of the same length and put the times back."""

    def step(tree: Tree) -> None:
        about = tree.path(path).stat()
        tree.write(path, text)
        os.utime(tree.path(path), ns=(about.st_atime_ns, about.st_mtime_ns))

    return step


def _chmod(path: str, mode: int) -> Step:
    return lambda tree: tree.path(path).chmod(mode)


def _commit(tree: Tree) -> None:
    tree.commit()


def _conflict(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "other")
    tree.write("b/z.py", "theirs\n")
    tree.commit()
    tree.git("checkout", "-q", "-")
    tree.write("b/z.py", "ours\n")
    tree.commit()
    tree.git("merge", "other", ok=(1,))


def _rename_conflict(tree: Tree) -> None:
    """Theirs moves what ours edits: the index shows ours at a path that HEAD does not have."""
    tree.write("long.py", "".join(f"line {number}\n" for number in range(30)))
    tree.commit()
    tree.git("checkout", "-q", "-b", "other")
    tree.git("mv", "long.py", "moved.py")
    tree.write("moved.py", tree.path("moved.py").read_text().replace("line 3\n", "theirs\n"))
    tree.commit()
    tree.git("checkout", "-q", "-")
    tree.write("long.py", tree.path("long.py").read_text().replace("line 3\n", "ours\n"))
    tree.commit()
    tree.git("merge", "other", ok=(1,))


def _deletion_conflict(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "other")
    tree.remove("b/z.py")
    tree.write("a/x.py", "theirs\n")
    tree.commit()
    tree.git("checkout", "-q", "-")
    tree.write("b/z.py", "ours\n")
    tree.remove("a/x.py")
    tree.commit()
    tree.git("merge", "other", ok=(1,))


def _addition_conflict(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "other")
    tree.write("b/new.py", "theirs\n")
    tree.commit()
    tree.git("checkout", "-q", "-")
    tree.write("b/new.py", "ours\n", executable=True)
    tree.commit()
    tree.git("merge", "other", ok=(1,))


_EDIT = _write("a/x.py", "9\n")
_NEW = _write("b/new.py", "n\n")

SAME: dict[str, tuple[Step, Step]] = {
    "nothing happens": (_nothing, _nothing),
    "an edit is staged": (_EDIT, _git("add", "-A")),
    "an edit is committed": (_EDIT, _commit),
    "an edit is undone": (_all(_EDIT, lambda tree: tree.sum(), _write("a/x.py", "1\n")), _git("status")),
    "a file is touched": (_nothing, lambda tree: os.utime(tree.path("a/x.py"), (1, 1))),
    "a mode is undone": (_nothing, _all(_chmod("b/z.py", 0o755), lambda tree: tree.sum(), _chmod("b/z.py", 0o644))),
    "bits that git does not keep": (_nothing, _chmod("b/z.py", 0o600)),
    "an untracked file is staged": (_NEW, _git("add", "b/new.py")),
    "an untracked file is committed": (_NEW, _commit),
    "an untracked executable is committed": (_write("run", "#!", executable=True), _commit),
    "an untracked folder is committed": (_write("new/deep/file.py", "q"), _commit),
    "an empty folder appears": (_nothing, lambda tree: tree.path("empty/deep").mkdir(parents=True)),
    "an ignored file appears": (_nothing, _all(_write("ign/1", "1"), _write("x.log", "1"))),
    "an ignored file changes": (_write("x.log", "1"), _write("x.log", "2")),
    "our own state changes": (_nothing, _all(_write(".morph/state", "5"), _write(".morph/new/one", "1"))),
    "our own state is committed": (_write(".morph/state", "5"), _commit),
    "a move is committed": (_git("mv", "a/x.py", "a/moved.py"), _commit),
    "a link is committed": (lambda tree: tree.link("a/y.py", "x.py"), _commit),
    "a link that leads nowhere is committed": (lambda tree: tree.link("a/y.py", "nowhere"), _commit),
    "a deletion is staged": (lambda tree: tree.remove("b/z.py"), _git("rm", "-q", "--cached", "b/z.py")),
    "a deletion is committed": (lambda tree: tree.remove("b/z.py"), _commit),
    "a file leaves the index and stays on disk": (_nothing, _git("rm", "-q", "--cached", "b/z.py")),
    "an added file is only announced": (_NEW, _git("add", "-N", "b/new.py")),
    "an announced file is added": (_all(_NEW, _git("add", "-N", "b/new.py")), _git("add", "b/new.py")),
    "a staged edit is undone on disk": (_nothing, _all(_EDIT, _git("add", "-A"), _write("a/x.py", "1\n"))),
    "a branch is left and taken again": (
        _nothing,
        _all(_git("checkout", "-q", "-b", "other"), _EDIT, _commit, lambda t: t.sum(), _git("checkout", "-q", "-")),
    ),
    "the commit is amended": (_nothing, _git("commit", "-q", "--amend", "-m", "other words")),
    "HEAD is detached": (_nothing, _git("checkout", "-q", "--detach")),
    "a conflict is resolved as the file stands": (_conflict, _git("add", "b/z.py")),
    "a conflict is aborted": (
        _all(_conflict, _git("merge", "--abort"), lambda tree: tree.sum()),
        _all(_git("merge", "other", ok=(1,)), lambda tree: tree.sum(), _git("merge", "--abort")),
    ),
    "a branch without a past is begun": (_EDIT, _git("checkout", "-q", "--orphan", "fresh")),
    "a conflict over a deletion is resolved": (_deletion_conflict, _commit),
    "a conflict over two new files is resolved": (_addition_conflict, _commit),
    "a conflict over a rename is resolved": (_rename_conflict, _all(_git("add", "-A"), _commit)),
    "a folder becomes a file, committed": (
        lambda tree: [tree.remove("b/z.py"), tree.path("b").rmdir(), tree.write("b", "now a file")],
        _commit,
    ),
    "a file becomes a folder, committed": (
        lambda tree: [tree.remove("a/x.py"), tree.write("a/x.py/inside", "1")],
        _commit,
    ),
    "the index is written in version 4": (_EDIT, _git("update-index", "--index-version", "4")),
    "the index is split": (_EDIT, _git("update-index", "--split-index")),
    "a by-product appears": (_nothing, _all(_write("a/__pycache__/x.pyc", "1"), _write("htmlcov/index.html", "1"))),
    "tags and branches come and go": (_nothing, _all(_git("tag", "v1"), _git("branch", "more"))),
    "the repository is packed": (_EDIT, _git("gc", "-q")),
}  # fmt: skip

DIFFERENT: dict[str, tuple[Step, Step]] = {
    "an edit": (_nothing, _EDIT),
    "an edit of the same size and time": (_git("status"), _keeping_times("a/y.py", "7\n")),
    "an edit of the same size and time, committed before": (
        _all(lambda t: t.sum(), lambda t: t.sum()),
        _keeping_times("a/y.py", "7\n"),
    ),
    "a second edit": (_EDIT, _write("a/x.py", "8\n")),
    "a second edit of an untracked file": (_NEW, _write("b/new.py", "m\n")),
    "a second edit of an untracked file with the same time": (_NEW, _keeping_times("b/new.py", "m\n")),
    "an executable bit": (_nothing, _chmod("b/z.py", 0o755)),
    "an executable bit of an untracked file": (_NEW, _chmod("b/new.py", 0o755)),
    "an untracked file": (_nothing, _NEW),
    "an empty untracked file": (_nothing, _write("b/new.py", "")),
    "a file in an untracked folder": (_write("new/deep/a.py", "1"), _write("new/deep/b.py", "1")),
    "an edit in an untracked folder": (_write("new/deep/a.py", "1"), _write("new/deep/a.py", "2")),
    "a tracked file that is ignored changes": (_nothing, _write("forced.log", "g\n")),
    "an ignored file is added by force": (_write("x.log", "1"), _git("add", "-f", "x.log")),
    "an added ignored file leaves the index": (_nothing, _git("rm", "-q", "--cached", "forced.log")),
    "a move": (_nothing, lambda tree: tree.path("a/x.py").rename(tree.path("a/moved.py"))),
    "two files swap places": (
        _nothing,
        lambda tree: [tree.write("a/x.py", "2\n"), tree.write("a/y.py", "1\n")],
    ),
    "a file becomes a link": (_nothing, lambda tree: tree.link("a/y.py", "x.py")),
    "a link with the text of the file": (_write("b/new", "x.py"), lambda tree: tree.link("b/new", "x.py")),
    "a link leads elsewhere": (lambda tree: tree.link("a/y.py", "x.py"), lambda tree: tree.link("a/y.py", "z.py")),
    "a deletion": (_nothing, lambda tree: tree.remove("b/z.py")),
    "a staged deletion": (_nothing, _git("rm", "-q", "b/z.py")),
    "assume-unchanged hides an edit": (_git("update-index", "--assume-unchanged", "b/z.py"), _write("b/z.py", "au\n")),
    "skip-worktree hides an edit": (_git("update-index", "--skip-worktree", "b/z.py"), _write("b/z.py", "sw\n")),
    "skip-worktree hides a deletion": (
        _git("update-index", "--skip-worktree", "b/z.py"),
        lambda tree: tree.remove("b/z.py"),
    ),
    "both flags hide an edit": (
        _all(_git("update-index", "--skip-worktree", "b/z.py"), _git("update-index", "--assume-unchanged", "b/z.py")),
        _write("b/z.py", "both\n"),
    ),
    "another branch": (
        _all(_git("checkout", "-q", "-b", "other"), _EDIT, _commit, _git("checkout", "-q", "-")),
        _git("checkout", "-q", "other"),
    ),
    "a conflict": (_nothing, _conflict),
    "a conflict, then a new try": (_conflict, _write("b/z.py", "both\n")),
    "the case of a name": (_nothing, lambda tree: tree.path("a/x.py").rename(tree.path("a/X.py"))),
    "an ignore rule goes": (_write("k.log", "1"), _write(".gitignore", "ign/\n")),
    "an ignore rule in a folder": (_NEW, _write("b/.gitignore", "new.py\n")),
    "an ignore rule outside the tree": (
        _NEW,
        lambda tree: (tree.git_dir / "info/exclude").write_text("new.py\n"),
    ),
    "a tracked file named like a report": (_all(_write("coverage/a", "1"), _commit), _write("coverage/a", "2")),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_same_content_same_sum(tree: Tree, name: str) -> None:
    prepare, change = SAME[name]
    prepare(tree)
    before = tree.sum()

    change(tree)

    assert tree.sum() == before
    _assert_commit_and_dirty_paths_are_the_content(tree)


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_content_other_sum(tree: Tree, name: str) -> None:
    prepare, change = DIFFERENT[name]
    prepare(tree)
    before = tree.sum()

    change(tree)

    assert tree.sum() != before
    _assert_commit_and_dirty_paths_are_the_content(tree)


def test_quick_edits_of_the_same_size_all_show(tree: Tree) -> None:
    seen = {tree.sum()}
    for number in range(4, 10):
        tree.write("b/z.py", f"{number}\n")
        seen.add(tree.sum())

    assert len(seen) == 7


def test_quick_edits_of_an_untracked_file_all_show(tree: Tree) -> None:
    seen = set()
    for number in range(6):
        tree.write("b/new.py", f"{number}\n")
        seen.add(tree.sum())

    assert len(seen) == 6


def test_nothing_dirty_after_a_commit(tree: Tree) -> None:
    state = tree.state()

    assert (state.head, state.dirty) == (tree.git("rev-parse", "HEAD"), {})
    assert len(state.sum) == 64
    assert state == tree.state()
    assert "dirty={}" in repr(state)


def test_before_the_first_commit(unborn: Tree) -> None:
    empty = unborn.state()
    assert (empty.head, empty.dirty) == (None, {})

    unborn.write("a", "1\n")
    untracked = unborn.state()
    assert untracked.dirty == {b"a": ("100644", blob_id(b"1\n", 40))}
    unborn.git("add", "a")
    assert unborn.state() == untracked

    unborn.git("commit", "-q", "-m", "first")
    assert unborn.sum() == untracked.sum != empty.sum


def test_the_sum_does_not_depend_on_the_place_or_the_history(tree: Tree, make_tree: Callable[..., Tree]) -> None:
    other = make_tree("elsewhere/deep")
    for path, (_, data) in tree.content().items():
        other.write(path, data)
    other.git("add", "-f", ".")

    assert other.sum() == tree.sum()
    assert tree.worktree("linked", "--detach").sum() == tree.sum()


def _assert_commit_and_dirty_paths_are_the_content(tree: Tree) -> None:
    state = tree.state()
    found: dict[bytes, tuple[str, str]] = {}
    listed = tree.git("ls-tree", "-rz", "HEAD") if state.head else ""
    for line in os.fsencode(listed).split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path and not path.startswith(b".morph/"):
            mode, _, oid = about.decode().split()
            found[path] = (mode, oid)
    for path, entry in state.dirty.items():
        assert entry != found.get(path), path
        if entry is None:
            del found[path]
        else:
            found[path] = entry
    modes = {"file": "100644", "executable": "100755", "link": "120000"}
    assert found == {path: (modes[kind], blob_id(data, 40)) for path, (kind, data) in tree.content().items()}
