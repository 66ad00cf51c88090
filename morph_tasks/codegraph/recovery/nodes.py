"""The definitions that the graph knows, by file and place, and the uses that it has already."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from morph_tasks.codegraph import naming, raw

# Relations that say that the source uses the target.
USES = frozenset({
    "calls", "indirect_call", "references", "imports", "imports_from", "re_exports", "inherits", "implements",
    "extends", "uses", "embeds", "mixes_in", "dynamic_import",
})  # fmt: skip
INFERRED = "indirect_call"  # a callable's name that stands somewhere as a value
_FAR = 12  # lines between a definition and its first decorator


class Inferred(NamedTuple):
    """A link that graphify inferred from a name alone."""

    source: str
    target: str
    line: int


@dataclass(slots=True)
class Nodes:
    """What a graph holds of code; `pairs` are the (source, target) that it joins by a use."""

    files: dict[str, str] = field(default_factory=dict)
    by_name: dict[tuple[str, str], list[tuple[int, str, bool]]] = field(default_factory=lambda: defaultdict(list))
    pairs: set[tuple[str, str]] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)  # those of them that call
    derives: set[tuple[str, str]] = field(default_factory=set)  # and those that inherit
    inferred: dict[str, list[Inferred]] = field(default_factory=lambda: defaultdict(list))  # by the file of the site
    names: dict[str, tuple[str, str]] = field(default_factory=dict)  # target of an inferred link -> its file and name
    firm: set[tuple[str, str]] = field(default_factory=set)  # what is inferred, and said by another link as well

    def definition(self, path: str, name: str, line: int, *, member: bool) -> str | None:
        """Return the node of a definition: at its line, or above it by its decorators; None when the graph has none."""
        found = self.by_name.get((path, name), ())
        exact = [key for at, key, _ in found if at == line]
        if exact:
            return exact[0]
        near = sorted((line - at, key) for at, key, inside in found if 0 < line - at <= _FAR and inside == member)
        return near[0][1] if near and len(found) == 1 else None


def read(graph: Path) -> Nodes:
    """Return what a graph knows; raises OSError and Refusal `corrupt-graph`."""
    found = raw.parse(graph.read_bytes(), graph)
    nodes = Nodes()
    for node in found.nodes:
        path, label = node.source_file, node.label
        if not path or not label or node.file_type not in ("code", None) or node.type in ("namespace", "package"):
            continue
        if naming.names_its_file(label, path) and node.source_location in ("L1", "L0", None):
            nodes.files.setdefault(path, node.id)
            continue
        at = naming.line_of(node.source_location)
        if at is not None:
            nodes.by_name[path, naming.bare(label)].append((at, node.id, label.startswith(".")))
    nodes.pairs = {(link.source, link.target) for link in found.all_links() if link.relation in USES}
    nodes.calls = {(link.source, link.target) for link in found.all_links() if link.relation == "calls"}
    derived = ("inherits", "implements", "extends")
    nodes.derives = {(link.source, link.target) for link in found.all_links() if link.relation in derived}
    _infer(nodes, found)
    return nodes


def _infer(nodes: Nodes, found: raw.RawGraph) -> None:
    """Note the links that were inferred from a name, and what their targets are called."""
    links = [link for link in found.all_links() if link.relation == INFERRED]
    pairs = {(link.source, link.target) for link in links}
    for link in links:
        line = naming.line_of(link.source_location)
        if line is not None and link.source_file:
            nodes.inferred[link.source_file].append(Inferred(link.source, link.target, line))
    targets = {target for _, target in pairs}
    nodes.names = {
        node.id: (node.source_file, naming.bare(node.label))
        for node in found.nodes
        if node.id in targets and node.source_file and node.label
    }
    others = ((link.source, link.target) for link in found.all_links() if link.relation in USES - {INFERRED})
    nodes.firm = pairs.intersection(others)
