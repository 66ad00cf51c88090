"""Measure the slots for heavy jobs; print one JSON document.

`alone N`: seconds of one acquire and release in this process, the median of N. `crowd P N`: P processes take and give
back N slots each; how many were granted, lost, and held at once at most. Needs the interpreter that morph-spec is
installed in.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from morph_tasks.machine.heavy.settings import Settings
from morph_tasks.machine.heavy.slots import slot

_MEMBER = "member"


def alone(rounds: int) -> dict[str, Any]:
    """Take and give back a slot that nobody else wants."""
    with tempfile.TemporaryDirectory(prefix="morph-spec-heavy.") as folder:
        # With the look at the memory, which belongs to every acquire.
        settings = Settings(folder=Path(folder), min_free_gb=0.001)
        took = []
        for _ in range(rounds + 1):
            began = time.perf_counter()
            with slot("bench", settings=settings):
                pass
            took.append(time.perf_counter() - began)
    # The first one loads what the others use.
    return {"seconds": median(took[1:]), "first": took[0]}


def crowd(processes: int, rounds: int) -> dict[str, Any]:
    """Let processes compete, and replay what they noted."""
    with tempfile.TemporaryDirectory(prefix="morph-spec-heavy.") as folder:
        log = Path(folder) / "log"
        argv = [sys.executable, __file__, _MEMBER, folder, str(log), str(rounds)]
        began = time.perf_counter()
        members = [subprocess.Popen(argv) for _ in range(processes)]
        codes = [member.wait() for member in members]
        took = time.perf_counter() - began
        inside, most, granted = set(), 0, 0
        for line in log.read_text().splitlines():
            what, pid = line.split()
            if what == "in":
                inside.add(pid)
                granted += 1
            else:
                inside.discard(pid)
            most = max(most, len(inside))
    lost = processes * rounds - granted
    return {
        "granted": granted,
        "lost": lost,
        "most": most,
        "slots": Settings().slots,
        "failed": sum(code != 0 for code in codes),
        "seconds": took,
    }


def member(folder: str, log: str, rounds: int) -> None:
    """Be one of the crowd."""
    settings = replace(Settings(), folder=Path(folder) / "slots", min_free_gb=0)
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for _ in range(rounds):
        with slot("bench", settings=settings):
            os.write(out, f"in {os.getpid()}\n".encode())
            hashlib.pbkdf2_hmac("sha256", b"a bit of", b"work", 2000)
            os.write(out, f"out {os.getpid()}\n".encode())


def main(argv: list[str]) -> int:
    if argv[0] == _MEMBER:
        member(argv[1], argv[2], int(argv[3]))
        return 0
    found = alone(int(argv[1])) if argv[0] == "alone" else crowd(int(argv[1]), int(argv[2]))
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
