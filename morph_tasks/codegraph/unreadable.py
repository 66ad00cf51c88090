"""A graph that lies there and cannot be read: why, and the command that gets out of it."""

from __future__ import annotations

import os
import shlex
import stat

from morph_tasks.codegraph import layout
from morph_tasks.errors import Refusal


def refuse(root: str) -> None:
    """Raise Refusal `unreadable-file` where the graph of a tree is there and no file that can be read."""
    graph = f"{root}/{layout.GRAPH}"
    try:
        is_file = stat.S_ISREG(os.stat(graph).st_mode)
    except OSError:
        if not os.path.islink(graph):
            return  # there is none, or its folder is what is wrong
        is_file = False
    if not is_file:
        raise unreadable(root, "it is not a file")
    if not os.access(graph, os.R_OK):
        raise unreadable(root, "permission denied")


def unreadable(root: str, why: str) -> Refusal:
    """Return the refusal of a question to a graph that cannot be read."""
    graph = f"{root}/{layout.GRAPH}"
    return Refusal("unreadable-file", f"{graph} cannot be read: {why}", fix=_way_out(root, graph), path=graph)


def _way_out(root: str, graph: str) -> str:
    """Return a command that makes the graph readable; what is not a file, or not ours, goes aside for a new one."""
    folder = os.path.dirname(graph)
    try:
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            return f"chmod u+rwx {shlex.quote(folder)}"
        about = os.lstat(graph)
    except OSError:
        return f"chmod u+rwx {shlex.quote(folder)}"
    if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid():
        return f"chmod u+rw {shlex.quote(graph)}"
    build = shlex.join(["morph-spec", "graph", "build", "-p", root])
    return f"mv {shlex.quote(graph)} {shlex.quote(aside(graph))} && {build}"


def aside(path: str) -> str:
    """Return a name beside a path that nothing has."""
    found, number = f"{path}.aside", 1
    while os.path.lexists(found):
        number += 1
        found = f"{path}.aside{number}"
    return found
