"""Programs stream both ways without a deadlock, and none is left behind."""

from __future__ import annotations

import os
import sys

import pytest

from morph_tasks.repo.spawn import ChildError, stream


def _python(code: str, **options: object) -> object:
    return stream([sys.executable, "-c", code], os.environ, **options)  # type: ignore[arg-type]


def _open_files() -> int:
    return len(os.listdir("/dev/fd"))


def test_output_comes_as_it_is_written() -> None:
    assert b"".join(_python("print('a' * 200_000)")) == b"a" * 200_000 + b"\n"
    assert b"".join(_python("pass")) == b""


def test_more_in_and_out_than_pipes_hold() -> None:
    echo = "import sys; [(sys.stdout.buffer.write(l), sys.stderr.write('x' * 99)) for l in sys.stdin.buffer]"
    data = b"".join(b"%d\n" % number for number in range(100_000))

    assert b"".join(_python(echo, stdin=data)) == data


def test_a_program_that_does_not_read_its_input() -> None:
    assert b"".join(_python("print(1)", stdin=b"x" * 1_000_000)) == b"1\n"


def test_failure_carries_code_and_stderr_after_the_output() -> None:
    started = _python("import sys; print(1); sys.stderr.write('why'); sys.exit(3)")
    seen = []
    with pytest.raises(ChildError) as failed:
        seen.extend(started)

    assert (seen, failed.value.code, failed.value.stderr) == ([b"1\n"], 3, b"why")
    assert failed.value.argv[1] == "-c"


def test_a_signal_is_a_negative_code() -> None:
    with pytest.raises(ChildError) as failed:
        list(_python("import os; os.kill(os.getpid(), 9)"))

    assert failed.value.code == -9


def test_a_silent_program_is_stopped() -> None:
    with pytest.raises(ChildError) as failed:
        list(_python("import time; time.sleep(600)", silence_s=0))

    assert failed.value.code is None


def test_an_unknown_program() -> None:
    before = _open_files()
    with pytest.raises(FileNotFoundError):
        list(stream(["no-such-program-anywhere"], os.environ))

    assert _open_files() == before


def test_nothing_is_left_behind() -> None:
    before = _open_files()
    abandoned = _python("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    pid = int(next(abandoned))
    abandoned.close()
    list(_python("pass", stdin=b"1"))

    assert _open_files() == before
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_child_does_not_inherit_the_ignored_sigpipe() -> None:
    said = b"".join(_python("import _signal; print(_signal.getsignal(_signal.SIGPIPE))"))

    # Python itself sets it to ignored at its start; a shell shows what it was given.
    assert said
    shell = b"".join(stream(["sh", "-c", "yes | head -n1"], os.environ))
    assert shell == b"y\n"
