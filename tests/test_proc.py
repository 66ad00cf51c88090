from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from morph_tasks.proc import ProcError, run


def test_both_streams_and_the_code_come_back_whole() -> None:
    for _ in range(20):
        done = run(
            [sys.executable, "-c", "import sys; print('o' * 200000); print('e', file=sys.stderr); sys.exit(3)"], ok=(3,)
        )
        assert (done.code, len(done.stdout), done.stderr) == (3, 200001, b"e\n")


def test_bytes_survive(tmp_path: Path) -> None:
    done = run(["cat"], stdin=b"\xff\x00\n", cwd=tmp_path)
    assert done.stdout == b"\xff\x00\n"
    assert done.text.encode("utf-8", "surrogateescape") == done.stdout


def test_no_terminal_and_only_the_given_environment(tmp_path: Path) -> None:
    script = "import os,sys; print(sys.stdout.isatty(), sys.stdin.isatty(), sorted(os.environ))"
    done = run([sys.executable, "-I", "-c", script], env={"ONLY": "1", "LC_CTYPE": "C.UTF-8"})
    assert done.text.split()[:2] == ["False", "False"] and "PATH" not in done.text


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["no-such-program-anywhere"], "tool-missing"),
        (["false"], "command-failed"),
        (["sh", "-c", "kill -9 $$"], "command-failed"),
        (["sh", "-c", "exec sleep 30719"], "command-timeout"),
    ],
)
def test_what_goes_wrong_is_a_refusal(argv: list[str], code: str) -> None:
    with pytest.raises(ProcError) as refused:
        run(argv, timeout=0.5)
    assert refused.value.code == code


def test_a_program_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_bytes(b"\x7fELF nonsense")
    os.chmod(path, 0o755)
    with pytest.raises(ProcError):
        run([str(path)])
