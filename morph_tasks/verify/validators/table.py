"""The validators there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

# id -> module; the modules measure, the table says which there are
VALIDATORS: dict[str, str] = {}


def validator_nodes(root: Path, config: Config) -> list[Node]:
    """Return a node for each validator, or the one that says that none applies."""
    if not VALIDATORS:
        return [Node("validators", "none", skip="no validator applies")]
    return [Node("validators", name, validator=name) for name in VALIDATORS]
