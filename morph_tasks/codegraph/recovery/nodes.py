"""The definitions that the graph knows, by file and place, and the uses that it has already."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from morph_tasks.codegraph import naming, raw

# Relations that say that the source uses the target.
USES = frozenset({
    "calls", "indirect_call", "references", "imports", "imports_from", "re_exports", "inherits", "implements",
    "extends", "uses", "embeds", "mixes_in", "dynamic_import",
})  # fmt: skip
_FAR = 12  # lines between a definition and its first decorator


@dataclass(slots=True)
class Nodes:
    """What a graph holds of code; `pairs` are the (source, target) that it joins by a use."""

    files: dict[str, str] = field(default_factory=dict)
    by_name: dict[tuple[str, str], list[tuple[int, str, bool]]] = field(default_factory=lambda: defaultdict(list))
    pairs: set[tuple[str, str]] = field(default_factory=set)

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
    return nodes
