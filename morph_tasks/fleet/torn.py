"""What a killed write leaves beside a file of state: it would make a tree look edited, or end up in an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES, state_lock
from morph_tasks.fleet.adrs import RECORD
from morph_tasks.repo.trees import BRANCH_PREFIX, checked_out

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# As `write_atomic` names what it writes beside, for the files that are written in a tree.
_STATE = re.compile(r"\.(state\.json|feature\.json|handoff\.md|\.gitignore|worktree\.env)\.[a-z0-9_]{8}\.tmp")
_RECORD = re.compile(r"\..+--ADR-.*\.[a-z0-9_]{8}\.tmp", re.DOTALL)


def sweep_torn(repo: Repo) -> None:
    """Remove from all trees what killed writes left of the state of their features; a tree in use is passed over."""
    for tree, branch in checked_out(repo):
        slug = branch.removeprefix(BRANCH_PREFIX) if branch.startswith(BRANCH_PREFIX) else ""
        if not any(_torn(tree, slug)):
            continue
        with suppress(Refusal), state_lock(tree):
            # Writers of these files hold the lock: what is there now has no writer.
            for path in list(_torn(tree, slug)):
                with suppress(OSError):
                    path.unlink()


def _torn(tree: Path, slug: str) -> Iterator[Path]:
    places = [(".morph", _STATE), (RECORD, _RECORD)]
    places += [(f"{top}/{slug}", _STATE) for top in (FEATURES, ARCHIVE) if slug]
    for folder, pattern in places:
        with suppress(OSError):
            yield from (tree / folder / name for name in os.listdir(tree / folder) if pattern.fullmatch(name))
