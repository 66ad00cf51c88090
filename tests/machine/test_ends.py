from __future__ import annotations

import errno
import os
import select
import subprocess
import threading
from collections.abc import Callable

import pytest

from morph_tasks.machine import ends


@pytest.fixture(params=["told", "refused", "looking"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Wait as the kernel tells, as in a sandbox that forbids the call, and where there is no such call."""
    if request.param == "refused":

        def denied(_: int) -> int:
            raise PermissionError(errno.EPERM, "seccomp")

        monkeypatch.setattr(os, "pidfd_open", denied, raising=False)
    if request.param == "looking":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
        monkeypatch.delattr(select, "kqueue", raising=False)
    return str(request.param)


def test_what_still_runs_is_returned_after_the_time(kind: str, bystander: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen(["true"]) as short:
        assert ends.await_ends([short.pid, bystander.pid], 0.3) == [bystander.pid]


def test_a_child_that_ended_is_not_reaped(kind: str) -> None:
    with subprocess.Popen(["sh", "-c", "exit 7"]) as child:
        assert ends.await_ends([child.pid], float("inf")) == []
        assert ends.ended(child.pid)
        assert child.wait() == 7


def test_a_zombie_has_ended_and_so_has_nobody(kind: str, zombie: int) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    assert ends.await_ends([zombie, gone.pid], float("inf")) == []


def test_a_strangers_end_is_noticed(kind: str, bystander: subprocess.Popen[bytes]) -> None:
    # Its parent is a shell: this process cannot wait for it as for a child.
    shell = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    assert shell.stdout is not None
    pid = int(shell.stdout.readline())
    assert not ends.ended(pid)
    threading.Timer(0.05, os.kill, (pid, 9)).start()
    assert ends.await_ends([pid], float("inf")) == []
    shell.communicate()


def test_no_time_means_one_look(kind: str, bystander: subprocess.Popen[bytes], zombie: int) -> None:
    assert ends.await_ends([bystander.pid, zombie], 0) == [bystander.pid]
    assert ends.await_ends([], float("inf")) == []


def test_too_many_processes_to_watch_are_looked_at(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., object]
) -> None:
    real, calls = os.pidfd_open, []

    def scarce(pid: int) -> int:
        calls.append(pid)
        if len(calls) > 2:
            raise OSError(errno.EMFILE, "too many open files")
        return real(pid)

    monkeypatch.setattr(os, "pidfd_open", scarce)
    children = [subprocess.Popen(["true"]) for _ in range(5)]
    assert ends.await_ends([child.pid for child in children], float("inf")) == []
    assert len(calls) == 5
    for child in children:
        child.wait()


def test_no_file_stays_open(bystander: subprocess.Popen[bytes]) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        ends.await_ends([bystander.pid], 0)
    assert len(os.listdir("/dev/fd")) == before
