"""Builds of Go modules: everything compiles, nothing is kept."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.builds.detect import COMPILE_TIMEOUT_MS, inferred, named, with_tool, word
from morph_tasks.verify.builds.scan import DATA, FOREIGN, inside, listed, manifests
from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

_USE = re.compile(r"^\s*use\s+(?:\(([^)]*)\)|(\S+))", re.M)


def go_builds(root: Path, config: Config) -> list[Node]:
    """Return a build for each Go module of a tree; none when it has no module of its own."""
    nodes = []
    for name, folder in named("go", modules(root, config)):
        # Without `-o /dev/null`, a module with one command leaves its binary in the tree.
        command = f"go build -o /dev/null {packages(root, folder)}"
        node = inferred(name, command, cwd=folder, timeout_ms=COMPILE_TIMEOUT_MS)
        nodes.append(with_tool(node, "go"))
    if nodes and nodes[0].cwd == ".":
        nodes[0] = _with_left_out(root, nodes[0])
    return nodes


def modules(root: Path, config: Config) -> list[str]:
    """Return the folders to run `go` in: the root for a workspace, else those of the modules."""
    if (root / "go.work").is_file():
        return ["."]
    return manifests(root, "go.mod", inside(root, config.project.get("backendPath")))


def packages(root: Path, folder: str) -> str:
    """Return the package patterns of a folder: its own, and those of every module that its workspace uses."""
    used = _used(root / folder / "go.work")
    patterns = [f"./{path}/..." if path else "./..." for path in used] or ["./..."]
    return " ".join(word(pattern) for pattern in patterns)


def _used(workspace: Path) -> list[str]:
    try:
        text = re.sub(r"//[^\n]*", "", workspace.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return []
    paths = [path for block, one in _USE.findall(text) for path in (block.split() if block else [one])]
    return [re.sub(r"^\./?", "", path.strip('"`').rstrip("/")) for path in paths]


def _with_left_out(root: Path, node: Node) -> Node:
    """Name the modules below the root's that `./...` does not reach."""
    below = [path.removesuffix("/go.mod") for path in listed(root, ["go.mod"], foreign=FOREIGN | DATA) if "/" in path]
    missed = [folder for folder in below if f"./{folder}/..." not in node.command]
    if not missed:
        return node
    said = f"modules of their own are not built: {', '.join(missed[:5])}; declare them in `project.build`"
    return replace(node, warnings=(*node.warnings, said))
