"""A repository with `main`, and the branch of a feature checked out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.proc import run
from morph_tasks.repo.git import Repo, open_repo

NONE = Config({}, "")


class Tree:
    """A work tree that tests write into."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def repo(self) -> Repo:
        return open_repo(self.root)

    def git(self, *args: str, **more: Any) -> str:
        return run(["git", "-C", str(self.root), *args], **more).text.strip()

    def write(self, path: str, text: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, *paths: str) -> None:
        self.git("add", "-A", *paths)
        self.git("commit", "-q", "--allow-empty", "-m", "work")


@pytest.fixture(scope="session")
def _begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, to be copied: every test has its own, and few programs run for it."""
    root = tmp_path_factory.mktemp("template") / "shop"
    author = ["-c", "user.name=Tess Ter", "-c", "user.email=tess@example.invalid"]
    run(["git", "init", "-q", "-b", "main", str(root)])
    (root / "old.py").write_text("".join(f"line_{number} = {number}\n" for number in range(30)))
    run(["git", "-C", str(root), "add", "."])
    run(["git", "-C", str(root), *author, "commit", "-q", "-m", "start"])
    run(["git", "-C", str(root), "checkout", "-q", "-b", "morph/cart"])
    return root


@pytest.fixture
def fresh(tmp_path: Path) -> Tree:
    """A repository before its first commit."""
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "shop")])
    return Tree(tmp_path / "shop")


@pytest.fixture
def tree(tmp_path: Path, _begun: Path) -> Tree:
    """A repository with one commit on main; `morph/cart` is checked out."""
    shutil.copytree(_begun, tmp_path / "shop", symlinks=True)
    return Tree(tmp_path / "shop")
