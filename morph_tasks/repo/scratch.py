"""Room for objects that nobody keeps: git writes them beside the repository and reads the repository's own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


@contextmanager
def scratch_objects(repo: Repo) -> Iterator[dict[str, str]]:
    """Yield what to add to git's environment so that new objects go to a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="morph-objects-") as folder:
        yield {
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(os.fspath(repo.common_dir / "objects")),
        }


def quoted(path: str) -> str:
    """Quote a path as git reads it in its settings, and in lists of folders of objects."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
