from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.validators.added import AddedFile, added_files, parse_added
from morph_tasks.verify.validators.base import find_base


def _added(tree: Any, *names: str) -> dict[str, list[tuple[int, bytes]]]:
    base = find_base(tree.repo).tree
    assert base
    return {file.path: list(file.lines) for file in added_files(tree.repo, base, names)}


def _appended(tree: Any) -> str:
    return str((tree.root / "old.py").read_text() + "new = 1\n")


def test_the_same_content_counts_the_same_wherever_git_has_it(tree: Any) -> None:
    tree.write("old.py", _appended(tree))
    tree.write("fresh.py", "a = 1\n\nb = 2\n")
    expected = {"old.py": [(31, b"new = 1")], "fresh.py": [(1, b"a = 1"), (2, b""), (3, b"b = 2")]}
    assert _added(tree) == expected  # unstaged and untracked
    tree.git("add", "-A")
    assert _added(tree) == expected  # staged
    tree.commit()
    assert _added(tree) == expected  # committed


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_counts(tree: Any, mark: str) -> None:
    tree.git("update-index", mark, "old.py")
    assert _added(tree) == {}
    tree.write("old.py", _appended(tree))
    before = (tree.root / ".git/index").read_bytes()
    assert _added(tree) == {"old.py": [(31, b"new = 1")]}
    assert (tree.root / ".git/index").read_bytes() == before


def test_nothing_added(tree: Any) -> None:
    assert _added(tree) == {}
    os.unlink(tree.root / "old.py")
    assert _added(tree) == {}


@pytest.mark.parametrize("how", ["untracked", "staged", "committed"])
def test_a_file_that_only_moved_has_no_added_line(tree: Any, how: str) -> None:
    (tree.root / "deep").mkdir()
    os.rename(tree.root / "old.py", tree.root / "deep/new.py")
    if how != "untracked":
        tree.git("add", "-A")
    if how == "committed":
        tree.commit()
    assert _added(tree) == {}
    with open(tree.root / "deep/new.py", "a") as file:
        file.write("edited = 1\n")
    assert _added(tree) == {"deep/new.py": [(31, b"edited = 1")]}


def test_before_the_first_commit_everything_is_added(fresh: Any) -> None:
    fresh.write("a.py", "x = 1\n")
    fresh.write("b.py", "y = 1\n")
    fresh.git("add", "b.py")
    assert _added(fresh) == {"a.py": [(1, b"x = 1")], "b.py": [(1, b"y = 1")]}


NAMES = [
    "with space.py", "tab\there.py", "new\nline.py", 'quo"te.py', "back\\slash.py", "ação.py", "-dash.py", ":colon.py",
    "*.py", "a b/c d.py", "[x].py", os.fsdecode(b"latin\xe9.py"), "b/b.py", "bell\a.py", " lead.py",
]  # fmt: skip


@pytest.mark.parametrize("staged", [False, True])
def test_odd_names(tree: Any, staged: bool) -> None:
    for name in NAMES:
        tree.write(name, "x = 1\n")
    if staged:
        tree.git("add", "-A")
    assert _added(tree) == {name: [(1, b"x = 1")] for name in NAMES}


def test_lines_that_look_like_a_diff(tree: Any) -> None:
    text = "+++ b/other.py\n--- a/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n-gone\n"
    tree.write("fresh.py", text)
    assert _added(tree) == {"fresh.py": list(enumerate((line.encode() for line in text.splitlines()), 1))}


def test_a_last_line_without_an_end(tree: Any) -> None:
    tree.write("fresh.py", "a = 1\nb = 2")
    assert _added(tree)["fresh.py"] == [(1, b"a = 1"), (2, b"b = 2")]


def test_line_ends_of_windows(tree: Any) -> None:
    tree.write("fresh.py", "a = 1\r\nb = 2\r\n")
    assert _added(tree)["fresh.py"] == [(1, b"a = 1"), (2, b"b = 2")]


def test_binary_links_and_nested_repositories_have_no_lines(tree: Any) -> None:
    tree.write("image.png", b"\x89PNG\0\0\n\n")
    tree.write("nested/x.py", "x = 1\n")
    tree.git("init", "-q", "nested")
    assert _added(tree) == {}


def test_ignored_files_and_our_own_folder_do_not_count(tree: Any) -> None:
    tree.write(".gitignore", "out/\n")
    tree.write("out/x.py", "x = 1\n")
    tree.write(".morph/features/cart/notes.py", "x = 1\n")
    assert list(_added(tree)) == [".gitignore"]
    tree.git("add", "-f", ".morph")
    assert list(_added(tree)) == [".gitignore"]


def test_only_wanted_names(tree: Any) -> None:
    tree.write("a.py", "x\n")
    tree.write("deep/b.PY", "x\n")
    tree.write("c.txt", "x\n")
    assert sorted(_added(tree, "*.py")) == ["a.py", "deep/b.PY"]


def test_nobodys_own_settings_change_what_counts(tree: Any) -> None:
    for name, value in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "false"),
        ("color.ui", "always"),
        ("diff.context", "9"),
        ("diff.renames", "false"),
        ("core.quotePath", "true"),
        ("diff.relative", "true"),
        ("diff.interHunkContext", "9"),
    ]:
        tree.git("config", name, value)
    (tree.root / "deep").mkdir()
    os.rename(tree.root / "old.py", tree.root / "deep/é.py")
    with open(tree.root / "deep/é.py", "a") as file:
        file.write("edited = 1\n")
    assert _added(tree) == {"deep/é.py": [(31, b"edited = 1")]}


@pytest.mark.parametrize("untracked", [True, False])
def test_the_repository_is_not_written_to(tree: Any, untracked: bool) -> None:
    if untracked:
        tree.write("fresh.py", "x = 1\n")
    os.utime(tree.root / "old.py", (1, 1))  # git would note in its index that nothing changed

    def everything() -> dict[str, tuple[int, bytes]]:
        files = [path for path in (tree.root / ".git").rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = everything()
    assert len(_added(tree)) == untracked
    assert everything() == before


def test_in_a_merge_conflict_both_sides_are_added(tree: Any) -> None:
    tree.write("old.py", "mine = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "-b", "other", "main")
    tree.write("old.py", "theirs = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "morph/cart")
    tree.git("merge", "other", ok=(1,))
    lines = [line for _, line in _added(tree)["old.py"]]
    assert b"mine = 1" in lines and b"theirs = 1" in lines


def test_a_linked_work_tree_has_an_index_of_its_own(tree: Any, tmp_path: Path) -> None:
    from morph_tasks.repo.git import open_repo

    tree.git("worktree", "add", "-q", "-b", "morph/other", str(tmp_path / "linked"), "main")
    (tmp_path / "linked/fresh.py").write_text("x = 1\n")
    repo = open_repo(tmp_path / "linked")
    base = find_base(repo).tree
    assert base and [file.path for file in added_files(repo, base)] == ["fresh.py"]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=20), st.sampled_from([b"@@ -1,2 +3,4 @@", b"+++ b/x", b"+y", b"-z", b"diff --git a b"])
        )
    )
)
def test_any_bytes_can_be_parsed(lines: list[bytes]) -> None:
    for file in parse_added(b"\n".join(lines)):
        assert isinstance(file, AddedFile) and file.lines
