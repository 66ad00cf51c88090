"""End a command at a chosen moment, as `kill -9` does, and fill the disk under it.

A moment is the number of a change that the process is about to make: a file opened for writing, renamed, removed or
linked, a folder made, a program started. So the same number ends the same code at the same place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
