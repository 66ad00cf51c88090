"""The live display of a terminal: a line for each node that runs, with its time; what ended stays above."""

from __future__ import annotations

import threading
import time
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.nodes import Node

_COLOURS = {"pass": "green", "fail": "red", "flaky": "yellow", "skip": "dim", "busy": "yellow"}


class LiveView:
    """Shows what runs now; lines of what ended are printed above the display, whole."""

    def __init__(self, stream: IO[str]) -> None:
        self.shown: set[str] = set()
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._console = Console(file=stream, highlight=False)
        self._live = Live(console=self._console, get_renderable=self._table, refresh_per_second=8, transient=True)
        self._open = False

    def started(self, node: Node) -> None:
        """Show a node as running."""
        with self._lock:
            self._running[node.ref] = time.monotonic()
            if not self._open:
                self._live.start()
                self._open = True

    def ended(self, outcome: Outcome) -> None:
        """Print the line of a node that ended."""
        from morph_tasks.verify.report import node_line

        with self._lock:
            self._running.pop(outcome.node.ref, None)
        self.note(node_line(outcome), _COLOURS.get(outcome.status, ""))
        self.shown.add(outcome.node.ref)

    def note(self, line: str, style: str = "") -> None:
        """Print a line above the display."""
        self._console.print(Text(line, style=style), soft_wrap=True)

    def close(self) -> None:
        """Take the display away."""
        if self._open:
            self._live.stop()
            self._open = False

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 1))
        with self._lock:
            running = list(self._running.items())
        for ref, since in running:
            table.add_row(Spinner("dots"), Text(ref), Text(f"{time.monotonic() - since:.0f} s", style="dim"))
        return table
