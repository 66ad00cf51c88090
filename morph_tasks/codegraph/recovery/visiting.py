"""What the readers of parsed trees have in common: each kind of node has a method, or is read through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from tree_sitter import Node

    from morph_tasks.codegraph.recovery.model import Facts


class TreeReader:
    """Reads a file node by node. `visits`: the methods, by the type of the nodes that they read."""

    visits: ClassVar[Mapping[str, Any]]

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        facts.open(-1, "module", -1)

    def visit(self, node: Node, scope: int) -> None:
        """Read a node and what is below it."""
        own = self.visits.get(node.type)
        if own is not None:
            own(self, node, scope)
        else:  # not `below`: one more call a level halves how deep a file may be nested
            for one in node.named_children:
                self.visit(one, scope)

    def below(self, node: Node, scope: int) -> None:
        """Read what is below a node."""
        for one in node.named_children:
            self.visit(one, scope)
