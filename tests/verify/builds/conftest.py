"""Trees in git, and machines that have only the tools that a test names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.proc import run


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes files into a repository and returns its root."""
    root = tmp_path / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])

    def fill(*empty: str, **texts: str) -> Path:
        for path, text in [*((path, "") for path in empty), *texts.items()]:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return fill


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that leaves only git, a shell and the named tools (which do nothing) on the PATH."""

    def only(*names: str) -> None:
        folder = tmp_path / "machine"
        folder.mkdir(exist_ok=True)
        for name in ("git", "sh"):
            (folder / name).symlink_to(str(shutil.which(name)))
        for name in names:
            (folder / name).write_text("#!/bin/sh\nexit 0\n")
            os.chmod(folder / name, 0o755)
        monkeypatch.setenv("PATH", str(folder))

    return only
