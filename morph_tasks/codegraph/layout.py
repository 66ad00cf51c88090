"""Where the code graph lies: the files of one tree, and what all trees of a repository share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

FOLDER = "graphify-out"


def graph_folder(root: Path) -> Path:
    """Return the folder that graphify writes in a tree; git never sees it."""
    return root / FOLDER


def graph_file(root: Path) -> Path:
    """Return the graph of a tree, as graphify wrote it."""
    return root / FOLDER / "graph.json"


def index_file(root: Path) -> Path:
    """Return the index made from the graph of a tree."""
    return root / FOLDER / "morph-index.sqlite"


def recovered_file(root: Path) -> Path:
    """Return the edges that were found beside graphify's own."""
    return root / FOLDER / "morph-recovered.json"


def record_file(repo: Repo) -> Path:
    """Return the record of the last run of graphify, of every tree of the repository."""
    return repo.store / "graph-refresh-state.json"


def lock_file(repo: Repo) -> Path:
    """Return the lock that lets one run write the graph of the main tree."""
    return repo.store / "graph-refresh.lock"


def log_file(repo: Repo) -> Path:
    """Return the log of the runs that nobody waits for."""
    return repo.store / "graph-refresh.log"
