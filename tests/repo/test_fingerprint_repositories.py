"""Repositories that are not plain: nested, linked, sparse, shallow, odd names, odd settings."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.fingerprint import tree_state
from morph_tasks.repo.hashing import blob_id

if TYPE_CHECKING:
    from conftest import Tree

ODD_NAMES = [
    b"we ird\n\"name'.py",
    b'"quoted"',
    b"back\\slash",
    b"carriage\r",
    b"tab\there",
    b"line\nfeed\n",
    b"caf\xe9 not utf-8",
    "caf\u00e9".encode(),
    b"-option",
    b":(top)magic",
    b"*glob?[a]",
    b" spaces ",
    b"folder\n/new\nline",
    b"$(id)",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names(tree: Tree, name: bytes) -> None:
    before = tree.sum()
    tree.write(name, "1\n")
    untracked = tree.state()
    assert untracked.dirty == {name: ("100644", blob_id(b"1\n", 40))}
    tree.commit()
    assert tree.sum() == untracked.sum != before

    tree.write(name, "2\n")
    assert tree.state().dirty == {name: ("100644", blob_id(b"2\n", 40))}
    tree.git("--literal-pathspecs", "rm", "-q", "--cached", "--", os.fsdecode(name))
    assert tree.state().dirty == {name: ("100644", blob_id(b"2\n", 40))}


def test_odd_names_in_conflict(tree: Tree) -> None:
    for name in ODD_NAMES:
        tree.write(name, "base\n")
    tree.commit()
    tree.git("checkout", "-q", "-b", "other")
    for name in ODD_NAMES:
        tree.write(name, "theirs\n")
    tree.commit()
    tree.git("checkout", "-q", "-")
    for name in ODD_NAMES:
        tree.write(name, "ours\n")
    tree.commit()
    ours = tree.sum()
    tree.git("merge", "other", ok=(1,))
    assert len(tree.state().dirty) == len(ODD_NAMES)

    for name in ODD_NAMES:
        tree.write(name, "ours\n")
    state = tree.state()
    assert (state.sum, state.dirty) == (ours, {})


def test_sha256_repository(make_tree: Callable[..., Tree]) -> None:
    tree = make_tree("wide", "--object-format=sha256")
    tree.link("link", "a")
    tree.write("a", "1\n")
    first = tree.state()
    assert first.dirty[b"link"] == ("120000", blob_id(b"a", 64))
    tree.commit()
    assert tree.state().dirty == {}
    assert tree.sum() == first.sum

    tree.write("a", "2\n")
    assert tree.state().dirty == {b"a": ("100644", blob_id(b"2\n", 64))}
    tree.commit()
    assert len(tree.state().head or "") == 64


def test_linked_worktrees_have_their_own_answer(tree: Tree) -> None:
    linked = tree.worktree("linked", "-b", "feature")
    same = tree.sum()
    assert linked.sum() == same
    assert "worktrees" in str(linked.git_dir)

    linked.write("a/x.py", "9\n")
    assert (linked.sum() != same, tree.sum()) == (True, same)
    linked.commit()
    assert linked.sum() != same
    tree.write("a/x.py", "9\n")
    assert linked.sum() == tree.sum()
    assert linked.private() != tree.private()


def test_worktrees_of_this_repository_inside_the_tree_are_not_its_content(tree: Tree) -> None:
    before = tree.state()
    tree.git("worktree", "add", "-q", "worktrees/feature", "-b", "feature")

    tree.write("worktrees/feature/new.py", "1")

    assert tree.state() == before


def test_shallow_clone(tree: Tree, tmp_path: Path) -> None:
    for number in range(3):
        tree.write("a/x.py", f"{number}\n")
        tree.commit()
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{tree.root}", tmp_path / "clone"], check=True)
    clone = type(tree)(tmp_path / "clone")

    assert clone.sum() == tree.sum()
    clone.write("a/x.py", "new\n")
    clone.commit()
    tree.write("a/x.py", "new\n")
    assert clone.sum() == tree.sum()


def test_sparse_checkout_misses_nothing_and_sees_edits(tree: Tree) -> None:
    whole = tree.sum()

    tree.git("sparse-checkout", "set", "--no-cone", "/a/", "/.gitignore")
    assert not tree.path("b/z.py").exists()
    sparse = tree.state()
    assert (sparse.sum, sparse.dirty) == (whole, {})

    tree.write("a/x.py", "9\n")
    assert list(tree.state().dirty) == [b"a/x.py"]
    tree.write("a/x.py", "1\n")
    tree.write("b/z.py", "written beside the patterns\n")
    assert list(tree.state().dirty) == [b"b/z.py"]
    tree.remove("b/z.py")
    tree.git("sparse-checkout", "disable")
    assert tree.sum() == whole


def test_a_sparse_checkout_switched_off_by_hand_leaves_deletions(tree: Tree) -> None:
    tree.git("sparse-checkout", "set", "--no-cone", "/a/", "/.gitignore")
    assert tree.state().dirty == {}

    tree.git("config", "--worktree", "core.sparseCheckout", "false")

    assert tree.state().dirty == {b"b/z.py": None, b"forced.log": None}


def test_sparse_index(tree: Tree) -> None:
    tree.write("b/deep/er/file", "1")
    tree.commit()
    whole = tree.sum()

    tree.git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
    assert tree.sum() == whole

    tree.write("a/x.py", "9\n")
    assert list(tree.state().dirty) == [b"a/x.py"]


def test_mode_bits_do_not_count_where_git_ignores_them(tree: Tree) -> None:
    tree.git("config", "core.fileMode", "false")
    before = tree.sum()
    tree.path("a/x.py").chmod(0o755)
    assert tree.sum() == before

    tree.write("b/run", "1", executable=True)
    untracked = tree.state()
    assert untracked.dirty == {b"b/run": ("100644", blob_id(b"1", 40))}
    tree.commit()
    assert tree.sum() == untracked.sum

    tree.git("config", "core.fileMode", "true")
    assert tree.state().dirty == {
        b"a/x.py": ("100755", blob_id(b"1\n", 40)),
        b"b/run": ("100755", blob_id(b"1", 40)),
    }


def test_links_as_files_where_the_file_system_has_none(tree: Tree) -> None:
    tree.link("a/link", "x.py")
    tree.commit()
    before = tree.sum()
    tree.git("config", "core.symlinks", "false")
    tree.remove("a/link")
    tree.write("a/link", "x.py")
    assert tree.sum() == before

    (tree.git_dir / "info/attributes").write_text("* text\n")
    tree.write("a/link", "y\r\n")
    changed = tree.state()
    assert changed.dirty == {b"a/link": ("120000", blob_id(b"y\n", 40))}
    tree.commit()
    assert tree.sum() == changed.sum


@pytest.mark.parametrize(
    "settings",
    [
        {"status.showUntrackedFiles": "no"},
        {"status.relativePaths": "true", "core.quotePath": "true", "status.short": "true"},
        {"status.renames": "copies", "diff.renames": "copies"},
        {"status.branch": "false", "status.showStash": "true", "status.aheadBehind": "true"},
        {"core.untrackedCache": "false", "core.preloadIndex": "false"},
        {"core.untrackedCache": "true"},
        {"core.fsmonitor": "true"},
        {"core.trustctime": "false", "core.checkStat": "minimal"},
        {"core.ignoreStat": "true"},
        {"core.splitIndex": "true"},
        {"index.skipHash": "true", "index.version": "4"},
        {"feature.manyFiles": "true"},
        {"color.ui": "always", "column.ui": "always"},
        {"diff.ignoreSubmodules": "all"},
        {"core.sharedRepository": "group"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_the_user_s_taste_does_not_matter(tree: Tree, settings: dict[str, str]) -> None:
    def seen() -> list[str]:
        sums = [tree.sum()]
        for path, text in (("a/x.py", "9\n"), ("a/y.py", "8\n"), ("b/new.py", "1"), ("b/other.py", "1")):
            tree.write(path, text)
            sums.append(tree.sum())
        about = tree.path("a/x.py").stat()
        tree.write("a/x.py", "7\n")
        os.utime(tree.path("a/x.py"), ns=(about.st_atime_ns, about.st_mtime_ns))
        sums.append(tree.sum())
        tree.path("b/z.py").rename(tree.path("b/renamed.py"))
        return [*sums, tree.sum()]

    plain = seen()
    tree.git("reset", "-q", "--hard")
    tree.git("clean", "-qfd")
    for name, value in settings.items():
        tree.git("config", name, value)
    tree.git("read-tree", "HEAD")
    tree.git("update-index", "--refresh", ok=(0, 1))

    assert seen() == plain


def test_inherited_git_variables_are_shed(
    tree: Tree, make_tree: Callable[..., Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("a/x.py", "9\n")
    state, git_dir = tree.state(), str(tree.git_dir)
    other = make_tree("other")
    index = f"{git_dir}/index"
    for name, value in {
        "GIT_DIR": str(other.git_dir),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": f"{git_dir}/nowhere",
        "GIT_OBJECT_DIRECTORY": "/nowhere",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CEILING_DIRECTORIES": str(tree.root.parent),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "status.showUntrackedFiles",
        "GIT_CONFIG_VALUE_0": "no",
        "GIT_TRACE": "1",
    }.items():
        monkeypatch.setenv(name, value)
    before = Path(index).read_bytes()

    assert tree_state(str(tree.root), git_dir) == state
    assert Path(index).read_bytes() == before


def test_git_directory_apart_from_the_work_tree(make_tree: Callable[..., Tree], tmp_path: Path) -> None:
    tree = make_tree("apart")
    tree.write("a", "1")
    tree.commit()
    before = tree.sum()
    moved = tmp_path / "moved.git"
    (tree.root / ".git").rename(moved)
    subprocess.run(["git", "--git-dir", moved, "config", "core.worktree", tree.root], check=True)
    assert tree_state(str(tree.root), str(moved)).sum == before

    tree.write("a", "2")
    assert tree_state(str(tree.root), str(moved)).sum != before


def _nested(tree: Tree, name: str = "sub") -> Tree:
    nested = type(tree)(tree.root / name)
    nested.root.mkdir(parents=True)
    nested.git("init", "-q")
    return nested


def test_untracked_nested_repository(tree: Tree) -> None:
    before = tree.sum()
    nested = _nested(tree)
    nested.write("f", "1\n")
    unborn = tree.state()
    assert unborn.sum != before
    assert list(unborn.dirty) == [b"sub"]
    nested.write("f", "2\n")
    assert tree.sum() != unborn.sum

    head = nested.commit()
    committed = tree.state()
    assert committed.dirty == {b"sub": ("160000", head)}
    nested.write("f", "3\n")
    dirty = tree.sum()
    assert dirty != committed.sum
    nested.write("new", "3\n")
    assert tree.sum() != dirty
    nested.remove("new")
    assert tree.sum() == dirty
    nested.write("f", "2\n")
    assert tree.state() == committed


def test_nested_repository_added_as_a_link(tree: Tree) -> None:
    nested = _nested(tree)
    nested.write("f", "1\n")
    nested.commit()
    untracked = tree.sum()
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
    assert tree.sum() == untracked
    tree.git("commit", "-q", "-m", "link")
    assert tree.sum() == untracked

    nested.write("f", "2\n")
    dirty = tree.sum()
    assert dirty != untracked
    nested.git("add", "f")
    assert tree.sum() == dirty
    nested.commit()
    moved = tree.state()
    assert moved.dirty == {b"sub": ("160000", nested.git("rev-parse", "HEAD"))}
    tree.git("add", "sub")
    tree.git("commit", "-q", "-m", "move")
    assert tree.sum() == moved.sum
    nested.write("__pycache__/f.pyc", "left behind")
    assert tree.state().dirty == {}


def test_repository_nested_in_a_nested_one(tree: Tree) -> None:
    outer = _nested(tree)
    outer.write("f", "1\n")
    outer.commit()
    inner = _nested(outer, "vendor/inner")
    inner.write("g", "1\n")
    inner.commit()
    before = tree.sum()
    inner.write("g", "2\n")
    assert tree.sum() != before


def test_a_file_in_place_of_a_nested_repository_and_back(tree: Tree, tmp_path: Path) -> None:
    nested = _nested(tree)
    nested.write("f", "1\n")
    nested.commit()
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
    tree.git("commit", "-q", "-m", "link")
    linked = tree.sum()

    nested.root.rename(tmp_path / "aside")
    tree.write("sub", "now a file")
    file = tree.state()
    assert file.dirty == {b"sub": ("100644", blob_id(b"now a file", 40))}
    tree.commit()
    assert tree.sum() == file.sum

    tree.remove("sub")
    (tmp_path / "aside").rename(nested.root)
    assert tree.sum() == linked
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "-A")
    assert tree.sum() == linked


def test_relative_paths(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("a/x.py", "9\n")
    state = tree.state()

    monkeypatch.chdir(tree.root)
    assert tree_state(".", ".git") == state
    monkeypatch.chdir(tree.root.parent)
    assert tree_state("tree/", "tree/.git/") == state
    monkeypatch.chdir(tree.root / "a")
    assert tree_state("..", "../.git") == state


def _submodule(tree: Tree, make_tree: Callable[..., Tree]) -> Tree:
    library = make_tree("library")
    library.write("f", "1\n")
    library.commit()
    tree.git("submodule", "add", "-q", str(library.root), "libs/one")
    tree.commit()
    return type(tree)(tree.root / "libs/one")


def test_submodule(tree: Tree, make_tree: Callable[..., Tree], tmp_path: Path) -> None:
    module = _submodule(tree, make_tree)
    before = tree.state()
    assert before.dirty == {}
    index = module.git_dir / "index"
    as_it_was = (index.read_bytes(), index.stat().st_mtime_ns)

    module.write("f", "2\n")
    dirty = tree.state()
    assert dirty.sum != before.sum
    assert (index.read_bytes(), index.stat().st_mtime_ns) == as_it_was
    module.commit()
    assert tree.state().dirty == {b"libs/one": ("160000", module.git("rev-parse", "HEAD"))}
    module.git("checkout", "-q", "HEAD~")
    assert tree.state() == before
    module.write("untracked", "1")
    assert tree.sum() not in (before.sum, dirty.sum)
    module.remove("untracked")

    subprocess.run(["git", "clone", "-q", tree.root, tmp_path / "clone"], check=True)
    not_filled = type(tree)(tmp_path / "clone")
    assert not_filled.sum() == before.sum
    tree.git("submodule", "deinit", "-q", "-f", "libs/one")
    assert tree.sum() == before.sum
    tree.path("libs/one").rmdir()
    assert tree.state().dirty == {b"libs/one": None}


def test_submodule_with_settings_that_hide_it(tree: Tree, make_tree: Callable[..., Tree]) -> None:
    module = _submodule(tree, make_tree)
    tree.git("config", "-f", ".gitmodules", "submodule.libs/one.ignore", "all")
    tree.commit()
    before = tree.sum()
    module.write("f", "2\n")
    assert tree.sum() != before


def test_groups_and_exclusions_reach_into_nested_repositories(tree: Tree, make_tree: Callable[..., Tree]) -> None:
    module = _submodule(tree, make_tree)
    groups = {"inside": ["libs/one/src/**"], "above": ["libs"], "beside": ["a"]}
    before = tree.state(groups, ["libs/one/generated/"])
    module.write("generated/x", "1")
    assert tree.state(groups, ["libs/one/generated/"]) == before
    module.write("f", "2\n")
    after = tree.state(groups, ["libs/one/generated/"])
    assert [after.groups[name] != before.groups[name] for name in groups] == [True, True, False]
    assert tree.state({}, ["libs/"]).dirty == {}


def test_broken_link_to_a_nested_git_directory(tree: Tree) -> None:
    tree.write("sub/.git", "gitdir: /nowhere/at/all\n")
    tree.write("sub/f", "1")

    assert tree.sum() == tree.sum()


def test_named_pipes_and_sockets_are_not_content(tree: Tree) -> None:
    before = tree.state()
    os.mkfifo(tree.path("pipe"))
    assert tree.state() == before
    tree.remove("a/x.py")
    os.mkfifo(tree.path("a/x.py"))
    assert tree.state().dirty == {b"a/x.py": None}


def test_private_state_is_for_the_owner_alone(tree: Tree) -> None:
    old = os.umask(0o000)
    try:
        tree.write("b/new.py", "1")
        tree.sum()
        tree.sum()
    finally:
        os.umask(old)

    folder = tree.private()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)] == [0o700, 0o700]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert tree.git("status", "--porcelain") == "?? b/new.py"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a tree to somebody else")
def test_somebody_else_s_tree_is_refused(tree: Tree) -> None:
    git_dir = str(tree.git_dir)
    os.chown(tree.root, 65534, 65534)
    os.chown(git_dir, 65534, 65534)

    with pytest.raises(Refusal) as refused:
        tree_state(str(tree.root), git_dir)

    assert refused.value.code == "dubious-ownership"
    assert "safe.directory" in refused.value.fix


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refused:
        tree_state(str(tmp_path), str(tmp_path / ".git"))

    assert refused.value.code == "not-a-repository"
    assert not (tmp_path / ".git").exists()
