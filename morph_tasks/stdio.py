"""Standard streams that forgive: a reader that left, a closed descriptor, a full disk, signs that cannot be encoded."""

import errno
import os
import sys

_lost: list[OSError] = []


def forgive() -> None:
    """Let nothing that is printed raise: what cannot be written is dropped, and `settle` knows of it.

    The streams are changed in place: doit keeps the objects that it found when it was imported.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Else the next file that is opened becomes stdout.
            os.open(os.devnull, os.O_RDWR)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif "write" not in getattr(stream, "__dict__", ("write",)):
            _guard(stream)


def say_interrupted() -> None:
    """Say that the command was broken off; also as the JSON document that was asked for. Safe in a signal handler."""
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    # A terminal shows `^C` at the start of the line.
    said = [(2, b"\ninterrupted\n" if os.isatty(2) else b"interrupted\n")]
    if "--json" in own:
        said.append((1, b'{"ok": false, "code": "interrupted", "message": "it was broken off", "fix": ""}\n'))
    for number, text in said:
        try:
            os.write(number, text)
        except OSError:  # nobody listens
            continue


def leave_quietly() -> None:
    """Make Ctrl-C end this process without a traceback while it has not started anything."""
    import signal

    def leave(signum: int, _: object) -> None:
        say_interrupted()
        os._exit(128 + signum)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        try:
            signal.signal(signal.SIGINT, leave)
        except ValueError:  # only the main thread may
            return


def settle(code: int) -> int:
    """Flush, and return the exit code; 1 instead of 0 when something was lost that a reader waits for."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    full = [error for error in _lost if error.errno != errno.EPIPE]
    if full:
        sys.stderr.write(f"error write-failed: the output could not be written: {full[0].strerror}\n")
    return code or (1 if full else 0)


def _guard(stream) -> None:  # type: ignore[no-untyped-def]
    write, flush = stream.write, stream.flush
    stream.reconfigure(errors="backslashreplace")

    def guarded_write(text: str) -> int:
        try:
            write(text)
        except OSError as error:
            _drop(stream, error)
        return len(text)

    def guarded_flush() -> None:
        try:
            flush()
        except OSError as error:
            _drop(stream, error)

    stream.write, stream.flush = guarded_write, guarded_flush


def _drop(stream, error: OSError) -> None:  # type: ignore[no-untyped-def]
    _lost.append(error)
    # What is still in the buffer would raise again when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), stream.fileno())
