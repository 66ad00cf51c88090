"""The groups that run on behalf of this process, and the door that closes before it leaves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from morph_tasks.machine.groups import Group
from morph_tasks.machine.identity import Identity

_DOOR_WAIT_S = 1.0


class Registry:
    """Groups of this process. Threads may use it; a forked child starts with an empty one."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: after a fork the groups are the parent's."""
        self._groups: dict[Group, None] = {}
        self._door = threading.Lock()
        self._main_is_starting = False
        self._postponed: Callable[[], None] | None = None
        self.closed = False
        self.leaving = False

    @contextmanager
    def starting(self, token: str) -> Iterator[Group]:
        """Make starting a child and knowing it one step, for signals and for other threads.

        Until the child is known, the group that is given names it by its token alone.
        """
        unknown = Group(Identity(-1, None, "", ""), token)
        in_main = threading.current_thread() is threading.main_thread()
        if in_main:
            self._main_is_starting = True
        try:
            with self._door:
                self.add(unknown)
                yield unknown
        finally:
            self.remove(unknown)
            if in_main:
                self._main_is_starting = False
                if self._postponed is not None:
                    self._postponed()

    def postpone(self, action: Callable[[], None]) -> bool:
        """Keep an action until a start in the main thread is through; False when there is none.

        For signal handlers: they interrupt the main thread, which cannot wait for itself. A second one is not
        kept: the start hangs.
        """
        if not self._main_is_starting or self._postponed is not None:
            return False
        self._postponed = action
        return True

    def close(self) -> list[Group]:
        """Let no more groups start, mark those that run as interrupted, and return them."""
        # Bounded: a thread may hang in starting a program from a dead network disk.
        held = self._door.acquire(timeout=_DOOR_WAIT_S)
        self.closed = True
        if held:
            self._door.release()
        running = self.groups()
        for group in running:
            group.interrupted = True
        return running

    def open(self) -> None:
        """Let groups start again."""
        self.closed = False

    def groups(self) -> list[Group]:
        """Return what runs, without taking a lock: a signal handler may hold none."""
        return list(self._groups)

    def add(self, group: Group) -> None:
        """Take a group in."""
        self._groups[group] = None

    def remove(self, group: Group) -> None:
        """Take a group out."""
        self._groups.pop(group, None)


LIVE = Registry()
os.register_at_fork(after_in_child=LIVE.reset)
