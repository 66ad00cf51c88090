"""Leaving on SIGINT, SIGTERM and SIGHUP: end what runs, say so, exit with 128 + N, without a traceback."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType

from morph_tasks import stdio
from morph_tasks.machine import ends, groups, identity, table, wakeup
from morph_tasks.machine.registry import LIVE
from morph_tasks.machine.table import Entry

# All of it stays below the ten seconds after which others lose patience and send KILL.
GRACE_S = 2.0
WORKERS_GRACE_S = 3.0
_BOUND_S = 6.0
_KILL_ROUNDS = 3
_FREEZE_ROUNDS = 100
_FREEZE_S = 0.002
_KILL_WAIT_S = 0.5

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_cleanups: list[Callable[[], None]] = []
_ignored_at_start: set[int] = set()
_watching: set[int] = set()
_helpers: set[tuple[int, int]] = set()
_first = signal.SIGTERM.value


def install(cleanup: Callable[[], None] | None = None) -> None:
    """Install the handlers, once, and add what is to be undone after the processes are gone.

    Only the main thread can install them; elsewhere only `cleanup` is kept. What was ignored at the start stays
    ignored as far as it was meant to: SIGHUP under nohup, and a Ctrl-C that is not for a job in the background.
    SIGTERM is always obeyed, and so is a SIGINT that somebody sent to this very process.
    """
    if cleanup is not None and cleanup not in _cleanups:
        _cleanups.append(cleanup)
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _HANDLED:
        if signal.getsignal(number) != _handle:
            if signal.getsignal(number) == signal.SIG_IGN:
                _ignored_at_start.add(number)
            signal.signal(number, _handle)
    wakeup.watch(_HANDLED, _leave_when_stuck)


def watch_parent() -> None:
    """In a multiprocessing worker: obey signals, and leave when the parent dies, which no signal tells a worker."""
    parent = _parent()
    if parent is None or os.getpid() in _watching:
        return
    _watching.add(os.getpid())
    install()
    threading.Thread(target=_leave_after, args=(parent,), daemon=True).start()


def leave(signum: int) -> None:
    """End all groups, workers and helpers of this process and exit with 128 + signum; does not return."""
    global _first
    LIVE.leaving, _first = True, signum
    try:
        # Not a Thread: its locks may be held by the code that the signal interrupted.
        _thread.start_new_thread(_give_up_after, (_BOUND_S,))
        running = LIVE.close()
        _freeze_helpers()
        grace_s = WORKERS_GRACE_S if _helpers else GRACE_S
        groups.end(_living, grace_s, groups=running)
        _forget_records()
        for cleanup in _cleanups:
            with suppress(Exception):
                cleanup()
        if _parent() is None:
            _say_interrupted()
    except BaseException:
        # Helpers may stand still by now, and nobody else would make them go on.
        _exit_at_once()
    finally:
        os._exit(128 + signum)


def _handle(signum: int, _: FrameType | None) -> None:
    if signum in _ignored_at_start and (signum == signal.SIGHUP or from_terminal()):
        return
    if not LIVE.leaving:
        if not LIVE.postpone(partial(leave, signum)):
            leave(signum)
    elif signum != signal.SIGTERM or _parent() is None:
        # Once more while cleaning up. A worker gets TERM from its parent as well, which is no impatience.
        _exit_at_once()


def _leave_when_stuck(signum: int) -> None:
    """Leave from another thread: the main one hangs where no signal reaches it."""
    if not LIVE.leaving and signum not in _ignored_at_start:
        leave(signum)


def _exit_at_once() -> None:
    """Send KILL to all that is known and exit; takes no lock, since the code it interrupts may hold any."""
    try:
        for _ in range(_KILL_ROUNDS):
            left = _living()
            for entry in left:
                groups.send(entry, signal.SIGKILL)
            ends.await_ends([entry.pid for entry in left], _KILL_WAIT_S)
        _forget_records()
    finally:
        os._exit(128 + _first)


def _forget_records() -> None:
    # What even KILL did not end keeps its record, for the next start to try again.
    for group in LIVE.groups():
        if group.record is not None and ends.ended(group.leader.pid):
            with suppress(OSError):
                group.record.unlink()


def _give_up_after(seconds: float) -> None:
    time.sleep(seconds)
    _exit_at_once()


def _leave_after(parent: int) -> None:
    ends.await_ends([parent], float("inf"))
    if not LIVE.leaving:
        leave(signal.SIGTERM)


def _living() -> list[Entry]:
    """Find what still has to end: groups, helpers, and the groups of workers that died before they could end them."""
    seen = table.snapshot()
    _helpers.update(_find_helpers(seen))
    found = {entry.key: entry for pid, entry in seen.items() if entry.key in _helpers and not entry.dead}
    for group in LIVE.groups():
        part = groups.members(group, seen)
        found.update((entry.key, entry) for entry in part.inside + part.escaped)
    if _helpers:
        found.update((entry.key, entry) for entry in seen.values() if not entry.dead and _lost_its_worker(entry, found))
    return list(found.values())


def _freeze_helpers() -> None:
    """Stop the helpers until the table shows no new one: what forks and dies at once leaves a child nobody knows."""
    calm = False
    for _ in range(_FREEZE_ROUNDS):
        found = _find_helpers()
        fresh = [entry for key, entry in found.items() if key not in _helpers]
        if calm and not fresh:
            return
        _helpers.update(found)
        for entry in fresh:
            groups.send(entry, signal.SIGSTOP)
        # What was forked before the last of them stood still is in the next list, not surely in this one.
        calm = all(entry.state in ("T", "t") for entry in found.values())
        if not calm:
            time.sleep(_FREEZE_S)


def _lost_its_worker(entry: Entry, living: dict[tuple[int, int], Entry]) -> bool:
    marks = table.marks(entry.pid)
    owner = identity.parsed(marks.owner) if marks else None
    if owner is None or not isinstance(owner.start, int):
        return False
    key = (owner.pid, owner.start)
    return key in _helpers and key not in living


def _find_helpers(seen: dict[int, Entry] | None = None) -> dict[tuple[int, int], Entry]:
    """Find the descendants that share the group of this process: workers, and programs run in the foreground.

    A terminal would have sent them its Ctrl-C too; what has a session of its own was meant to live on.
    """
    seen = table.snapshot() if seen is None else seen
    group, spared = os.getpgrp(), _multiprocessing_servants()
    family = table.family(seen, [os.getpid()]) - spared
    return {seen[pid].key: seen[pid] for pid in family if seen[pid].group == group and not seen[pid].dead}


def _multiprocessing_servants() -> set[int]:
    # They ignore TERM, and end by themselves when the last of us is gone.
    found: set[int] = set()
    for module, holder, name in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
    ):
        pid = getattr(getattr(sys.modules.get(module), holder, None), name, None)
        if isinstance(pid, int):
            found.add(pid)
    return found


def from_terminal() -> bool:
    """Tell whether a terminal may have sent a signal: it does so to its foreground group alone."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _parent() -> int | None:
    """Return the number of the process that this multiprocessing worker works for."""
    multiprocessing = sys.modules.get("multiprocessing")
    parent = multiprocessing.parent_process() if multiprocessing else None
    return parent.pid if parent else None


def _say_interrupted() -> None:
    # doit puts its own stream in the place of stdout while an action runs.
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(Exception):
            if stream is not None:
                stream.flush()
    stdio.say_interrupted()
