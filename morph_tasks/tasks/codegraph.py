"""The task `graph-refresh`: its facts are HEAD and the ignore rules by content, its target is the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.codegraph.layout import GRAPH
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from morph_tasks.tasks.actions import guarded

Task = dict[str, Any]


def graph_refresh() -> Task:
    """Return the task of the tree that doit runs in."""
    root = str(Path.cwd())
    return {
        "name": "graph-refresh",
        "actions": [(refresh, [root])],
        "uptodate": [GraphFresh(root)],
        "targets": [f"{root}/{GRAPH}"],
        "doc": "bring the code graph up to date with HEAD and the ignore rules",
        "verbosity": 2,
        "io": {"capture": False},
    }


class GraphFresh:
    """doit's `uptodate` of the code graph: true when it is that of HEAD and of the ignore rules; shows why not."""

    def __init__(self, root: str) -> None:
        self._root = root

    def __call__(self) -> bool:
        from morph_tasks.codegraph.freshness import FRESH, freshness

        try:
            return freshness(open_repo(Path(self._root)).lightly()).state == FRESH
        except Refusal:
            return False  # the action refuses in our words

    def __repr__(self) -> str:
        from morph_tasks.codegraph.freshness import freshness

        try:
            return repr(freshness(open_repo(Path(self._root)).lightly()))
        except Refusal as refusal:
            return f"{refusal.code}: {refusal.what}"


@guarded
def refresh(root: str) -> Any:
    """Bring the code graph of a tree up to date, as the command does; a run that is under way is waited for."""
    import sys

    from morph_tasks.cli.graph import told
    from morph_tasks.codegraph.progress import Progress
    from morph_tasks.codegraph.waiting import refreshed

    with Progress(lambda line: print(line, file=sys.stderr, flush=True)) as progress:  # noqa: T201
        ran = refreshed(open_repo(Path(root)), progress.at)
    if ran is None:
        print("another run of graphify brought the code graph up to date")  # noqa: T201
    else:
        print("\n".join([*(f"warning: {line}" for line in ran.warnings), told(ran)]))  # noqa: T201
    return True
