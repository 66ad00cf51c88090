"""Pools: how many nodes run at once, between threads and between processes of one tree."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_S = 0.02


class Pools:
    """Slots of one run: `jobs` nodes at once in all, and as many of each named pool as its width says."""

    def __init__(self, folder: Path, jobs: int, widths: dict[str, int]) -> None:
        self._folder = folder
        self._widths = widths
        self._all = threading.BoundedSemaphore(max(1, jobs))

    @contextmanager
    def slot(self, pool: str) -> Iterator[None]:
        """Hold a slot. The pool `heavy` is bounded by the number of jobs alone, unless a width is given."""
        if pool == "heavy" and pool not in self._widths:
            with self._all:
                yield
            return
        # The narrow pool first: a node that waits for it keeps no slot that another could use.
        with self._named(pool, self._widths.get(pool, 1)), self._all:
            yield

    @contextmanager
    def _named(self, pool: str, width: int) -> Iterator[None]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = pool.encode("utf-8", "surrogateescape").hex()[:80]
        while True:
            for place in range(width):
                handle = os.open(self._folder / f"{name}.{place}", os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(handle)
                    continue
                try:
                    yield
                finally:
                    os.close(handle)
                return
            time.sleep(_POLL_S)
