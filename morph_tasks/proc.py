"""The one door to other programs: argv lists in, bytes and an exit code out."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    import subprocess

_TAIL = 2000


@dataclass(frozen=True)
class Completed:
    """What a finished program left behind."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Return stdout as text; bytes that are not UTF-8 survive as surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape")


class ProcError(Refusal):
    """A program that could not run, ran too long, or ended with a code nobody expected."""

    def __init__(self, code: str, what: str, *, done: Completed | None = None, fix: str = "") -> None:
        super().__init__(code, what, fix=fix)
        self.done = done


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 120,
    ok: Collection[int] = (0,),
) -> Completed:
    """Run a program to its end and return what it wrote.

    `timeout` is in seconds. Raises ProcError: `tool-missing`, `command-timeout`, or
    `command-failed` when the exit code is not in `ok`.
    """
    import sh

    name, *args = argv
    try:
        command = sh.Command(name)
    except sh.CommandNotFound:
        raise ProcError("tool-missing", f"`{name}` is not on the PATH", fix=f"install {name}") from None
    try:
        ran = command(
            # One byte a sign: sh would refuse paths that are not UTF-8.
            *(os.fsencode(arg).decode("latin-1") for arg in args),
            _encoding="latin-1",
            _cwd=str(cwd) if cwd else None,
            _env=dict(env) if env is not None else None,
            _in=stdin,
            _tty_out=False,
            _bg=True,
            _bg_exc=False,
            _out_bufsize=1 << 16,
            _err_bufsize=1 << 16,
            _return_cmd=True,
        )
        _wait(ran, timeout)
        done = Completed(tuple(argv), ran.exit_code, ran.stdout, ran.stderr)
    except sh.TimeoutException:
        raise ProcError("command-timeout", f"`{_shown(argv)}` did not end within {timeout:g} s") from None
    except sh.ForkException as error:
        raise ProcError("command-failed", f"`{_shown(argv)}` could not start: {_last_line(str(error))}") from None
    except sh.ErrorReturnCode as error:
        done = Completed(tuple(argv), error.exit_code, error.stdout, error.stderr)
    if done.code not in ok:
        raise ProcError("command-failed", f"`{_shown(argv)}` ended with {done.code}: {tail(done)}", done=done)
    return done


def _wait(ran: Any, timeout: float) -> None:
    """Wait for a program and kill it when its time is up.

    Not by `_timeout` or `wait(timeout)` of sh: the one costs 0.1 s a call, the other may return before the output
    is read.
    """
    import sh

    late = threading.Event()

    def end() -> None:
        late.set()
        with suppress(ProcessLookupError):
            ran.kill()

    timer = threading.Timer(timeout, end)
    timer.daemon = True
    timer.start()
    try:
        ran.wait()
    except sh.ErrorReturnCode:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    if late.is_set():
        raise sh.TimeoutException(None, str(ran.ran))


def run_bounded(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", timeout: float
) -> Completed:
    """Run a program in a session of its own and return what it wrote, whatever its exit code.

    When `timeout` seconds are over, it is killed with all that it started. Without `sh`, whose import costs more than
    many an answer. Raises ProcError `tool-missing`, `command-timeout`, `command-failed` when it cannot start.
    """
    import subprocess

    try:
        child = subprocess.Popen(
            list(argv), cwd=os.fspath(cwd), env=dict(env), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == os.fspath(cwd):
            raise ProcError("command-failed", f"`{_shown(argv)}` could not start: {error}") from None
        raise ProcError("tool-missing", f"`{argv[0]}` is not on the PATH", fix=f"install {argv[0]}") from None
    except OSError as error:
        raise ProcError("command-failed", f"`{_shown(argv)}` could not start: {error.strerror}") from None
    try:
        out, err = child.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        raise ProcError("command-timeout", f"`{_shown(argv)}` did not end within {timeout:g} s") from None
    finally:
        _end_session(child)
    return Completed(tuple(argv), child.returncode, out, err)


def _end_session(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a program; its pipes are not read to the end, since an escaped child may hold them."""
    if child.returncode is None:  # not reaped yet, so that its number is nobody else's
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, 9)
        child.wait()
    for end in (child.stdin, child.stdout, child.stderr):
        with suppress(OSError, ValueError):
            if end:
                end.close()


def tail(done: Completed) -> str:
    """Return the last part of what a program said, errors first."""
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return said[-_TAIL:] or "it said nothing"


def _shown(argv: Sequence[str]) -> str:
    return " ".join(argv)[:200]


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else "unknown reason"
