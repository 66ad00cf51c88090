"""Random work in a tree: equal content if and only if equal sum, by the slow and obvious answer."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

if TYPE_CHECKING:
    from conftest import Tree

PATHS = ["a", "b", "d/a", "d/b", "d/e/a", "line\nfeed", "forced.log", "d/.gitignore", ".morph/own", "x/__pycache__/p"]
TEXTS = ["", "1\n", "2\n", "one\ntwo\n", "*.log\n"]
BRANCHES = ["main", "other", "third"]

paths = st.sampled_from(PATHS)


class Work(RuleBasedStateMachine):
    """What people and tools do to a tree, in any order."""

    tree_type: Any = None

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.tree: Tree = self.tree_type(self.folder / "tree")
        self.tree.root.mkdir()
        self.tree.git("init", "-q", "--template=", "-b", "main")
        self.tree.write(".gitignore", "*.log\nignored/\n")
        self.sum_of: dict[object, str] = {}
        self.content_of: dict[str, object] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(path=paths, text=st.sampled_from(TEXTS), executable=st.booleans())
    def write(self, path: str, text: str, executable: bool) -> None:
        if self._room_for(path):
            self.tree.path(path).unlink(missing_ok=True)
            self.tree.write(path, text, executable=executable)

    @rule(path=paths, text=st.sampled_from(TEXTS))
    def write_in_place_and_put_the_time_back(self, path: str, text: str) -> None:
        file = self.tree.path(path)
        if file.is_file() and not file.is_symlink():
            about = file.stat()
            file.write_text(text)
            os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))

    @rule(path=paths, to=st.sampled_from(["a", "1\n", "nowhere"]))
    def link(self, path: str, to: str) -> None:
        if self._room_for(path):
            self.tree.link(path, to)

    @rule(path=paths)
    def remove(self, path: str) -> None:
        file = self.tree.path(path)
        if os.path.lexists(file) and not (file.is_dir() and not file.is_symlink()):
            file.unlink()

    @rule(source=paths, to=paths)
    def move(self, source: str, to: str) -> None:
        if self._room_for(to) and os.path.lexists(self.tree.path(source)) and source != to:
            self.tree.path(to).parent.mkdir(parents=True, exist_ok=True)
            self.tree.path(source).rename(self.tree.path(to))

    @rule(folder=st.sampled_from(["d", "d/e", "x"]))
    def remove_folder(self, folder: str) -> None:
        if self.tree.path(folder).is_dir():
            shutil.rmtree(self.tree.path(folder))

    @rule(path=st.sampled_from([*PATHS, "."]), force=st.booleans(), intent=st.booleans())
    def add(self, path: str, force: bool, intent: bool) -> None:
        options = [*(["-f"] if force else []), *(["-N"] if intent else [])]
        self.tree.git("add", *options, "--", path, ok=(0, 1, 128))

    @rule(path=paths)
    def forget(self, path: str) -> None:
        self.tree.git("rm", "-q", "-f", "--cached", "--ignore-unmatch", "--", path, ok=(0, 1, 128))

    @rule(path=paths, flag=st.sampled_from(["assume-unchanged", "no-assume-unchanged", "skip-worktree"]))
    def flag(self, path: str, flag: str) -> None:
        self.tree.git("update-index", f"--{flag}", "--", path, ok=(0, 128))

    @rule(everything=st.booleans())
    def commit(self, everything: bool) -> None:
        if everything:
            self.tree.git("add", "-A", ok=(0, 1, 128))
        self.tree.git("commit", "-q", "--allow-empty", "-m", "work", ok=(0, 1, 128))

    @rule(branch=st.sampled_from(BRANCHES), force=st.booleans())
    def switch(self, branch: str, force: bool) -> None:
        known = self.tree.git("rev-parse", "--verify", "--quiet", branch, ok=(0, 1))
        options = [*([] if known else ["-b"]), branch]
        self.tree.git("checkout", "-q", *(["-f"] if force else []), *options, ok=(0, 1, 128))

    @rule(branch=st.sampled_from(BRANCHES))
    def merge(self, branch: str) -> None:
        self.tree.git("merge", "-q", "--no-edit", branch, ok=(0, 1, 2, 128))

    @rule(how=st.sampled_from(["--soft", "--mixed", "--hard"]))
    def reset(self, how: str) -> None:
        self.tree.git("reset", "-q", how, ok=(0, 1, 128))

    @rule()
    def refresh(self) -> None:
        self.tree.git("status")

    @rule(version=st.sampled_from(["2", "4"]))
    def rewrite_the_index(self, version: str) -> None:
        self.tree.git("update-index", "--index-version", version)

    @invariant()
    def equal_content_equal_sum(self) -> None:
        content = frozenset(self.tree.content().items())
        state = self.tree.state({"d": ["d/"]})
        assert self.sum_of.setdefault(content, state.sum) == state.sum
        assert self.content_of.setdefault(state.sum, content) == content
        inside = frozenset(item for item in content if item[0].startswith(b"d/"))
        assert self.sum_of.setdefault(("d", inside), state.groups["d"]) == state.groups["d"]
        assert self.content_of.setdefault("d" + state.groups["d"], inside) == inside

    def _room_for(self, path: str) -> bool:
        """Tell whether a file can lie there: no folder in its place, no file in place of its folders."""
        file = self.tree.path(path)
        above = [folder for folder in file.parents if folder.is_relative_to(self.tree.root)]
        free = all((folder.is_dir() and not folder.is_symlink()) or not os.path.lexists(folder) for folder in above)
        return free and not (file.is_dir() and not file.is_symlink())


def _run(tree: Tree, examples: int, steps: int) -> None:
    class OfThisTree(Work):
        tree_type = type(tree)

    run_state_machine_as_test(
        OfThisTree,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )


def test_random_work(unborn: Tree) -> None:
    _run(unborn, examples=12, steps=20)


@pytest.mark.soak
def test_a_lot_of_random_work(unborn: Tree) -> None:
    _run(unborn, examples=300, steps=60)
