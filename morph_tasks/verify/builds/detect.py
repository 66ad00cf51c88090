"""Which builds a tree has when the project declares none."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.nodes import BUILD_TIMEOUT_MS, Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

NOTHING = "nothing to build was found"


def build_nodes(root: Path, config: Config) -> list[Node]:
    """Return the inferred build nodes of a tree, or the one that says that there is nothing to build."""
    from morph_tasks.verify.builds.python import python_builds

    return python_builds(root) or [Node("build", "none", skip=NOTHING)]


def inferred(name: str, command: str, **more: object) -> Node:
    """Return an inferred build node."""
    return Node("build", name, command, timeout_ms=BUILD_TIMEOUT_MS, declared=False, **more)  # type: ignore[arg-type]


def script(name: str) -> str:
    """Return the path of a script of ours, quoted for the shell."""
    return shlex.quote(str(Path(__file__).with_name(name)))
