from __future__ import annotations

import signal
from typing import Any

import pytest

# The signal goes to another thread than the one that has to handle it, which waits for a lock meanwhile.
SCRIPT = """
import os, signal, sys, threading, time
from pathlib import Path
from morph_tasks.machine import signals, wakeup
wakeup.PATIENCE_S = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
signals.install(lambda: Path("cleaned").write_text(threading.current_thread().name))
def other():
    time.sleep(0.1)
    signal.pthread_kill(threading.get_ident(), int(sys.argv[1]))
    time.sleep(300)
threading.Thread(target=other, daemon=True).start()
if len(sys.argv) > 2:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
lock = threading.Lock()
lock.acquire()
lock.acquire()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_interrupts_another_thread_wakes_the_main_one(start: Any, tmp_path: Any, number: int) -> None:
    process = start(SCRIPT, str(int(number)))
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (128 + number, "interrupted\n")
    assert (tmp_path / "cleaned").read_text() == "MainThread"


def test_a_main_thread_that_no_signal_reaches_is_not_waited_for(start: Any, tmp_path: Any) -> None:
    process = start(SCRIPT, str(int(signal.SIGTERM)), "0.2")
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (143, "interrupted\n")
    assert (tmp_path / "cleaned").read_text() != "MainThread"


def test_a_signal_to_a_forked_child_is_not_its_parents(start: Any) -> None:
    process = start(
        "import os, signal, time\n"
        "from morph_tasks.machine import signals\n"
        "signals.install()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    time.sleep(300)\n"
        "time.sleep(0.1)\n"
        "os.kill(pid, signal.SIGTERM)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)\n"
        "time.sleep(0.3)\n"
        "print('alive')\n"
    )
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == "143\nalive\n"


def test_who_uses_the_pipe_or_the_signal_already_keeps_it(start: Any) -> None:
    process = start(
        "import os, signal\n"
        "from morph_tasks.machine import signals, wakeup\n"
        "mine = lambda *_: None\n"
        "signal.signal(signal.SIGURG, mine)\n"
        "signals.install()\n"
        "print(signal.getsignal(signal.SIGURG) is mine, signal.set_wakeup_fd(-1))\n"
        "signal.signal(signal.SIGURG, signal.SIG_DFL)\n"
        "reader, writer = os.pipe(); os.set_blocking(writer, False); signal.set_wakeup_fd(writer)\n"
        "signals.install()\n"
        "print(signal.getsignal(signal.SIGURG) == signal.SIG_DFL, signal.set_wakeup_fd(-1) == writer)\n"
    )
    out, err = process.communicate(timeout=20)
    assert (out, err) == ("True -1\nTrue True\n", "")
