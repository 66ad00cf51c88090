"""Stopping processes by degrees: a group, what shares its session, and what escaped from both."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from morph_tasks.machine import ends, table
from morph_tasks.machine.identity import Identity, boot, host
from morph_tasks.machine.table import Entry

KILL_WAIT_S = 2.0
_PAUSE_S = 0.02


@dataclass(eq=False)
class Group:
    """A command that leads a session of its own; `token` is what its processes carry in their environment.

    `held` says that the leader is a child nobody reaped yet, so that its number cannot be given out again;
    `settled` is set once whoever interrupted it is through. `record` is its file on disk, if it has one.
    """

    leader: Identity
    token: str
    held: bool = False
    interrupted: bool = False
    record: Path | None = None
    settled: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def signal(self, signum: int) -> bool:
        """Send a signal to the whole group if its number is still its own; tells whether it was sent."""
        with self.lock:
            if self.leader.pid <= 1 or not self.owns_number():
                return False
            if not self.held and self.leader.pid in _groups_above():
                return False
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader.pid, signum)
            return True

    def owns_number(self, seen: dict[int, Entry] | None = None) -> bool:
        """Tell whether the number of the leader still names this group."""
        if self.held:
            return True
        here = (self.leader.boot, self.leader.host) == (boot(), host())
        entry = (seen or {}).get(self.leader.pid) or table.read(self.leader.pid)
        return here and entry is not None and entry.start == self.leader.start


@dataclass(frozen=True)
class Members:
    """What lives of a group: in its group or session, and outside of both."""

    inside: tuple[Entry, ...]
    escaped: tuple[Entry, ...]


def members(group: Group, seen: dict[int, Entry]) -> Members:
    """Find what lives of a group in a snapshot of the process table; never this process or one above it.

    Where the number of the leader may have a new holder, only what carries the token counts.
    """
    number, ours = group.leader.pid, group.owns_number(seen)
    safe = table.ancestors()
    living = {pid: entry for pid, entry in seen.items() if pid not in safe and not entry.dead}
    if group.held and number not in seen and not ends.ended(number):
        # A system that shows no processes at all still has the child that was started here.
        living[number] = Entry(number, os.getpid(), number, number, "R", 0, 1, "?")
    inside = {pid for pid, entry in living.items() if number in (entry.group, entry.session)}
    # What is older than the leader cannot come from it, and reading an environment is dear.
    oldest = group.leader.start if isinstance(group.leader.start, int) else 0
    maybe = [pid for pid, entry in living.items() if entry.start >= oldest and not (ours and pid in inside)]
    marked = {pid for pid in maybe if _carries(pid, group.token)}
    if not ours:
        inside &= marked
    descended = table.family(seen, inside | marked | ({number} if ours else set()))
    escaped = (marked | descended) - inside
    return Members(
        tuple(living[pid] for pid in sorted(inside)),
        tuple(living[pid] for pid in sorted(escaped) if pid in living),
    )


def stop(groups: Sequence[Group], grace_s: float) -> list[Entry]:
    """End groups and what escaped from them: TERM, a bounded wait, KILL.

    Returns what was found besides the leaders. `grace_s` is in seconds.
    """
    found: dict[tuple[int, int], Entry] = {}

    def find() -> list[Entry]:
        seen = table.snapshot()
        living: dict[tuple[int, int], Entry] = {}
        for group in groups:
            part = members(group, seen)
            living.update((entry.key, entry) for entry in part.inside + part.escaped)
        found.update(living)
        return list(living.values())

    end(find, grace_s, groups=groups)
    leaders = {group.leader.pid for group in groups}
    return [entry for entry in found.values() if entry.pid not in leaders]


def end(find: Callable[[], list[Entry]], grace_s: float, *, groups: Sequence[Group] = ()) -> list[Entry]:
    """End all that `find` returns, as often as it finds more; returns what even KILL did not end in time.

    `groups` get each signal as a whole, which leaves no gap to a process that forks. The wait is bounded by
    `grace_s` and KILL_WAIT_S, in seconds.
    """
    left = find()
    for signum, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_WAIT_S)):
        deadline = time.monotonic() + wait_s
        told: set[tuple[int, int]] = set()
        while left:
            fresh = [entry for entry in left if entry.key not in told]
            # A stopped process takes no other signal before it goes on.
            for number in (signum, signal.SIGCONT) if signum == signal.SIGTERM else (signum,):
                reached = {group.leader.pid for group in groups if group.signal(number)}
                for entry in fresh:
                    if entry.group not in reached:
                        send(entry, number)
            told.update(entry.key for entry in left)
            ends.await_ends([entry.pid for entry in left], max(deadline - time.monotonic(), 0))
            left = find()
            if time.monotonic() >= deadline:
                break
            if not fresh:
                time.sleep(_PAUSE_S)
    return left


def send(entry: Entry, signum: int) -> None:
    """Send a signal to exactly this process; a number that changed hands is left alone."""
    handle = None
    # Held from before the look at the start time, it names the process that was looked at.
    with suppress(OSError):
        handle = ends.pidfd(entry.pid)
    try:
        now = table.read(entry.pid)
        if now is None or now.key != entry.key:
            return
        with suppress(OSError):
            if handle is None:
                os.kill(entry.pid, signum)
            else:
                _signal_by_file(handle, signum)
    finally:
        if handle is not None:
            os.close(handle)


def _signal_by_file(handle: int, signum: int) -> None:
    if sys.platform == "linux":
        signal.pidfd_send_signal(handle, signum)


def _carries(pid: int, token: str) -> bool:
    found = table.marks(pid)
    return found is not None and token in found.tokens


def _groups_above() -> set[int]:
    above = (table.read(pid) for pid in table.ancestors() if pid > 1)
    return {entry.group for entry in above if entry is not None} | {os.getpgrp()}
