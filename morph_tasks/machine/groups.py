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
    `settled` is set once whoever interrupted it is through. `record` is its file on disk, if it has one;
    `sessions` are those that descendants of it made, and `herds` the groups in them, as last seen.
    """

    leader: Identity
    token: str
    held: bool = False
    interrupted: bool = False
    record: Path | None = None
    sessions: set[int] = field(default_factory=set)
    herds: dict[int, list[Entry]] = field(default_factory=dict)
    settled: threading.Event = field(default_factory=threading.Event)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def signal(self, signum: int, *, escaped: bool = True) -> set[int]:
        """Send a signal to whole groups, as far as their numbers are still their own; returns those numbers.

        They are the group of the leader and, with `escaped`, those that `members` found outside of its session.
        """
        with self.lock:
            reached = {self.leader.pid} if self._may_signal_leader() else set()
            if escaped:
                reached |= {number for number, held_by in self.herds.items() if any(map(_still_there, held_by))}
            for number in reached:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(number, signum)
            return reached

    def _may_signal_leader(self) -> bool:
        if self.leader.pid <= 1 or not self.owns_number():
            return False
        return self.held or self.leader.pid not in _groups_above()

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
    escaped = (marked | descended) & set(living) - inside
    escaped |= _in_their_sessions(group, escaped, seen, living) - inside
    group.herds = {}
    for entry in (living[pid] for pid in escaped):
        if entry.session in group.sessions and entry.group > 1:
            group.herds.setdefault(entry.group, []).append(entry)
    return Members(tuple(living[pid] for pid in sorted(inside)), tuple(living[pid] for pid in sorted(escaped)))


def _in_their_sessions(group: Group, escaped: set[int], seen: dict[int, Entry], living: dict[int, Entry]) -> set[int]:
    """Find what shares a session with something that escaped, or did when it was last looked at.

    A session other than that of the leader was made by a descendant of it, whoever in it has lost environment and
    parent since.
    """
    not_ours = {entry.session for pid, entry in seen.items() if pid not in living and not entry.dead}
    found: set[int] = set()
    fresh = escaped
    while True:
        group.sessions |= {living[pid].session for pid in fresh} - not_ours - {group.leader.pid}
        near = {pid for pid, entry in living.items() if entry.session > 1 and entry.session in group.sessions}
        fresh = (near | table.family(seen, near)) & set(living) - found - escaped
        if not fresh:
            return found
        found |= fresh


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


def end(
    find: Callable[[], list[Entry]], grace_s: float, *, groups: Sequence[Group] = (), escaped: bool = True
) -> list[Entry]:
    """End all that `find` returns, as often as it finds more; returns what even KILL did not end in time.

    `groups` get each signal as a whole (what escaped from them only with `escaped`), which leaves no gap to a
    process that forks. The wait is bounded by `grace_s` and KILL_WAIT_S, in seconds.
    """
    left = find()
    for signum, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_WAIT_S)):
        deadline = time.monotonic() + wait_s
        told: set[tuple[int, int]] = set()
        while left:
            fresh = [entry for entry in left if entry.key not in told]
            # A stopped process takes no other signal before it goes on.
            for number in (signum, signal.SIGCONT) if signum == signal.SIGTERM else (signum,):
                reached = set().union(*(group.signal(number, escaped=escaped) for group in groups))
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


def _still_there(entry: Entry) -> bool:
    now = table.read(entry.pid)
    return now is not None and now.key == entry.key and now.group == entry.group


def _signal_by_file(handle: int, signum: int) -> None:
    if sys.platform == "linux":
        signal.pidfd_send_signal(handle, signum)


def _carries(pid: int, token: str) -> bool:
    found = table.marks(pid)
    return found is not None and token in found.tokens


def _groups_above() -> set[int]:
    above = (table.read(pid) for pid in table.ancestors() if pid > 1)
    return {entry.group for entry in above if entry is not None} | {os.getpgrp()}
