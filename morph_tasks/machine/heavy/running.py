"""Run a command in the foreground as if it had been called without us: its streams, its signals, its exit code."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from morph_tasks.machine.signals import from_terminal

CANNOT_EXECUTE = 127

_FORWARDED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
# A terminal sends these to the whole foreground group, so that the command has them already.
_BY_TERMINAL = {signal.SIGINT, signal.SIGQUIT}


def run_through(argv: Sequence[str], env: Mapping[str, str], on_failure: Callable[[str], None]) -> int:
    """Run `argv` without a shell and return its exit code: 128 + N for signal N, 127 when it cannot be executed.

    `on_failure` is told why it could not be executed. Signals that we get in the meantime are passed on.
    """
    with _forwarding() as passed_on:
        try:
            # The same group and all open files: a terminal, and what a caller hands through, belong to the command.
            process = subprocess.Popen(argv, env=dict(env), close_fds=False)
        except (OSError, ValueError) as error:
            on_failure(getattr(error, "strerror", None) or str(error))
            return CANNOT_EXECUTE
        passed_on.to(process)
        code = process.wait()
    return code if code >= 0 else 128 - code


class _PassedOn:
    """Signals on their way to the command; what comes before it started reaches it as soon as it has."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        while self._early:
            self._send(self._early.pop(0))

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif number not in _BY_TERMINAL or not from_terminal():
            self._send(number)

    def _send(self, number: int) -> None:
        with suppress(OSError):
            if self._process is not None:
                self._process.send_signal(number)


@contextmanager
def _forwarding() -> Iterator[_PassedOn]:
    passed_on = _PassedOn()
    before: dict[int, Any] = {}
    for name in _FORWARDED:
        number = getattr(signal, name)
        # What is ignored (nohup, a job in the background) stays so, for the command as well.
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, passed_on)
    try:
        yield passed_on
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
