"""Graphs in the form of graphify, down to the odd: stubs, nodes without a place, links of any kind."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from morph_tasks.codegraph.index import Edge, Index, Symbol, open_index
from tests.conftest import BIN

HERE = Path(__file__).parent
CSHARP = HERE / "csharp"


class Raw:
    """A raw graph that grows."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.links: list[dict[str, Any]] = []

    def file(self, path: str) -> str:
        """Add the node of a file."""
        return self.node(f"file:{path}", path.rpartition("/")[2], path, 1)

    def type(self, key: str, label: str, path: str, line: int = 2, **more: Any) -> str:
        """Add a type that has a definition."""
        return self.node(key, label, path, line, _callable_class=True, **more)

    def stub(self, key: str, label: str, **more: Any) -> str:
        """Add a name without a definition."""
        self.nodes.append(
            {"id": key, "label": label, "file_type": "code", "source_file": "", "source_location": ""} | more
        )
        return key

    def node(self, key: str, label: str, path: str, line: int, **more: Any) -> str:
        """Add a node that has a place."""
        place = {"source_file": path, "source_location": f"L{line}"}
        self.nodes.append({"id": key, "label": label, "file_type": "code"} | place | more)
        return key

    def link(self, source: str, relation: str, target: str, path: str, line: int = 9, **more: Any) -> None:
        """Add a link with its site."""
        place = {"source_file": path, "source_location": f"L{line}"}
        self.links.append({"source": source, "target": target, "relation": relation} | place | more)

    def write(self, root: Path, **more: Any) -> Path:
        """Write it where graphify does."""
        form = {"directed": False, "multigraph": False, "graph": {}, "nodes": self.nodes, "links": self.links}
        return put(root, json.dumps(form | more))


def put(root: Path, text: str | bytes) -> Path:
    """Write anything in the place of a graph."""
    path = root / "graphify-out" / "graph.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def extract(source: Path, root: Path) -> Path:
    """Copy a tree and let graphify itself make its graph; return the root."""
    shutil.copytree(source, root)
    subprocess.run([BIN / "graphify", "extract", ".", "--code-only"], cwd=root, check=True, capture_output=True)
    return root


def every(index: Index) -> dict[int, Symbol]:
    """Return all symbols that are to be seen."""
    return index.symbols(row[0] for row in index.rows("SELECT id FROM node"))


def shown(index: Index, *, via: str | None = None) -> set[str]:
    """Return the edges as text, `Owner.name relation Owner.name (via)`; with `via`, those alone and without it."""
    known = every(index)
    edges = [edge for edge in index.out_of(known) if via in (None, edge.via)]
    return {_told(edge, known) + ("" if via else f" ({edge.via})") for edge in edges}


def answers(root: Path, *, via: str | None = None) -> set[str]:
    """Return the edges of a tree as `shown` does."""
    with open_index(root) as index:
        return shown(index, via=via)


def undecided(index: Index) -> dict[str, set[str]]:
    """Return the references that have several meanings, with those."""
    known = every(index)
    found = index.undecided(known)
    return {_told(edge, known): {f"{known[o].file}:{known[o].name}" for o in options} for edge, options in found}


def _told(edge: Edge, known: dict[int, Symbol]) -> str:
    return f"{_name(known[edge.source])} {edge.relation} {_name(known[edge.target])}"


def _name(symbol: Symbol) -> str:
    return f"{symbol.owner}.{symbol.name}" if symbol.owner else symbol.name
