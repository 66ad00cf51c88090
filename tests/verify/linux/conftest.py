"""Trees to copy, made by real git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.repo.git import Repo, open_repo

MakeRepo = Callable[..., Repo]


@pytest.fixture
def tree(tmp_path: Path) -> MakeRepo:
    """Make a repository whose given files are committed."""

    def make(files: dict[str, str | bytes], name: str = "tree") -> Repo:
        root = tmp_path / name
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for path, content in files.items():
            place = os.path.join(os.fsencode(root), path.encode("utf-8", "surrogateescape"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        subprocess.run(["git", "-C", str(root), "add", "-A", "-f"], check=True)
        subprocess.run(["git", "-C", str(root), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        return open_repo(root).lightly()

    return make
