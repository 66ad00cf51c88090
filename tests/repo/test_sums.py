"""Sums follow a commit by its difference, and are added up anew when they cannot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from morph_tasks.repo import sums
from morph_tasks.repo.sums import Scope

if TYPE_CHECKING:
    from conftest import Tree


def _fresh(tree: Tree, *args: object) -> object:
    """Ask without anything remembered."""
    shutil.rmtree(tree.git_dir / "morph-spec")
    return tree.state(*args)  # type: ignore[arg-type]


def test_groups_follow_their_own_paths_alone(tree: Tree) -> None:
    groups = {"a": ["a"], "b": ["b/**"], "python": ["**/*.py", "!b/"], "none": ["nowhere/**"], "empty": []}
    before = tree.state(groups).groups
    assert set(before) == set(groups)
    assert before["none"] == before["empty"]

    tree.write("b/z.py", "9\n")
    after = tree.state(groups).groups
    assert {name for name in groups if after[name] != before[name]} == {"b"}
    tree.write("a/new.py", "9\n")
    assert {name for name in groups if tree.state(groups).groups[name] != after[name]} == {"a", "python"}

    dirty = tree.state(groups).groups
    tree.commit()
    assert tree.state(groups).groups == dirty
    assert tree.state({"renamed": ["b/**"]}).groups["renamed"] == dirty["b"]
    tree.remove("a/new.py")
    tree.write("b/z.py", "3\n")
    assert tree.state(groups).groups == before


def test_excluded_paths_are_out_of_everything(tree: Tree) -> None:
    excluded = ["generated/", "*.lock"]
    before = tree.state({"all": ["**"]}, excluded)
    assert before.groups["all"] == before.sum == tree.sum()

    tree.write("generated/x.py", "1")
    tree.write("some.lock", "1")
    assert tree.state({"all": ["**"]}, excluded) == before
    assert tree.sum() != before.sum
    tree.commit()
    after = tree.state({"all": ["**"]}, excluded)
    assert (after.sum, after.groups, after.dirty) == (before.sum, before.groups, {})
    tree.write("some.lock", "2")
    assert tree.state({}, excluded).dirty == {}
    assert list(tree.state().dirty) == [b"some.lock"]


def test_what_is_excluded_is_not_read(tree: Tree, children: list[str]) -> None:
    tree.write(".gitattributes", "*.big filter=big\n")
    tree.git("config", "filter.big.clean", "false")
    tree.git("config", "filter.big.required", "true")
    tree.commit()
    nested = type(tree)(tree.root / "generated/sub")
    nested.root.mkdir(parents=True)
    nested.git("init", "-q")
    nested.write("new.big", "1")
    tree.write("generated/new.big", "1")
    children.clear()

    assert tree.state({"all": ["**"]}, ["generated/"]).dirty == {}

    assert children == ["ls-files", "status", "ls-tree"]


def test_a_commit_moves_the_sums(tree: Tree, children: list[str]) -> None:
    groups = {"a": ["a"], "b": ["b"]}
    tree.state(groups)
    tree.write("b/new.py", "1")
    tree.remove("a/y.py")
    tree.write("a/x.py", "1\n", executable=True)
    tree.commit()
    children.clear()

    moved = tree.state(groups)

    assert children == ["ls-files", "status", "diff-tree"]
    assert moved == _fresh(tree, groups)


def test_new_groups_are_added_up_once(tree: Tree, children: list[str]) -> None:
    tree.sum()
    children.clear()
    tree.state({"a": ["a"]})
    tree.state({"a": ["a"]})
    assert children == ["status", "ls-tree", "status"]

    tree.commit()
    tree.sum()
    children.clear()
    tree.state({"other name": ["a"]})
    assert children == ["status"]


def test_what_nobody_asks_for_is_forgotten_in_the_end(tree: Tree, children: list[str]) -> None:
    many = {f"g{number}": [f"folder{number}/"] for number in range(100)}
    tree.state(many)
    children.clear()
    tree.state(many)
    assert children == ["status"]

    tree.state({"one": ["a"]})
    assert len((tree.private() / "sums").read_bytes().split(b"\0")) < 100
    tree.state({"one": ["a"]})
    assert children == ["status", "status", "ls-tree", "status"]


def test_an_old_commit_that_is_gone_does_not_matter(tree: Tree, children: list[str]) -> None:
    tree.write("a/x.py", "gone\n")
    tree.commit()
    tree.sum()
    tree.git("reset", "-q", "--hard", "HEAD~")
    tree.git("reflog", "expire", "--expire=now", "--all")
    tree.git("gc", "-q", "--prune=now")
    children.clear()

    moved = tree.state()

    assert children == ["ls-files", "status", "diff-tree", "ls-tree"]
    assert moved == _fresh(tree)


def test_replaced_objects_do_not_change_the_content(tree: Tree) -> None:
    before = tree.sum()
    old = tree.git("rev-parse", "HEAD")
    tree.write("a/x.py", "9\n")
    tree.commit()
    tree.git("replace", old, "HEAD")
    tree.git("update-ref", "HEAD", old)
    tree.write("a/x.py", "1\n")

    assert tree.sum() == before
    assert _fresh(tree) == tree.state()


def test_links_move_with_the_commit(tree: Tree) -> None:
    nested = type(tree)(tree.root / "sub")
    nested.root.mkdir()
    nested.git("init", "-q")
    nested.write("f", "1")
    nested.commit()
    tree.sum()
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
    tree.git("commit", "-q", "-m", "link")
    clean = tree.sum()
    assert clean == tree.sum()

    nested.write("f", "2")
    assert tree.sum() != clean
    nested.write("f", "1")
    tree.git("rm", "-q", "--cached", "sub")
    tree.git("commit", "-q", "-m", "unlink")
    assert tree.sum() == clean
    tree.write(".git/info/exclude", "sub/\n")
    ignored = tree.state()
    nested.write("f", "2")
    assert tree.state() == ignored


@pytest.mark.parametrize(
    ("excluded", "wanted"),
    [((), None), (("a", "!b"), None), ((), ()), ((), ("",)), (("x:y,z",), ("caf\u00e9", "\udce9", "a b\n-"))],
)
def test_a_scope_can_be_written_down(excluded: tuple[str, ...], wanted: tuple[str, ...] | None) -> None:
    scope = Scope(b"below/", excluded, wanted)

    again = Scope.from_key(scope.key())

    assert (again.below, again.excluded, again.wanted) == (b"below/", excluded, wanted)
    assert not scope.key().split(b"\0")[1:] and b" " not in scope.key()


def test_the_number_of_an_entry_is_framed() -> None:
    numbers = {
        sums.number(*entry)
        for entry in [
            (b"100644", b"aa", b"b c"),
            (b"100644", b"aa b", b"c"),
            (b"100644 aa", b"b", b"c"),
            (b"100644 aa b", b"", b"c"),
            (b"100755", b"aa", b"b c"),
            (b"100644", b"a", b"ab c"),
        ]
    }
    assert len(numbers) == 6
    assert all(number.bit_length() > 256 for number in numbers)


def test_equal_entries_do_not_cancel_out(tree: Tree, make_tree: Callable[..., Tree]) -> None:
    other = make_tree("other")
    for name in ("p", "q", "r"):
        other.write(name, "same")
    seen = {other.sum()}
    for name in ("p", "q", "r"):
        other.remove(name)
        seen.add(other.sum())

    assert len(seen) == 4
