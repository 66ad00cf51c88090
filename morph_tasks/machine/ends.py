"""Waiting for processes to end, to the moment: the kernel tells, nobody polls where it can."""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any

from morph_tasks.machine import table

_LONGEST_WAIT_S = 86_400.0
_FIRST_LOOK_S = 0.001
_LAST_LOOK_S = 0.02


def await_ends(pids: Iterable[int], timeout_s: float) -> list[int]:
    """Wait until every process ended (a zombie has) and return those that still run.

    `timeout_s` bounds the wait as a whole; infinity waits for good. Children are not reaped.
    """
    deadline = time.monotonic() + timeout_s
    running = set(pids)
    with ExitStack() as stack:
        if hasattr(select, "kqueue"):
            unwatched = _await_kqueue(running, deadline, stack)
        else:
            unwatched = _await_pidfds(running, deadline, stack)
        _await_by_looking(running, unwatched, deadline)
    return sorted(running)


def ended(pid: int) -> bool:
    """Tell whether a process ended: a zombie has, and so has a number that nobody holds."""
    if hasattr(os, "waitid"):
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    entry = table.read(pid)
    if entry is not None:
        return entry.dead
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def pidfd(pid: int) -> int:
    """Open a file that names this process and no later one; raises OSError where the system has none."""
    call = getattr(os, "pidfd_open", None)
    if call is None:
        raise OSError(errno.ENOSYS, "no pidfd_open")
    return int(call(pid))


def _await_pidfds(running: set[int], deadline: float, stack: ExitStack) -> set[int]:
    """Watch what can be watched; returns those that could not be (no such call, too many open files)."""
    poll = select.poll()
    watched: dict[int, int] = {}
    unwatched: set[int] = set()
    for pid in list(running):
        try:
            handle = pidfd(pid)
        except ProcessLookupError:
            running.discard(pid)
        except (OSError, OverflowError):
            unwatched.add(pid)
        else:
            stack.callback(os.close, handle)
            watched[handle] = pid
            poll.register(handle, select.POLLIN)
    while watched and (left := deadline - time.monotonic()) > 0:
        # Rounded up: a wait cut short by a fraction would spin.
        for handle, _ in poll.poll(int(min(left, _LONGEST_WAIT_S) * 1000) + 1):
            poll.unregister(handle)
            running.discard(watched.pop(handle))
    unwatched.update(watched.values())
    return unwatched


def _await_kqueue(running: set[int], deadline: float, stack: ExitStack) -> set[int]:
    bsd: Any = select
    queue = bsd.kqueue()
    stack.callback(queue.close)
    watched: set[int] = set()
    unwatched: set[int] = set()
    for pid in list(running):
        event = bsd.kevent(pid, bsd.KQ_FILTER_PROC, bsd.KQ_EV_ADD | bsd.KQ_EV_ONESHOT, bsd.KQ_NOTE_EXIT)
        try:
            queue.control([event], 0, 0)
            watched.add(pid)
        except ProcessLookupError:
            running.discard(pid)
        except (OSError, OverflowError):
            unwatched.add(pid)
    while watched and (left := deadline - time.monotonic()) > 0:
        for event in queue.control(None, len(watched), min(left, _LONGEST_WAIT_S)):
            watched.discard(event.ident)
            running.discard(event.ident)
    return unwatched | watched


def _await_by_looking(running: set[int], unwatched: set[int], deadline: float) -> None:
    pause = _FIRST_LOOK_S
    while True:
        gone = {pid for pid in unwatched if ended(pid)}
        running -= gone
        unwatched -= gone
        left = deadline - time.monotonic()
        if not unwatched or left <= 0:
            return
        time.sleep(min(pause, left))
        pause = min(pause * 2, _LAST_LOOK_S)
