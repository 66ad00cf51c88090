"""A work tree that tests can edit, stage and commit, and the slow, obvious answer to compare with."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from morph_tasks.repo import spawn
from morph_tasks.repo.byproducts import is_content
from morph_tasks.repo.fingerprint import TreeState, tree_state


@dataclass(frozen=True)
class Tree:
    """One work tree; paths are relative to it and may be bytes."""

    root: Path

    @property
    def git_dir(self) -> Path:
        dot = self.root / ".git"
        return dot if dot.is_dir() else Path(self.git("rev-parse", "--absolute-git-dir"))

    def git(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, input=stdin)
        assert done.returncode in ok, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def path(self, name: str | bytes) -> Path:
        return self.root / os.fsdecode(name)

    def write(self, name: str | bytes, data: str | bytes = "", *, executable: bool = False) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        path.chmod(0o755 if executable else 0o644)

    def link(self, name: str, target: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    def remove(self, name: str | bytes) -> None:
        self.path(name).unlink()

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def state(
        self, groups: Mapping[str, Sequence[str]] | None = None, excluded: Sequence[str] = (), git_dir: str = ""
    ) -> TreeState:
        return tree_state(str(self.root), git_dir or str(self.git_dir), groups, excluded)

    def sum(self) -> str:
        return self.state().sum

    def settle(self) -> None:
        """Let the second of the last change pass, so that nothing is in doubt any more."""
        newest = max(
            os.lstat(os.path.join(folder, name)).st_ctime
            for folder, below, names in os.walk(self.root)
            for name in (".", *below, *names)
            if ".git" not in folder
        )
        while int(time.time() - 0.1) <= int(newest):
            time.sleep(0.01)
        self.sum()
        self.sum()

    def private(self) -> Path:
        return self.git_dir / "morph-spec" / "fingerprint"

    def worktree(self, name: str, *args: str) -> Tree:
        """Add a linked work tree beside this one."""
        other = self.root.parent / name
        self.git("worktree", "add", "-q", *args, str(other))
        return Tree(other)

    def content(self) -> dict[bytes, tuple[str, bytes]]:
        """Read everything that git tracks or would add: kind and bytes by path."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=self.root, capture_output=True, check=True
        ).stdout
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=self.root, capture_output=True, check=True).stdout
        found = {}
        for path in set(listed.split(b"\0")) - {b""}:
            if os.path.lexists(self.path(path)) and is_content(path, path in tracked.split(b"\0")):
                found[path] = _read(self.path(path))
        return found


def _read(path: Path) -> tuple[str, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return ("link", os.fsencode(os.readlink(path)))
    return ("executable" if mode & stat.S_IXUSR else "file", path.read_bytes())


@pytest.fixture
def make_tree(tmp_path: Path) -> Callable[..., Tree]:
    """Make an empty repository: a name, then options of `git init`."""

    def make(name: str, *options: str) -> Tree:
        made = Tree(tmp_path / name)
        made.root.mkdir(parents=True)
        made.git("init", "-q", "--template=", *options)
        (made.root / ".git/info").mkdir()
        return made

    return make


@pytest.fixture
def unborn(make_tree: Callable[..., Tree]) -> Tree:
    """A repository without a commit."""
    return make_tree("tree")


@pytest.fixture
def tree(unborn: Tree) -> Tree:
    """A repository with a few files committed, nothing changed since."""
    unborn.write("a/x.py", "1\n")
    unborn.write("a/y.py", "2\n")
    unborn.write("b/z.py", "3\n")
    unborn.write(".gitignore", "ign/\n*.log\n")
    unborn.write(".morph/state", "0")
    unborn.write("forced.log", "f\n")
    unborn.git("add", "-f", "forced.log")
    unborn.commit()
    return unborn


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record which git command each child process of the fingerprint is."""
    started: list[str] = []
    known = {"status", "ls-files", "update-index", "ls-tree", "diff-tree", "hash-object", "config"}
    real = spawn.stream

    def recorded(argv: list[str], *args: object, **kwargs: object) -> object:
        started.append(next(word for word in argv if word in known))
        return real(argv, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(spawn, "stream", recorded)
    return started
