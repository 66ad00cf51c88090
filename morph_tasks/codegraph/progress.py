"""A line now and then on a run that takes long: what it is at, for how long, and what graphify said last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

EVERY_S = 10.0


class Progress:
    """While it is entered, what is under way is told every `every_s` seconds, by a thread of its own."""

    def __init__(self, tell: Callable[[str], None], every_s: float | None = None) -> None:
        self._tell = tell
        self._every = EVERY_S if every_s is None else every_s
        self._at = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._begun = time.monotonic()

    def at(self, stage: str) -> None:
        """Say what is under way from now on."""
        self._at = stage

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def _go_on(self) -> None:
        while not self._done.wait(self._every):
            if self._at:
                self._tell(f"{self._at} ({time.monotonic() - self._begun:.0f} s)")
