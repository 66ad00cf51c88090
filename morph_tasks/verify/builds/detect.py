"""Which builds a tree has when the project declares none."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.builds.scan import one_look, slug
from morph_tasks.verify.nodes import BUILD_TIMEOUT_MS, Node
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

NOTHING = "nothing to build was found"
# A compiler that starts without its cache takes minutes.
COMPILE_TIMEOUT_MS = 600_000


def build_nodes(root: Path, config: Config) -> list[Node]:
    """Return the inferred build nodes of a tree, or the one that says that there is nothing to build."""
    from morph_tasks.verify.builds.dotnet import dotnet_builds
    from morph_tasks.verify.builds.go import go_builds
    from morph_tasks.verify.builds.node import node_builds
    from morph_tasks.verify.builds.python import python_builds
    from morph_tasks.verify.builds.rust import rust_builds

    found = python_builds(root)
    with one_look():
        for find in (node_builds, go_builds, rust_builds, dotnet_builds):
            found = [*found, *find(root, config)]
    return found or [Node("build", "none", skip=NOTHING)]


def inferred(name: str, command: str, **more: Any) -> Node:
    """Return an inferred build node."""
    return Node("build", name, command, declared=False, **{"timeout_ms": BUILD_TIMEOUT_MS, **more})


def with_tool(node: Node, program: str) -> Node:
    """Return the node, or one that says that its toolchain is missing: nothing was built is never green."""
    if ask("which", program):
        return node
    return unbuilt(node, f"{program} is not on the PATH")


def unbuilt(node: Node, why: str) -> Node:
    """Return a node that is skipped for a reason that somebody has to see."""
    return replace(node, skip=why, warnings=(*node.warnings, f"{why}: {node.id} was not built"))


def named(base: str, folders: list[str]) -> list[tuple[str, str]]:
    """Return an id for each folder: the plain one for the root and for the only folder there is."""
    plain = len(folders) == 1
    return [(base if plain or folder == "." else f"{base}-{slug(folder)}", folder) for folder in folders]


def word(path: str) -> str:
    """Return a path in the tree as a word of a shell command that no program takes for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
