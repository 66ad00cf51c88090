"""The containers that this process waits for, and their removal when it has to leave."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_DOOR_WAIT_S = 1.0
# A container whose creation was under way appears within this time, in seconds.
_LATE_S = 0.3
_BOUND_S = 4.0


class Active:
    """Tokens of containers. Threads may use it; a forked child starts with none."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: after a fork the containers are the parent's."""
        self._tokens: dict[str, None] = {}
        self._door = threading.Lock()
        self.closed = False

    @contextmanager
    def starting(self) -> Iterator[bool]:
        """Make creating and starting a container one step for who leaves; gives whether it may begin."""
        with self._door:
            yield not self.closed

    @contextmanager
    def waiting(self, token: str) -> Iterator[None]:
        """Know a container, from before it exists until it is removed."""
        self._tokens[token] = None
        try:
            yield
        finally:
            self._tokens.pop(token, None)

    def leave(self) -> None:
        """Remove every container of this process; for whoever ends it. Takes a few seconds at most."""
        tokens = list(self._tokens)
        if not tokens:
            return
        # Bounded: the main thread cannot wait for what it was interrupted in itself.
        held = self._door.acquire(timeout=_DOOR_WAIT_S)
        self.closed = True
        if held:
            self._door.release()
        deadline = time.monotonic() + _BOUND_S
        with suppress(Exception):
            _remove(tokens, deadline)


def _remove(tokens: list[str], deadline: float) -> None:
    from morph_tasks.verify.linux.client import connect
    from morph_tasks.verify.linux.labels import remove_token

    # A client of its own: the locks of the others may be held by what was interrupted.
    client = connect()
    while tokens and time.monotonic() < deadline:
        if not sum(remove_token(client, token) for token in tokens):
            return
        time.sleep(_LATE_S)


ACTIVE = Active()
os.register_at_fork(after_in_child=ACTIVE.reset)
