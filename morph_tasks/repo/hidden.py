"""Files that git was told not to look at: a change in one is a change all the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_SETTINGS = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")


def hidden_paths(repo: Repo) -> list[bytes]:
    """Return the files that are marked assume-unchanged, or skip-worktree but for a sparse checkout.

    What a sparse checkout left out was never here, so it did not change.
    """
    listed = repo.git(*_SETTINGS, "ls-files", "-v", "-z", "--", ":/").split(b"\0")
    assumed = [line[2:] for line in listed if line[:1].islower() and line[:1] != b"s"]
    skipped = [line[2:] for line in listed if line[:1] in (b"S", b"s")]
    root = os.fsencode(repo.root)
    if not all(os.path.lexists(os.path.join(root, path)) for path in skipped) and _is_sparse(repo):
        skipped = [path for path in skipped if os.path.lexists(os.path.join(root, path))]
    return [*assumed, *skipped]


def _is_sparse(repo: Repo) -> bool:
    return repo.text("config", "--type=bool", "--get", "core.sparseCheckout", ok=(0, 1)).strip() == "true"
