"""Twenty processes that compete, and processes that are killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.settings import Settings
from morph_tasks.machine.heavy.slots import slot
from morph_tasks.machine.heavy.status import status

Worker = Callable[..., subprocess.Popen[bytes]]
Noted = Callable[[], list[tuple[str, int, int]]]


def test_twenty_processes_take_a_thousand_slots_in_turn(
    worker: Worker,
    noted: Noted,
    most_at_once: Callable[[], int],
    most_overtaken: Callable[[], int],
    settings: Settings,
    ledger: Ledger,
) -> None:
    processes = [worker(50) for _ in range(20)]
    assert [process.wait(timeout=300) for process in processes] == [0] * 20
    entered = [number for what, _, number in noted() if what == "in"]
    assert len(entered) == len(set(entered)) == 1000
    assert most_at_once() == settings.slots
    assert most_overtaken() < settings.slots
    assert _left(ledger) == []


@pytest.mark.parametrize("seed", range(3))
def test_kills_at_any_moment_neither_block_nor_oversubscribe(
    seed: int,
    worker: Worker,
    noted: Noted,
    most_at_once: Callable[[], int],
    most_overtaken: Callable[[], int],
    wait_until: Callable[[Callable[[], Any], str], Any],
    settings: Settings,
    ledger: Ledger,
    tmp_path: Path,
) -> None:
    chance = random.Random(seed)
    processes = [worker(1_000_000) for _ in range(6)]
    seen = 0
    for _ in range(12):
        seen += chance.randrange(1, 40)
        wait_until(lambda: len(noted()) >= seen, "the others go on")  # noqa: B023
        victim = processes.pop(chance.randrange(len(processes)))
        _kill(victim, tmp_path / "log")
        seen = len(noted())
        processes.append(worker(1_000_000))
    # Killed in the middle of the last steps too, they must not be in the way of those that end by themselves.
    for victim in processes[:3]:
        _kill(victim, tmp_path / "log")
    (settings.folder / "stop").touch()
    assert [process.wait(timeout=300) for process in processes[3:]] == [0] * 3
    assert 1 <= most_at_once() <= settings.slots
    # One more: between the moment it stands still and the note of it, a victim may be passed over.
    assert most_overtaken() <= settings.slots
    found = status(settings)
    assert (found.holders, found.waiting) == ((), ())
    with slot("after it", settings=settings) as lease:
        assert lease.path is not None


def _kill(victim: subprocess.Popen[bytes], log: Path) -> None:
    """Kill at once, wherever it is; noted while it stands still, before anybody can take what it held."""
    victim.send_signal(signal.SIGSTOP)
    _, state = os.waitpid(victim.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(state)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"dead {victim.pid} 0\n".encode())
    os.close(handle)
    victim.kill()
    victim.wait()


def _left(ledger: Ledger) -> list[str]:
    return [name for folder in (ledger.held, ledger.queue, ledger.cleaning) for name in os.listdir(folder)]
