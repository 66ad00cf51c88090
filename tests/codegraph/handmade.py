"""Graphs made by hand, in the form of graphify, and plans to go with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PLAN = """\
# {title}

## Problem
Something is amiss.

## Scenarios

### C1 — It works
Given it, when it is used, then it works.
- proof: test

## Decisions

### Conflicts with the record
none

## Slices
{slices}"""
SLICE = """
### {id} — {id}
- persona: python-senior
- files: {files}
- covers: C1
"""


def plan_of(*slices: str, title: str = "Work") -> str:
    """Return a plan without a fault; each text is the files of a slice, F1 the first."""
    parts = [SLICE.format(id=f"F{number}", files=files) for number, files in enumerate(slices, 1)]
    return PLAN.format(title=title, slices="".join(parts))


class HandMade:
    """A graph that grows: `file:name` is a symbol, a name with a dot a member, one with a capital a type."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.links: list[dict[str, Any]] = []

    def symbol(self, name: str, line: int = 1) -> str:
        """Return the id of a symbol, made with its file and its owner when it is new; `file` alone is the file."""
        path, _, rest = name.partition(":")
        self._node(path, path.rpartition("/")[2], path, 1)
        if not rest:
            return path
        owner, _, member = rest.rpartition(".")
        if owner:
            self.symbol(f"{path}:{owner}")
        label = f".{member}()" if owner else rest if rest[0].isupper() else f"{rest}()"
        if self._node(name, label, path, line, _callable_class=not owner and rest[0].isupper()):
            self._link(f"{path}:{owner}" if owner else path, name, "method" if owner else "contains", path, line)
        return name

    def prop(self, name: str, line: int = 1) -> str:
        """Return the id of a property, in the form that C# gets: a name that its type defines."""
        path, _, rest = name.partition(":")
        owner, _, member = rest.rpartition(".")
        self.symbol(f"{path}:{owner}")
        if self._node(name, member, path, line):
            self._link(f"{path}:{owner}", name, "defines", path, line)
        return name

    def use(self, source: str, target: str, relation: str = "calls", line: int = 9) -> None:
        """Say that one symbol uses another, at a line of its file."""
        self._link(self.symbol(source), self.symbol(target), relation, source.partition(":")[0], line)

    def write(self, root: Path) -> Path:
        """Write the graph where it belongs in a tree."""
        path = root / "graphify-out" / "graph.json"
        path.parent.mkdir(exist_ok=True)
        form = {"directed": True, "multigraph": False, "graph": {}, "nodes": list(self.nodes.values())}
        path.write_text(json.dumps({**form, "links": self.links}), encoding="utf-8")
        return path

    def _node(self, key: str, label: str, path: str, line: int, **more: Any) -> bool:
        if key in self.nodes:
            return False
        self.nodes[key] = {
            "id": key, "label": label, "file_type": "code", "source_file": path, "source_location": f"L{line}", **more,
        }  # fmt: skip
        return True

    def _link(self, source: str, target: str, relation: str, path: str, line: int) -> None:
        where = {"source_file": path, "source_location": f"L{line}"}
        self.links.append({"source": source, "target": target, "relation": relation, **where})


def shop() -> HandMade:
    """Return the graph of a shop: checkout pays what the cart holds, and the cart knows prices."""
    made = HandMade()
    made.use("src/cart.py", "src/prices.py", "imports_from", 1)
    made.use("src/cart.py:Cart.total", "src/prices.py:price", "calls", 9)
    made.use("src/checkout.py", "src/cart.py", "imports_from", 1)
    made.use("src/checkout.py:pay", "src/cart.py:Cart.total", "calls", 5)
    made.symbol("src/alone.py:quiet")
    return made
