"""Real processes for the tests of the process layer, and the certainty that none of them outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.machine import table

PATIENCE_S = 20.0


def _wait_until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.01)
    return found


@pytest.fixture
def wait_until() -> Callable[[Callable[[], Any], str], Any]:
    """Wait for a condition, bounded."""
    return _wait_until


@pytest.fixture
def run_id() -> Iterator[str]:
    """Name a run of this test alone; whatever still carries the name at the end is killed."""
    name = f"test-{uuid.uuid4().hex}"
    yield name
    for entry in _survivors(name):
        os.kill(entry.pid, signal.SIGKILL)


@pytest.fixture
def survivors(run_id: str) -> Callable[[], list[table.Entry]]:
    """List the living processes of this test's run."""
    return lambda: _survivors(run_id)


def _survivors(run_id: str) -> list[table.Entry]:
    found = []
    for pid, entry in table.snapshot().items():
        marks = table.marks(pid)
        if marks is not None and marks.run_id == run_id and not entry.dead:
            found.append(entry)
    return found


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that has nothing to do with any run."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


@pytest.fixture
def zombie() -> Iterator[int]:
    """Give the number of a process that ended and that nobody reaps."""
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield process.pid


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python script in a process of its own, which is killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def run(script: str, *args: str, **options: Any) -> subprocess.Popen[str]:
        path = tmp_path / f"script{len(started)}.py"
        path.write_text(script)
        process = subprocess.Popen(
            [sys.executable, str(path), *args],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
