"""Programs stream both ways without a deadlock, and none is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
    seen = b""
    with pytest.raises(ChildError) as failed:
        for chunk in started:
            seen += chunk

    assert (seen, failed.value.code, failed.value.stderr) == (b"1\n", 3, b"why")
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


def test_exit_codes_survive_an_ignored_sigchld() -> None:
    ask = (
        "import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from morph_tasks.repo.spawn import ChildError, stream\n"
        "try: list(stream(['sh', '-c', 'exit 7'], os.environ))\n"
        "except ChildError as error: print(error.code)"
    )

    assert b"".join(_python(ask)) == b"7\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_standard_files(closed: str, tmp_path: Path) -> None:
    ask = (
        "import os, sys; from morph_tasks.repo.spawn import stream\n"
        "said = b''.join(stream(['sh', '-c', 'cat; echo err >&2; echo out'], os.environ, stdin=b'in '))\n"
        "open(sys.argv[1], 'wb').write(said)"
    )
    said = tmp_path / "said"
    list(stream(["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", ask, str(said)], os.environ))

    assert said.read_bytes() == b"in out\n"


def test_the_child_does_not_inherit_the_ignored_sigpipe() -> None:
    said = b"".join(stream(["bash", "-c", "yes | head -n1 >&2; echo ${PIPESTATUS[0]}"], os.environ))

    assert said == b"141\n", "ignored, `yes` would end with 1 and a complaint"
