"""The record of the runs of graphify in a tree: what the graph is up to date with, and how the last run ended.

Needed because graphify leaves the graph as it is, and its stamp with it, when a change does not move its topology.
Imports are few on purpose: `graph status` reads it before all else.
"""

from __future__ import annotations

import os

from morph_tasks.codegraph.layout import GRAPH, RECORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from morph_tasks.repo.git import Repo

VERSION = 1


def read(git_dir: str) -> dict[str, Any]:
    """Return `{current, last}` of the tree with this private git folder, each None when not known.

    A record that is absent, torn or of another version says nothing.
    """
    import json

    try:
        with open(f"{git_dir}/morph-spec/{RECORD}", encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        data = {}
    return {name: data[name] if isinstance(data.get(name), dict) else None for name in ("current", "last")}


def current(root: str, git_dir: str) -> dict[str, Any] | None:
    """Return what the graph that lies there now is up to date with; None when the record is of another graph."""
    found: dict[str, Any] | None = read(git_dir)["current"]
    return found if found is not None and found.get("graph") == signature(root) is not None else None


def signature(root: str) -> list[int] | None:
    """Return size and time of the graph of a tree, which a copy of it keeps; None when there is none."""
    try:
        about = os.stat(f"{root}/{GRAPH}")
    except OSError:
        return None
    return [about.st_size, about.st_mtime_ns]


def write(repo: Repo, *, current: dict[str, Any] | None, last: dict[str, Any] | None) -> None:
    """Replace the record of a tree; raises Refusal `write-failed`."""
    from morph_tasks.codegraph.layout import record_file
    from morph_tasks.repo.files import write_json

    write_json(record_file(repo), {"version": VERSION, "current": current, "last": last})
