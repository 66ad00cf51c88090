"""One run of graphify: in a session of its own, bounded in time, of its output only the end is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.codegraph.ask import printable
from morph_tasks.errors import Refusal
from morph_tasks.machine.starting import spawn

LIMIT_VARIABLE = "MORPH_GRAPH_TIMEOUT_S"
_LIMIT_S = 1800.0
_KEPT = 16384
_GRACE_S = 2.0


@dataclass(frozen=True)
class Ended:
    """How a run ended. `code`: None when its time was up; `said`: the last of what it wrote, both streams."""

    code: int | None
    said: str

    @property
    def last_line(self) -> str:
        """Return the last line that says something: of a traceback, what went wrong."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        return printable(lines[-1][:300]) if lines else "it said nothing"


def limit_s() -> float:
    """Return after how many seconds a run is stopped; raises Refusal `bad-limit` (2)."""
    said = os.environ.get(LIMIT_VARIABLE, "")
    try:
        limit = float(said) if said else _LIMIT_S
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        fix = f"export {LIMIT_VARIABLE}=1800"
        raise Refusal("bad-limit", f"{LIMIT_VARIABLE} is not a number of seconds: {said!r}", fix=fix, exit_code=2)
    return limit


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    keep: int,
    timeout_s: float,
    hear: Callable[[str], None] = lambda _: None,
) -> Ended:
    """Run a program to its end; `keep`: an open file that it inherits. Raises Refusal `command-not-started`.

    `hear` gets the last line of each piece that it writes, in a thread of its own.
    Whatever ends the wait, a signal included, ends the program and all that it started.
    """
    kept = bytearray()
    with _ending() as started:
        reader, writer = os.pipe()
        try:
            with _undisturbed():
                child = spawn(argv, cwd, env, writer, keep=(keep,))
                started.append(child)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        drain = threading.Thread(target=_drain, args=(reader, kept, hear), daemon=True)
        drain.start()
        try:
            code: int | None = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
    drain.join(_GRACE_S)
    return Ended(code, bytes(kept[-_KEPT:]).decode("utf-8", "replace"))


@contextmanager
def _ending() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Give a list for the program that is started; its session ends with the context, or with this process."""
    from morph_tasks.machine import signals

    started: list[subprocess.Popen[bytes]] = []

    def end(number: int) -> None:
        for child in started:
            if child.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, number)

    # Before anything starts: a signal in between would leave it behind.
    signals.install(lambda: end(signal.SIGKILL))
    try:
        yield started
    finally:
        end(signal.SIGTERM)
        for child in started:
            with suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE_S)
            end(signal.SIGKILL)
            child.wait()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put signals off until what was started is known; the program itself is started without any put off."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _drain(reader: int, kept: bytearray, hear: Callable[[str], None]) -> None:
    with open(reader, "rb", buffering=0) as file:
        while chunk := file.read(_KEPT):
            kept += chunk
            words = chunk.decode("utf-8", "replace").split("\n")
            last = next((line.strip() for line in reversed(words) if line.strip()), "")
            if last:
                hear(printable(last[:200]))
            del kept[:-_KEPT]
