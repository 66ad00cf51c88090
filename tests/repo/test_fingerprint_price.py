"""The no-op is one child process and a handful of light modules."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Tree

_HEAVY = {
    *("re", "json", "subprocess", "dataclasses", "pathlib", "typing", "contextlib", "collections", "functools"),
    *("enum", "hashlib", "tempfile", "shutil", "signal", "logging", "inspect", "ast", "threading", "sh", "random"),
}
_ASK = """
import sys
import os
before = set(sys.modules)
from morph_tasks.repo.fingerprint import tree_state
tree_state(sys.argv[1], sys.argv[2], {"a": ["a/**"], "python": ["**/*.py"]}, ["generated/"])
print(*sorted(set(sys.modules) - before))
"""


def _modules(tree: Tree) -> set[str]:
    # -S: what the interpreter's own start loads depends on what is installed beside it.
    argv = [sys.executable, "-S", "-c", _ASK, str(tree.root), str(tree.git_dir)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return set(subprocess.run(argv, capture_output=True, text=True, check=True, env=env).stdout.split())


def test_a_warm_no_op_is_one_child_process(tree: Tree, children: list[str]) -> None:
    groups = {"a": ["a/**"], "b": ["b"]}
    tree.state(groups, ["generated/"])
    children.clear()

    for _ in range(3):
        tree.state(groups, ["generated/"])

    assert children == ["status"] * 3


def test_a_warm_no_op_in_a_linked_worktree_is_one_child_process(tree: Tree, children: list[str]) -> None:
    linked = tree.worktree("linked", "--detach")
    linked.sum()
    children.clear()
    linked.sum()

    assert children == ["status"]


def test_a_warm_no_op_loads_light_modules_alone(tree: Tree) -> None:
    tree.settle()
    _modules(tree)

    warm = _modules(tree)

    assert not warm & _HEAVY
    ours = {name for name in warm if name.startswith("morph_tasks")}
    assert warm - ours <= {"__future__", "_blake2", "fcntl", "select", "time"}
    assert "morph_tasks.repo.globs" not in ours
    assert "morph_tasks.repo.blobs" not in ours


def test_an_edit_loads_no_heavy_module(tree: Tree) -> None:
    tree.write("a/x.py", "9\n")
    tree.write("generated/x", "1")

    loaded = _modules(tree)

    assert "morph_tasks.repo.blobs" in loaded
    assert not loaded & {"subprocess", "hashlib", "json", "typing", "pathlib", "dataclasses"}


def test_memory_does_not_grow_with_a_clean_tree(tree: Tree) -> None:
    for number in range(2000):
        tree.write(f"many/file-with-a-long-name-{number}.txt", "1")
    tree.commit()
    tree.settle()

    tracemalloc.start()
    tree.sum()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 200_000
