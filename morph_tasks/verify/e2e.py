"""The node that runs the application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
NOT_CONTAINERIZED = "project does not containerize"
NOT_AVAILABLE = "e2e-not-available"


def e2e_node(root: Path, config: Config) -> Node:
    """Return the e2e node: what the project declares decides between a skip that is fair and a failure."""
    found = next((name for name in COMPOSE_FILES if ask("file", str(root / name))), None)
    if found:
        return Node(
            "e2e",
            "e2e",
            skip=NOT_AVAILABLE,
            warnings=(f"{found} is there, but this version cannot start the application: nothing was run",),
        )
    if config.declares_docker:
        return Node(
            "e2e",
            "e2e",
            invalid="the project declares docker and has no compose file: the verification was never set up",
            reason="compose-missing",
        )
    return Node("e2e", "e2e", skip=NOT_CONTAINERIZED)
