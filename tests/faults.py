"""End a command at a chosen moment, as `kill -9` does, and fill the disk under it.

A moment is the number of a change that the process is about to make: a file opened for writing, renamed, removed or
linked, a folder made, a program started. So the same number ends the same code at the same place.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from morph_tasks.repo import files

_CHANGES = {
    "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime",
    "shutil.rmtree", "os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen", "pty.spawn",
}  # fmt: skip

_RUNNER = r"""
import os, signal, sys
at, count, kill_group = int(sys.argv[1]), 0, sys.argv[2] == "group"
quiet = sys.argv[3]
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
           "shutil.rmtree", "os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen", "pty.spawn"}
def watch(event, args):
    global count
    if event == "open":
        flags = args[2] or 0
        if not (flags & (os.O_WRONLY | os.O_RDWR)) or str(args[0]).endswith((".pyc", "/dev/null")):
            return
    elif event not in CHANGES:
        return
    count += 1
    if count == at:
        os.killpg(0, signal.SIGKILL) if kill_group else os.kill(os.getpid(), signal.SIGKILL)
from morph_tasks.cli.main import main
import sh, filelock, tempfile
sys.addaudithook(watch)
code = main(sys.argv[4:])
if quiet != "-":
    with open(quiet, "w") as file:
        file.write(str(count))
sys.exit(code)
"""


def changes_of(argv: list[str], cwd: Path, *, counter: Path) -> tuple[int, int, str]:
    """Run a command to its end; return its exit code, how many changes it made, and what it said."""
    done = _run(0, argv, cwd, counter=str(counter))
    return done.returncode, int(counter.read_text()) if counter.exists() else 0, done.stdout + done.stderr


def killed_at(number: int, argv: list[str], cwd: Path, *, group: bool = False) -> bool:
    """Run a command and kill it before its change of that number; tell whether it lived to be killed.

    `group`: the programs that it started die with it.
    """
    done = _run(number, argv, cwd, group=group)
    return done.returncode == -9


def _run(
    number: int, argv: list[str], cwd: Path, *, group: bool = False, counter: str = "-"
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", _RUNNER, str(number), "group" if group else "self", counter, *argv]
    return subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=120, env=dict(os.environ),
        stdin=subprocess.DEVNULL, start_new_session=True, check=False,
    )  # fmt: skip


# The same without starting an interpreter for each run: a child of this process, which has everything imported.


@dataclass(frozen=True)
class Moment:
    """When a command dies: before its change of a number, or before or after a JSON file of state is written.

    `time`: thousandths of its usual time, which the caller turns into seconds. `group`: its programs die with it.
    """

    kind: Literal["change", "before-write", "after-write", "time"]
    number: int
    group: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.number}{' with its programs' if self.group else ''}"


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is -9 when it was killed; `changes` and `writes` are how many it made."""

    code: int
    out: str
    err: str
    changes: int = 0
    writes: int = 0


def in_child(
    argv: Sequence[str],
    cwd: Path,
    *,
    moment: Moment | None = None,
    after_s: float | None = None,
    env: Mapping[str, str] | None = None,
    prepare: Callable[[], None] = lambda: None,
    program: Literal["morph-spec", "doit"] = "morph-spec",
) -> Ended:
    """Run a command in a forked child; `after_s`: kill it and its programs when so much time has passed.

    `prepare` runs in the child before anything else, such as to lower a limit. What a killed command had started has
    ended when this returns.
    """
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder)
        for name in ("out", "err"):
            (said / name).touch()
        pid = os.fork()
        if pid == 0:
            try:
                _become(said, cwd, env or {}, prepare)
                _die(argv, said / "counted", moment, program)
            finally:
                os._exit(111)
        code = _end_of(pid, after_s)
        _wait_for_group(pid)
        counted = (said / "counted").read_text().split() if (said / "counted").exists() else ["0", "0"]
        out, err = ((said / name).read_text("utf-8", "replace") for name in ("out", "err"))
        return Ended(code, out, err, int(counted[0]), int(counted[1]))


def _become(said: Path, cwd: Path, env: Mapping[str, str], prepare: Callable[[], None]) -> None:
    os.setsid()
    for fd, name in ((1, "out"), (2, "err")):
        file = os.open(said / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.environ.update(env)
    os.chdir(cwd)
    prepare()


def _die(argv: Sequence[str], counter: Path, moment: Moment | None, program: str) -> NoReturn:
    """Run the command, dying at the moment; ends this process."""
    from morph_tasks.cli.main import main

    counted = {"change": 0, "write": 0}
    at = moment or Moment("change", 0)

    def end() -> None:
        os.killpg(0, signal.SIGKILL) if at.group else os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            flags = args[2] or 0
            if not (flags & (os.O_WRONLY | os.O_RDWR)) or str(args[0]).endswith((".pyc", "/dev/null")):
                return
        elif event not in _CHANGES:
            return
        counted["change"] += 1
        if at.kind == "change" and counted["change"] == at.number:
            end()

    write = files.write_atomic

    def watched(path: Path, data: bytes, *, mode: int = 0o644) -> None:
        counted["write"] += 1
        mine = counted["write"] == at.number
        if mine and at.kind == "before-write":
            end()
        write(path, data, mode=mode)
        if mine and at.kind == "after-write":
            end()

    files.write_atomic = watched
    sys.addaudithook(watch)
    sys.argv = [program, *argv]
    if program == "doit":
        from doit.doit_cmd import DoitMain

        sys.path.insert(0, os.getcwd())
        code = DoitMain().run(list(argv))
    else:
        code = main(list(argv))
    counter.write_text(f"{counted['change']} {counted['write']}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code or 0))


def _end_of(pid: int, after_s: float | None) -> int:
    if after_s is not None:
        deadline = time.monotonic() + after_s
        while time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has no group of its own yet
            os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _wait_for_group(group: int, limit_s: float = 30) -> None:
    """Wait until nothing of a process group lives; programs outlive the command that was killed alone."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and _lives(group):
        time.sleep(0.005)


def _lives(group: int) -> bool:
    if os.path.isdir("/proc/self"):
        return any(_group_of(entry) == group for entry in os.listdir("/proc"))
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _group_of(entry: str) -> int | None:
    """Return the group of a living process by its entry in /proc; None for anything else."""
    try:
        fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split() if entry.isdigit() else []
    except OSError:
        return None
    return int(fields[2]) if fields and fields[0] not in "ZX" else None
