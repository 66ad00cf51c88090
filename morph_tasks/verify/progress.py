"""What a person sees while nodes are measured."""

from __future__ import annotations

import threading
from typing import IO, Protocol

from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.nodes import Node


class Progress(Protocol):
    """Hears of every node that is run; calls come from several threads."""

    def started(self, node: Node) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...

    def note(self, line: str) -> None: ...


class Silent:
    """Says nothing: the judge says it all at the end."""

    def started(self, node: Node) -> None:
        """Hear of a start."""

    def ended(self, outcome: Outcome) -> None:
        """Hear of an end."""

    def note(self, line: str) -> None:
        """Hear of something worth a line."""


class Plain:
    """A whole line when something ends; lines of nodes that run side by side never mix."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.shown: set[str] = set()

    def started(self, node: Node) -> None:
        """Hear of a start."""

    def ended(self, outcome: Outcome) -> None:
        from morph_tasks.verify.report import node_line

        self.note(node_line(outcome))
        self.shown.add(outcome.node.ref)

    def note(self, line: str) -> None:
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()
