"""Where the code graph lies: the files of one tree, and what all trees of a repository share."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `graph status` is answered before all else: `pathlib` and `typing` cost more than its answer
    from pathlib import Path

    from morph_tasks.repo.git import Repo

FOLDER = "graphify-out"
GRAPH = f"{FOLDER}/graph.json"
INDEX = f"{FOLDER}/morph-index.sqlite"
RECOVERED = f"{FOLDER}/morph-recovered.json"
RECORD, LOCK, LOG = "graph-refresh-state.json", "graph-refresh.lock", "graph-refresh.log"
STARTED = "graph-refresh.started"  # the process that a kick started, until it has the lock


def graph_folder(root: Path) -> Path:
    """Return the folder that graphify writes in a tree; git never sees it."""
    return root / FOLDER


def graph_file(root: Path) -> Path:
    """Return the graph of a tree, as graphify wrote it."""
    return root / GRAPH


def index_file(root: Path) -> Path:
    """Return the index made from the graph of a tree."""
    return root / INDEX


def recovered_file(root: Path) -> Path:
    """Return the edges that were found beside graphify's own."""
    return root / RECOVERED


def record_file(repo: Repo) -> Path:
    """Return the record of the last runs in a tree; that of the main tree lies in `<common>/morph-spec`."""
    return repo.tree_state / RECORD


def lock_file(repo: Repo) -> Path:
    """Return the lock that lets one run at a time write the graph of a tree; it is beside the record."""
    return repo.tree_state / LOCK


def log_file(repo: Repo) -> Path:
    """Return the log of the runs that nobody waits for."""
    return repo.store / LOG
