"""A tree of sources with a graph that knows its definitions and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.recovered import decode, edges_of
from morph_tasks.codegraph.recovery import service
from morph_tasks.codegraph.spans import definitions

Edges = dict[tuple[str, str], str]


def written(root: Path, files: dict[str, str]) -> Path:
    """Write files, and a graph with a node for each and for each definition in it."""
    nodes: list[dict[str, str]] = []
    for path, source in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(source, encoding="utf-8")
        nodes.append(_node(path, place.name, path, 1))
        for one in definitions(path, source.encode()) or ():
            inside = f"{one.owner}." if one.owner else ""
            label = one.name if one.kind == "type" else f"{'.' if one.owner else ''}{one.name}()"
            key = f"{path}:{inside}{one.name}"
            again = sum(node["id"].partition("#")[0] == key for node in nodes)
            nodes.append(_node(f"{key}#{again + 1}" if again else key, label, path, one.start))
    graph = layout.graph_file(root)
    graph.parent.mkdir(exist_ok=True)
    graph.write_text(json.dumps({"directed": True, "nodes": nodes, "links": []}))
    return root


def recovered(root: Path, files: dict[str, str]) -> Edges:
    """Return the edges that are found in files: (source, target) -> relation."""
    service.recover(written(root, files))
    return edges(root)


def edges(root: Path) -> Edges:
    """Return the edges that were written."""
    told = decode(layout.recovered_file(root).read_bytes())
    assert told is not None
    return {(source, target): relation for source, target, relation, *_ in edges_of(told)}


def _node(key: str, label: str, path: str, line: int) -> dict[str, str]:
    return {"id": key, "label": label, "source_file": path, "source_location": f"L{line}", "file_type": "code"}
