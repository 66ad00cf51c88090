"""Run a program and stream what it writes, without the start-up cost of `subprocess` or `sh`."""

from __future__ import annotations

# `signal` itself costs the import of `enum`.
import _signal  # type: ignore[import-not-found]
import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CHUNK = 1 << 16
_STDERR_KEPT = 1 << 16
# Python ignores SIGPIPE, whoever started it may have ignored SIGCHLD, and a child inherits both.
_DEFAULT_IN_CHILD = (_signal.SIGPIPE, _signal.SIGCHLD)


class ChildError(Exception):
    """A program that ended with a code other than 0, or was stopped for being silent too long.

    `code` is negative for a signal, and None when the program was stopped here or its end was missed.
    """

    def __init__(self, argv: list[str], code: int | None, stderr: bytes) -> None:
        super().__init__(f"{argv[0]} ended with {code}")
        self.argv = argv
        self.code = code
        self.stderr = stderr


def stream(argv: list[str], env: Mapping[str, str], *, stdin: bytes = b"", silence_s: int = 600) -> Iterator[bytes]:
    """Start a program and yield its stdout in chunks as they come.

    Ends by raising ChildError when the exit code is not 0, or when nothing moved for `silence_s`
    seconds. Raises OSError when the program cannot start. An abandoned iterator kills the program.
    """
    pid, feed, out, err = _start(argv, env)
    opened = {feed, out, err}
    stderr = b""
    try:
        for fd, chunk in _pump((feed, out, err), opened, stdin, silence_s):
            if fd == out:
                yield chunk
            elif len(stderr) < _STDERR_KEPT:
                stderr += chunk
        code = _reap(pid)
        pid = 0
    except TimeoutError:
        raise ChildError(argv, None, stderr) from None
    finally:
        for fd in opened:
            os.close(fd)
        if pid:
            _kill(pid)
    if code != 0:
        raise ChildError(argv, code, stderr)


def _start(argv: list[str], env: Mapping[str, str]) -> tuple[int, int, int, int]:
    """Return the child's pid and our ends of its stdin, stdout and stderr."""
    fds: list[int] = []
    try:
        _keep_exit_codes()
        for _ in range(3):
            fds.extend(os.pipe())
        child_in, feed, out, child_out, err, child_err = fds
        ends = ((child_in, 0), (child_out, 1), (child_err, 2))
        actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for ours, theirs in ends]
        pid = os.posix_spawnp(argv[0], argv, env, file_actions=actions, setsigdef=_DEFAULT_IN_CHILD)
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise
    for fd in (child_in, child_out, child_err):
        os.close(fd)
    return pid, feed, out, err


def _keep_exit_codes() -> None:
    """Undo an ignored SIGCHLD, under which the kernel throws exit codes away."""
    if _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN:
        try:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        except ValueError:  # only the main thread may
            return


def _pump(ends: tuple[int, int, int], opened: set[int], stdin: bytes, silence_s: int) -> Iterator[tuple[int, bytes]]:
    """Move bytes both ways until the program closes its ends; yields what it wrote and where."""
    feed, out, err = ends
    poller = select.poll()
    poller.register(out, select.POLLIN)
    poller.register(err, select.POLLIN)
    rest = memoryview(stdin)
    if stdin:
        os.set_blocking(feed, False)
        poller.register(feed, select.POLLOUT)
    else:
        _close(feed, opened)
    while out in opened or err in opened:
        ready = poller.poll(silence_s * 1000)
        if not ready:
            raise TimeoutError
        for fd, _ in ready:
            if fd == feed:
                rest = _push(feed, rest)
                done = not rest
            else:
                chunk = os.read(fd, _CHUNK)
                done = not chunk
                if chunk:
                    yield fd, chunk
            if done:
                poller.unregister(fd)
                _close(fd, opened)


def _push(fd: int, rest: memoryview) -> memoryview:
    """Write what fits; nothing is left to write when the reader is gone."""
    try:
        return rest[os.write(fd, rest) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _close(fd: int, opened: set[int]) -> None:
    opened.discard(fd)
    os.close(fd)


def _reap(pid: int) -> int | None:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # somebody else has reaped it: how it ended is not known
        return None


def _kill(pid: int) -> None:
    try:
        os.kill(pid, _signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
