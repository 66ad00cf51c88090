"""Which paths differ between two recorded states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from morph_tasks.repo.fingerprint import TreeState, changed_paths

if TYPE_CHECKING:
    from conftest import Tree


def _changed(tree: Tree, old: TreeState, new: TreeState) -> list[tuple[bytes, str]] | None:
    return changed_paths(str(tree.root), (old.head, old.dirty), (new.head, new.dirty))


def test_nothing_differs_when_the_same_content_is_committed(tree: Tree) -> None:
    tree.write("a/x.py", "9\n")
    tree.write("b/new.py", "n\n")
    tree.remove("a/y.py")
    before = tree.state()
    tree.commit()

    assert _changed(tree, before, tree.state()) == []
    assert _changed(tree, tree.state(), before) == []
    assert _changed(tree, before, before) == []


def test_every_kind_of_difference(tree: Tree) -> None:
    tree.write("b/untracked.py", "1")
    before = tree.state()
    tree.write("a/x.py", "9\n")
    tree.write("a/y.py", "2\n", executable=True)
    tree.remove("b/z.py")
    tree.remove("b/untracked.py")
    tree.write("b/new\nline", "1")
    tree.write(".morph/state", "other")
    expected = [
        (b"a/x.py", "changed"),
        (b"a/y.py", "changed"),
        (b"b/new\nline", "added"),
        (b"b/untracked.py", "removed"),
        (b"b/z.py", "removed"),
    ]
    swapped = {"added": "removed", "removed": "added", "changed": "changed"}
    after = tree.state()
    assert _changed(tree, before, after) == expected
    assert _changed(tree, after, before) == [(path, swapped[kind]) for path, kind in expected]

    tree.commit()
    committed = tree.state()
    assert _changed(tree, before, committed) == expected
    assert _changed(tree, committed, before) == [(path, swapped[kind]) for path, kind in expected]


def test_a_path_that_is_dirty_in_one_commit_and_changed_in_the_next(tree: Tree) -> None:
    tree.write("a/x.py", "dirty\n")
    before = tree.state()
    tree.write("a/x.py", "committed\n")
    tree.commit()
    tree.remove("a/x.py")
    gone = tree.state()
    assert _changed(tree, before, gone) == [(b"a/x.py", "removed")]
    tree.write("a/x.py", "dirty\n")
    assert _changed(tree, before, tree.state()) == []


def test_a_file_in_place_of_a_folder(tree: Tree) -> None:
    before = tree.state()
    tree.remove("b/z.py")
    tree.path("b").rmdir()
    tree.write("b", "a file")

    assert _changed(tree, before, tree.state()) == [(b"b", "added"), (b"b/z.py", "removed")]
    assert _changed(tree, tree.state(), before) == [(b"b", "removed"), (b"b/z.py", "added")]


def test_before_the_first_commit(unborn: Tree) -> None:
    empty = unborn.state()
    unborn.write("a", "1")
    untracked = unborn.state()
    unborn.commit()
    committed = unborn.state()

    assert _changed(unborn, empty, untracked) == [(b"a", "added")]
    assert _changed(unborn, empty, committed) == [(b"a", "added")]
    assert _changed(unborn, committed, empty) == [(b"a", "removed")]
    assert _changed(unborn, untracked, committed) == []


def test_recorded_as_json(tree: Tree) -> None:
    before = tree.state()
    tree.write("a/x.py", "9\n")
    tree.write("b/new.py", "1")
    after = tree.state()
    read = json.loads(json.dumps({path.decode(): entry for path, entry in after.dirty.items()}))
    recorded = (after.head, {path.encode(): entry for path, entry in read.items()})

    assert changed_paths(str(tree.root), recorded, (after.head, after.dirty)) == []
    assert changed_paths(str(tree.root), (before.head, before.dirty), recorded) == [
        (b"a/x.py", "changed"),
        (b"b/new.py", "added"),
    ]


def test_by_products_are_no_difference(tree: Tree) -> None:
    before = tree.state()
    tree.write("a/__pycache__/x.pyc", "1")
    tree.commit()

    assert _changed(tree, before, tree.state()) == []


def test_a_commit_that_is_gone_cannot_be_told(tree: Tree) -> None:
    tree.write("a/x.py", "9\n")
    now = tree.state()
    gone = "0123456789" * 4

    assert changed_paths(str(tree.root), (gone, {}), (now.head, now.dirty)) is None
    assert changed_paths(str(tree.root), (now.head, now.dirty), (gone, {})) is None
    assert changed_paths(str(tree.root), (gone, {}), (gone, {b"a": None})) is None
    for nonsense in ("", "main", "--output=x", gone[:-1], "z" * 40):
        assert changed_paths(str(tree.root), (nonsense, {}), (now.head, {})) is None


def test_sha256_repository(make_tree) -> None:  # type: ignore[no-untyped-def]
    tree = make_tree("wide", "--object-format=sha256")
    empty = tree.state()
    tree.write("a", "1")
    tree.commit()

    assert _changed(tree, empty, tree.state()) == [(b"a", "added")]
