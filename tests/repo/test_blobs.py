"""Files are hashed as `git add` would hash them, and read only when they were touched."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo import blobs, hashing
from morph_tasks.repo.hashing import blob_id

if TYPE_CHECKING:
    from conftest import Tree

CRLF, LF = b"one\r\ntwo\r\n", b"one\ntwo\n"


def _attributes(text: str, path: str = ".gitattributes") -> Callable[[Tree], object]:
    return lambda tree: tree.write(path, text)


def _config(name: str, value: str) -> Callable[[Tree], object]:
    return lambda tree: tree.git("config", name, value)


def _attributes_file(tree: Tree) -> None:
    outside = tree.root.parent / "attributes"
    outside.write_text("*.txt text\n")
    tree.git("config", "core.attributesFile", str(outside))


CONVERTING: dict[str, Callable[[Tree], object]] = {
    "attributes": _attributes("*.txt text eol=lf\n"),
    "attributes in a folder": _attributes("*.txt text\n", "deep/er/.gitattributes"),
    "text=auto": _attributes("* text=auto\n"),
    "core.autocrlf": _config("core.autocrlf", "true"),
    "core.autocrlf=input": _config("core.autocrlf", "input"),
    "core.attributesFile": _attributes_file,
    "info/attributes": lambda tree: (tree.git_dir / "info/attributes").write_text("*.txt text\n"),
    "a clean filter": lambda tree: [
        tree.write(".gitattributes", "*.txt filter=plain\n"),
        tree.git("config", "filter.plain.clean", "tr -d '\\r'"),
    ],
}


@pytest.mark.parametrize("name", CONVERTING)
def test_new_and_changed_files_are_hashed_as_they_will_be_committed(tree: Tree, name: str) -> None:
    CONVERTING[name](tree)
    tree.write("deep/er/old.txt", "old\n")
    tree.commit()

    tree.write("deep/er/new.txt", CRLF)
    tree.write("deep/er/old.txt", CRLF)
    state = tree.state()

    entry = ("100644", blob_id(LF, 40))
    assert state.dirty == {b"deep/er/new.txt": entry, b"deep/er/old.txt": entry}
    tree.commit()
    assert tree.state().dirty == {}
    assert tree.sum() == state.sum


@pytest.mark.parametrize("name", CONVERTING)
def test_new_rules_are_seen_without_a_touch_of_the_file(tree: Tree, name: str) -> None:
    tree.write("deep/er/new.txt", CRLF)
    os.utime(tree.path("deep/er/new.txt"), (1, 1))
    _let_pass(tree.path("deep/er/new.txt").stat().st_ctime_ns)
    assert tree.state().dirty[b"deep/er/new.txt"] == ("100644", blob_id(CRLF, 40))
    assert tree.state().dirty[b"deep/er/new.txt"] == ("100644", blob_id(CRLF, 40))

    CONVERTING[name](tree)

    assert tree.state().dirty[b"deep/er/new.txt"] == ("100644", blob_id(LF, 40))


@pytest.mark.parametrize("name", ["text=auto", "core.autocrlf", "core.autocrlf=input"])
def test_crlf_that_is_committed_stays_where_git_leaves_it(tree: Tree, name: str) -> None:
    tree.write("old.txt", CRLF)
    tree.commit()
    CONVERTING[name](tree)
    tree.commit()

    tree.write("old.txt", CRLF + b"three\r\n")
    state = tree.state()

    assert state.dirty == {b"old.txt": ("100644", blob_id(CRLF + b"three\r\n", 40))}
    tree.commit()
    assert (tree.sum(), tree.state().dirty) == (state.sum, {})


def test_a_file_with_the_committed_bytes_is_unchanged_whatever_git_would_convert(tree: Tree) -> None:
    tree.write("old.txt", CRLF)
    os.utime(tree.path("old.txt"), (1, 1))
    tree.commit()
    tree.write(".gitattributes", "*.txt text\n")
    tree.commit()
    before = tree.sum()

    os.utime(tree.path("old.txt"), (2, 2))
    assert "old.txt" in tree.git("status", "--porcelain")

    assert (tree.sum(), tree.state().dirty) == (before, {})
    assert tree.worktree("fresh", "--detach").sum() == before


def test_a_filter_that_fails_is_refused(tree: Tree) -> None:
    tree.write(".gitattributes", "*.big filter=big\n")
    tree.git("config", "filter.big.clean", "false")
    tree.git("config", "filter.big.required", "true")
    tree.write("new.big", "1")

    with pytest.raises(Refusal) as refused:
        tree.sum()

    assert refused.value.code == "filter-failed"
    assert "new.big" in refused.value.what


@pytest.fixture
def with_attributes(tree: Tree) -> Tree:
    """A tree in which git has to be asked for every blob."""
    tree.write(".gitattributes", "*.none text\n")
    tree.commit()
    return tree


def test_an_untouched_file_is_not_read_again(with_attributes: Tree, children: list[str]) -> None:
    tree = with_attributes
    tree.write("a/x.py", "9\n")
    tree.write("b/new.py", "n\n")
    _let_pass(tree.path("b/new.py").stat().st_ctime_ns)
    state = tree.state()
    assert children == ["ls-files", "status", "ls-tree", "hash-object"]

    assert tree.state() == state
    assert children[4:] == ["status"]
    tree.write("b/new.py", "m\n")
    assert tree.state() != state
    assert children[5:] == ["status", "hash-object"]


def test_a_few_files_that_nothing_converts_are_read_here(
    tree: Tree, children: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_pass((tree.git_dir / "config").stat().st_ctime_ns)
    tree.write("b/new.py", CRLF)
    tree.sum()
    assert children == ["ls-files", "status", "ls-tree", "config"]
    tree.write("a/x.py", CRLF)
    state = tree.state()
    assert children[4:] == ["status"]

    monkeypatch.setattr(blobs, "_MOST_READ_HERE", 0)
    (tree.private() / "blobs").unlink()
    assert tree.state() == state
    assert children[5:] == ["status", "hash-object"]


def test_a_file_touched_just_now_is_not_trusted(
    with_attributes: Tree, children: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = with_attributes
    tree.write("b/new.py", "n\n")
    touched = tree.path("b/new.py").stat().st_ctime_ns
    monkeypatch.setattr(time, "time_ns", lambda: touched + 49_000_000)
    tree.sum()
    tree.sum()
    assert children.count("hash-object") == 2

    monkeypatch.setattr(time, "time_ns", lambda: touched + 51_000_000)
    tree.sum()
    tree.sum()
    assert children.count("hash-object") == 3


def test_a_file_that_changes_while_it_is_read_is_not_trusted(
    tree: Tree, children: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("a/x.py", "9\n")
    _let_pass(tree.path("a/x.py").stat().st_ctime_ns)
    real = blobs.file_blob_id

    def meanwhile(path: bytes, size: int, digits: int) -> str:
        found = real(path, size, digits)
        tree.write("a/x.py", "8\n")
        return found

    monkeypatch.setattr(blobs, "file_blob_id", meanwhile)
    tree.sum()
    monkeypatch.undo()

    assert tree.state().dirty == {b"a/x.py": ("100644", blob_id(b"8\n", 40))}


@pytest.mark.parametrize("when", ["before it is looked at", "before git reads it"])
def test_files_that_vanish_are_deleted(with_attributes: Tree, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    tree = with_attributes
    for number in range(5):
        tree.write(f"new/{number}.py", f"{number}\n")
    tree.write("a/x.py", "9\n")
    real = blobs.BlobReader._look if when == "before it is looked at" else blobs.BlobReader._filtered

    def meanwhile(self: object, *args: object) -> object:
        for path in ("new/0.py", "new/3.py", "a/x.py"):
            tree.path(path).unlink(missing_ok=True)
        return real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(blobs.BlobReader, real.__name__, meanwhile)
    state = tree.state()
    monkeypatch.undo()

    assert sorted(path for path, entry in state.dirty.items() if entry) == [b"new/1.py", b"new/2.py", b"new/4.py"]
    assert state.dirty[b"a/x.py"] is None
    assert tree.state() == state


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_an_unreadable_file_is_a_change_and_no_crash(tree: Tree, open_folder: Path) -> None:
    tree.write("b/new.py", "n\n")
    tree = type(tree)(shutil.move(tree.root, open_folder / "tree"))
    for folder, _, names in os.walk(tree.root):
        os.chown(folder, 65534, 65534)
        for name in names:
            os.chown(os.path.join(folder, name), 65534, 65534)
    for name in ("a/x.py", "b/new.py"):
        tree.path(name).chmod(0)

    said = _as_nobody(lambda: (tree.state().dirty, tree.state() == tree.state()))

    wanted = {b"a/x.py": ("100644", "unreadable"), b"b/new.py": ("100644", "unreadable")}
    assert said == repr((wanted, True))


def _as_nobody(ask: Callable[[], object]) -> str:
    """Run in a forked child: a fresh interpreter may lie where nobody may look."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            os.write(into, repr(ask()).encode())
        except BaseException as error:
            os.write(into, repr(error).encode())
        finally:
            os._exit(0)
    os.close(into)
    with open(out, "rb") as file:
        said = file.read().decode()
    os.waitpid(pid, 0)
    return said


def test_a_file_too_large_for_one_read(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_CHUNK", 7)
    data = os.urandom(1000)
    tree.write("a/x.py", data)

    assert tree.state().dirty == {b"a/x.py": ("100644", blob_id(data, 40))}


def _let_pass(moment_ns: int) -> None:
    """Wait until a file touched at that moment is old enough to be trusted."""
    while time.time_ns() <= moment_ns + 51_000_000:
        time.sleep(0.005)
