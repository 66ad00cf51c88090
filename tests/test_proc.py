from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from morph_tasks.machine.ends import await_ends
from morph_tasks.proc import ProcError, run, run_bounded


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


def test_a_bounded_program_brings_its_streams_and_any_code(tmp_path: Path) -> None:
    script = "import os,sys; sys.stdout.write(sys.stdin.read()*2); print(os.getcwd(), file=sys.stderr); sys.exit(7)"
    done = run_bounded([sys.executable, "-c", script], cwd=tmp_path, env=os.environ, stdin=b"x" * 200_000, timeout=60)
    assert (done.code, done.stdout, done.stderr.decode().strip()) == (7, b"x" * 400_000, os.path.realpath(tmp_path))


@pytest.mark.parametrize("held", ["wait", "exit 0"])
def test_a_bounded_program_ends_with_all_that_it_started(held: str, tmp_path: Path) -> None:
    with pytest.raises(ProcError) as caught:
        run_bounded(["sh", "-c", f"sleep 30719 & echo $$ $! > pids; {held}"], cwd=tmp_path, env=os.environ, timeout=0.5)
    assert caught.value.code == "command-timeout"
    assert await_ends([int(pid) for pid in (tmp_path / "pids").read_text().split()], 10) == []


def test_a_bounded_program_that_cannot_start(tmp_path: Path) -> None:
    for argv, where, code in (
        (["no-such-program-anywhere"], tmp_path, "tool-missing"),
        (["true"], tmp_path / "gone", "command-failed"),
    ):
        with pytest.raises(ProcError) as caught:
            run_bounded(argv, cwd=where, env=os.environ, timeout=5)
        assert caught.value.code == code
