"""A signal is handled now: Python's handlers wait for the main thread, and a blocked one may sleep through it.

The C part of a handler runs at once, in any thread; the Python part runs when the main thread comes back to the
interpreter. Blocked on a lock (`queue.get`, `Thread.join`), it does so only if the signal interrupted that very wait.
A thread is told of each signal through a pipe, and interrupts the main thread until it has looked.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress

PATIENCE_S = 2.0
_POKE_S = 0.05

# Ignored unless somebody handles it. Its number is above those of the signals it follows, and handlers run in that
# order: once this one has run, so have they.
_POKE = signal.SIGURG

_pipe: list[int] = []
_looked = 0


def watch(numbers: Collection[int], stuck: Callable[[int], None]) -> None:
    """See to it that the main thread handles `numbers`; call `stuck` from a thread when it does not in PATIENCE_S.

    Works from the main thread, once a process; gives way to whoever uses the wakeup pipe or SIGURG already.
    """
    if _pipe or signal.getsignal(_POKE) not in (signal.SIG_DFL, _look):
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
        return
    _pipe[:] = [reader, writer]
    signal.signal(_POKE, _look)
    _thread.start_new_thread(_follow, (reader, frozenset(map(int, numbers)), stuck))


def _look(*_: object) -> None:
    global _looked
    _looked += 1


def _follow(reader: int, numbers: frozenset[int], stuck: Callable[[int], None]) -> None:
    main = threading.main_thread().ident
    while told := os.read(reader, 64):
        for number in told:
            if number in numbers and main is not None and not _main_looks(main):
                stuck(number)


def _main_looks(main: int) -> bool:
    before, deadline = _looked, time.monotonic() + PATIENCE_S
    while _looked == before:
        if time.monotonic() > deadline:
            return False
        # As often as it takes: one that comes just before the main thread blocks interrupts nothing.
        signal.pthread_kill(main, _POKE)
        time.sleep(_POKE_S)
    return True


def _forget() -> None:
    # The pipe of a forked child is its parent's: a signal to the child would be handled there.
    if _pipe:
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(-1)
        for handle in _pipe:
            with suppress(OSError):
                os.close(handle)
        _pipe.clear()


os.register_at_fork(after_in_child=_forget)
