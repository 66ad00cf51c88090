"""Slots in a folder of the test, and processes that really compete for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.machine import identity
from morph_tasks.machine.heavy import memory, records
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.memory import GIB, Memory
from morph_tasks.machine.heavy.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Two slots, no demand on memory, a short patience."""
    return Settings(folder=tmp_path / "heavy", min_free_gb=0, wait_s=0)


@pytest.fixture
def ledger(settings: Settings) -> Ledger:
    made = Ledger(settings.folder, settings.max_hold_s)
    made.prepare()
    return made


@pytest.fixture
def sleeper() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Start processes that live until the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sleep", "300"]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def held_by(ledger: Ledger) -> Callable[..., Path]:
    """Record that a process holds a slot, or has a ticket."""

    def put(pid: int, folder: str = "held", **said: Any) -> Path:
        process = identity.identify(pid)
        assert process is not None
        return ledger.put(ledger.folder / folder, process, records.content(said.pop("label", "job"), **said))

    return put


@pytest.fixture
def free_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """Say how many GiB are free of how many."""

    def say(free: float, total: float = 64) -> None:
        monkeypatch.setattr(memory, "look", lambda *_: Memory(int(free * GIB), int(total * GIB)))

    return say


WORKER = """
import hashlib, os, sys
from pathlib import Path
from morph_tasks.machine.heavy import records, slots
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.settings import Settings

folder, log, rounds, wait = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
settings = Settings(folder=folder, min_free_gb=0, wait_s=wait)

def note(what, number):
    os.write(out, f"{what} {os.getpid()} {number}\\n".encode())

put = Ledger.put
def noted(self, where, process, said, number=None):
    # Under the lock, so that the log has the order in which tickets were drawn and slots granted.
    path = put(self, where, process, said, number)
    note("grant" if where == self.held else "ticket", records.number_of(path.name))
    return path
Ledger.put = noted

for turn in range(rounds):
    with slots.slot(f"turn {turn}", settings=settings) as lease:
        number = records.number_of(lease.path.name)
        note("in", number)
        hashlib.pbkdf2_hmac("sha256", b"a bit of", b"work", 2000)
        note("out", number)
    if (folder / "stop").exists():
        break
note("done", 0)
"""


@pytest.fixture
def worker(tmp_path: Path, settings: Settings) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a process that takes and gives back slots again and again, noting each step in `log`."""
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    started: list[subprocess.Popen[bytes]] = []

    def start(rounds: int, wait_s: float = 300) -> subprocess.Popen[bytes]:
        argv = [sys.executable, str(script), str(settings.folder), str(tmp_path / "log"), str(rounds), str(wait_s)]
        env = {name: value for name, value in os.environ.items() if not name.startswith("MORPH_HEAVY")}
        started.append(subprocess.Popen(argv, env=env))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def events(log: Path) -> list[tuple[str, int, int]]:
    """Return what workers noted: what, pid, ticket."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(what, int(pid), int(number)) for what, pid, number in map(str.split, lines)]


@pytest.fixture
def noted(tmp_path: Path) -> Callable[[], list[tuple[str, int, int]]]:
    return lambda: events(tmp_path / "log")


@pytest.fixture
def most_at_once(noted: Callable[[], list[tuple[str, int, int]]]) -> Callable[[], int]:
    """Replay the notes: how many held a slot at once, at most."""

    def replay() -> int:
        inside: set[int] = set()
        most = 0
        for what, pid, _ in noted():
            if what == "in":
                inside.add(pid)
            elif what in ("out", "dead"):
                inside.discard(pid)
            most = max(most, len(inside))
        return most

    return replay


@pytest.fixture
def most_overtaken(noted: Callable[[], list[tuple[str, int, int]]]) -> Callable[[], int]:
    """Replay the notes: how many earlier tickets of living processes were still waiting when one was served, at most.

    Fewer than there are slots is no injustice: each of them has a slot that waits for it.
    """

    def replay() -> int:
        waiting: dict[int, int] = {}
        most = 0
        for what, pid, number in noted():
            if what == "ticket":
                waiting[pid] = number
            elif what == "grant":
                waiting.pop(pid, None)
                most = max(most, sum(earlier < number for earlier in waiting.values()))
            elif what == "dead":
                waiting.pop(pid, None)
        return most

    return replay
