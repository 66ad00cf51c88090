"""Starting a command with nothing inherited: no terminal, no input, no open files, no ignored signals."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.machine import table
from morph_tasks.machine.live import Record

if TYPE_CHECKING:
    import subprocess

SHELL = "/bin/sh"

_PASSED_ON = tuple(
    getattr(signal, f"SIG{name}")
    for name in ("HUP", "INT", "QUIT", "TERM", "CHLD", "USR1", "USR2", "ALRM", "TSTP", "TTIN", "TTOU")
)


def spawn(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], out: int, *, keep: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, its output going to `out`; raises Refusal `command-not-started`.

    `keep`: open files that it inherits; all others it does not.
    """
    import subprocess

    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            close_fds=True,
            pass_fds=tuple(keep),
            preexec_fn=_reset_signals if _inherits_signals() else None,
        )
    except FileNotFoundError:
        what = f"`{argv[0]}` is not there, or names an interpreter that is not"
        raise not_started(what, fix=f"install `{argv[0]}` or correct the command", command=argv) from None
    except PermissionError as error:
        raise not_started(f"{error.filename or argv[0]} may not be run", fix="check its mode", command=argv) from None
    except (OSError, ValueError) as error:
        raise not_started(getattr(error, "strerror", None) or str(error), command=argv) from None


def _inherits_signals() -> bool:
    """Tell whether a child would start with signals ignored (nohup, a job in the background) or blocked."""
    ignored = any(signal.getsignal(number) == signal.SIG_IGN for number in _PASSED_ON)
    return ignored or bool(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def _reset_signals() -> None:
    for number in _PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def argv_of(command: str | Sequence[str], cwd: Path) -> list[str]:
    """Return what is run for a command; raises Refusal `command-not-started` where that is nothing, or nowhere."""
    argv = [SHELL, "-c", command] if isinstance(command, str) else [os.fspath(part) for part in command]
    if not argv or not argv[-1 if isinstance(command, str) else 0].strip():
        raise not_started("it is empty", fix="give the node a command", command=argv)
    if not os.path.isdir(cwd):
        raise not_started(f"the folder {cwd} is not there", fix="create it, or correct the node's `cwd`", command=argv)
    return argv


def marks_of(record: Record) -> dict[str, str]:
    """Return the environment variables by which the processes of a group are known."""
    # The tokens of the runs around this one stay: whoever ends an outer command finds what an inner one started.
    outer = os.environ.get(table.RUN_MARKS, "")
    return {
        table.RUN_ID: record.run_id,
        table.RUN_MARKS: f"{outer} {record.token}".strip(),
        table.RUN_OWNER: json.dumps(record.owner.as_json()),
    }


@contextmanager
def opened(log: Path) -> Iterator[int]:
    """Give the log, open for appending and private; raises Refusal `command-not-started`."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(log, flags, 0o600)
    except OSError as error:
        raise not_started(f"its log {log} cannot be written: {error.strerror}", fix="check the folder") from None
    try:
        # One that was there before may be readable for others; one of another user stays as it is.
        with suppress(PermissionError):
            os.fchmod(handle, 0o600)
        yield handle
    finally:
        os.close(handle)


def not_started(why: str, *, fix: str = "", command: Sequence[str] = ()) -> Refusal:
    """Return the refusal of a command that does not run."""
    shown = " ".join(command[2:] if command[:2] == [SHELL, "-c"] else command)[:200]
    return Refusal("command-not-started", f"the command could not be started: {why}", fix=fix, command=shown)
