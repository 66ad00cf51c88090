"""What has a definition, by name; and the nodes that only stand for a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.families import family_of

if TYPE_CHECKING:
    from morph_tasks.codegraph.table import Table

HOLDING = ("contains", "method", "defines")
SUPERTYPE = ("inherits", "implements", "extends", "mixes_in", "embeds")
_NO_STUB = frozenset({"file", "namespace"})
_DEFINED = frozenset({"type", "function", "other"})


def stubs_of(table: Table) -> set[int]:
    """Return the nodes that stand for a name without a definition.

    graphify leaves their file empty; older versions wrote the file that refers to the name, without a place in it.
    """
    held = {target for _, target in table.links_of(*HOLDING)}
    found: set[int] = set()
    for number in [at for at, node in enumerate(table.nodes) if not (node.source_file and node.source_location)]:
        node, kind = table.nodes[number], table.kinds[number]
        if kind in _NO_STUB or not node.label or node.file_type not in ("code", "concept", None):
            continue
        if not node.source_file or (number not in held and node.type is None and not node.external):
            found.add(number)
    return found


class Definitions:
    """The types, functions and values of the tree that a bare name can mean, members left out."""

    def __init__(self, table: Table, stubs: set[int]) -> None:
        self.table = table
        wanted = {table.names[stub] for stub in stubs}
        wanted |= {f"{name}Attribute" for name in wanted}
        self._by_name: dict[str, list[int]] = {}
        nodes, kinds, left_out = table.nodes, table.kinds, stubs | table.hidden
        for number in [number for number, name in enumerate(table.names) if name in wanted]:
            node = nodes[number]
            if kinds[number] in _DEFINED and node.source_file and number not in left_out:
                self._by_name.setdefault(table.names[number], []).append(number)

    def named(self, name: str) -> list[int]:
        """Return what has this name, in whatever language."""
        return self._by_name.get(name, [])

    def in_family(self, name: str, family: str | None, *, types: bool = False) -> list[int]:
        """Return what a file of a family of languages can mean by a name; `types` where no function can be meant."""
        kinds, nodes = self.table.kinds, self.table.nodes
        return [
            found
            for found in self.named(name)
            if (family is None or family_of(nodes[found].source_file) == family)
            and (not types or kinds[found] == "type")
        ]
