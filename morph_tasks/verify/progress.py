"""What a person sees while nodes are measured."""

from __future__ import annotations

import os
import secrets
import threading
from typing import IO, Protocol

from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.nodes import Node

_GROUP_BYTES = 256 * 1024  # of a log that is shown; the whole of it is kept


class Progress(Protocol):
    """Hears of every node that is run; calls come from several threads."""

    shown: set[str]

    def started(self, node: Node) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...

    def note(self, line: str) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Says nothing: the judge says it all at the end."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def started(self, node: Node) -> None:
        """Hear of a start."""

    def ended(self, outcome: Outcome) -> None:
        """Hear of an end."""

    def note(self, line: str) -> None:
        """Hear of something worth a line."""

    def close(self) -> None:
        """Be done."""


def for_stream(stream: IO[str]) -> Progress:
    """Return what fits a stream: a live display on a terminal, log groups under GitHub Actions, else plain lines."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        return Grouped(stream)
    if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ:
        from morph_tasks.verify.live_view import LiveView

        return LiveView(stream)
    return Plain(stream)


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

    def close(self) -> None:
        """Be done."""


class Grouped(Plain):
    """Plain lines for GitHub Actions, each followed by the node's log in a group that can be folded."""

    def ended(self, outcome: Outcome) -> None:
        from morph_tasks.verify.report import node_line

        said = _log_lines((outcome.record or {}).get("log"))
        line = node_line(outcome)
        if said:
            # What a test prints must not be taken for a command to the runner.
            token = secrets.token_hex(16)
            line = "\n".join([f"::group::{line}", f"::stop-commands::{token}", *said, f"::{token}::", "::endgroup::"])
        self.note(line)
        self.shown.add(outcome.node.ref)


def _log_lines(log: str | None) -> list[str]:
    if not log:
        return []
    try:
        with open(log, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _GROUP_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
