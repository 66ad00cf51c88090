"""Whether a graph ends where a graph can end. It is not parsed: that takes a second for a large project."""

from __future__ import annotations

import os

from morph_tasks.codegraph.layout import GRAPH

CORRUPT = "corrupt-graph"
DETAIL = f"{GRAPH} is no whole graph: it does not end as one"
_BLANK = b" \t\r\n"
_TAIL = 256


def is_torn(root: str) -> bool:
    """Tell whether the graph of a tree is empty or cut off; False where that is not seen from its end.

    Unreadable is not torn: a question says so.
    """
    try:
        with open(f"{root}/{GRAPH}", "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            end = file.read()
    except OSError:
        return False
    return not end.rstrip(_BLANK).endswith(b"}")
