from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import locked

HOLDER = """
import sys, time
from pathlib import Path
from morph_tasks.repo.files import locked
with locked(Path(sys.argv[1]), wait_s=5, what="it"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_busy_while_another_process_has_it_and_free_when_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "it.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with pytest.raises(Refusal) as caught, locked(path, wait_s=0, what="the thing"):
        pass
    assert (caught.value.code, caught.value.exit_code) == ("busy", 3)
    holder.kill()
    holder.communicate()
    with locked(path, wait_s=5, what="the thing"):
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_child_that_lives_on_does_not_keep_the_lock(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    with locked(tmp_path / "it.lock", wait_s=0, what="it"):
        child = os.fork()
        if child == 0:
            os.close(theirs)
            os.read(ours, 1)
            os._exit(0)
    os.close(ours)
    try:
        with locked(tmp_path / "it.lock", wait_s=0, what="it"):
            pass
    finally:
        os.close(theirs)
        os.waitpid(child, 0)


def test_what_cannot_be_locked_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal) as caught, locked(tmp_path / "file" / "it.lock", wait_s=0, what="it"):
        pass
    assert caught.value.code == "state-unwritable"
