"""The process table as one user sees it: who runs, in which group and session, with which marks."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

PROC = "/proc"

RUN_ID = "MORPH_RUN_ID"
RUN_MARKS = "MORPH_RUN_MARKS"
RUN_OWNER = "MORPH_RUN_OWNER"

_EXEC_S = 0.002
_PSUTIL_STATES = {"zombie": "Z", "dead": "X"}


@dataclass(frozen=True)
class Entry:
    """One process: `start` is in clock ticks since boot on Linux, in microseconds of the epoch elsewhere."""

    pid: int
    ppid: int
    group: int
    session: int
    state: str
    start: int
    threads: int
    name: str

    @property
    def dead(self) -> bool:
        """Tell whether nothing of it runs any more.

        A process whose first thread ended shows as a zombie while its other threads still run.
        """
        return self.state in ("Z", "X") and self.threads <= 1

    @property
    def key(self) -> tuple[int, int]:
        """Return what tells it from a later process with the same number."""
        return self.pid, self.start

    def __str__(self) -> str:
        return f"{self.pid} {self.name}"


@dataclass(frozen=True)
class Marks:
    """What a supervised process carries in its environment; `tokens` name its groups, the outermost first."""

    run_id: str
    tokens: tuple[str, ...]
    owner: str


def read(pid: int) -> Entry | None:
    """Return one process, or None when there is none or it is hidden from this user."""
    raw = _slurp(f"{PROC}/{pid}/stat")
    if raw is not None:
        return parse_stat(raw)
    return None if mounted() else _psutil_entry(pid)


def parse_stat(raw: bytes) -> Entry | None:
    """Read the line of /proc/<pid>/stat; the name may hold anything, parentheses included."""
    opening, closing = raw.find(b"("), raw.rfind(b")")
    fields = raw[closing + 1 :].split()
    try:
        return Entry(
            pid=int(raw[:opening]),
            state=fields[0].decode("ascii"),
            ppid=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            threads=int(fields[17]),
            start=int(fields[19]),
            name=_printable(raw[opening + 1 : closing]),
        )
    except (ValueError, IndexError):
        return None


def snapshot(*, since: int = 0) -> dict[int, Entry]:
    """Return the processes that can be seen, by number.

    `since` is the number of a process that started a moment ago: only those made after it are read, which keeps
    the end of a short command cheap on a machine with thousands of processes.
    """
    entries = (read(pid) for pid in _pids(since))
    return {entry.pid: entry for entry in entries if entry is not None}


def marks(pid: int) -> Marks | None:
    """Return the marks of a process of this user, or None when it has none or will not show them."""
    environment = _environment(pid)
    if environment is None or RUN_ID.encode() not in environment:
        return None
    found: dict[bytes, bytes] = {}
    for pair in environment.split(b"\0"):
        name, _, value = pair.partition(b"=")
        if name.startswith(b"MORPH_RUN_"):
            found[name] = value
    if RUN_ID.encode() not in found:
        return None
    run_id, tokens, owner = (
        found.get(name.encode(), b"").decode("utf-8", "replace") for name in (RUN_ID, RUN_MARKS, RUN_OWNER)
    )
    return Marks(run_id, tuple(tokens.split()), owner)


def command_line(pid: int) -> str:
    """Return what a process was started with, on one line, or an empty string."""
    raw = _slurp(f"{PROC}/{pid}/cmdline")
    if raw is None and not mounted():
        raw = "\0".join(_psutil_call(pid, "cmdline") or ()).encode("utf-8", "surrogateescape")
    return _printable((raw or b"").rstrip(b"\0").replace(b"\0", b" "))


def family(table: dict[int, Entry], roots: Iterable[int]) -> set[int]:
    """Return the numbers of all descendants of `roots`, the roots not included."""
    children: dict[int, list[int]] = {}
    for entry in table.values():
        parent = table.get(entry.ppid)
        # A parent younger than its child only has the number of the real one.
        if parent is None or parent.start <= entry.start:
            children.setdefault(entry.ppid, []).append(entry.pid)
    found: set[int] = set()
    queue = list(roots)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def ancestors() -> set[int]:
    """Return this process and those above it: what must never be stopped from here."""
    found: set[int] = {0, 1}
    pid = os.getpid()
    while pid not in found:
        found.add(pid)
        entry = read(pid)
        pid = entry.ppid if entry else os.getppid()
    return found


def mounted() -> bool:
    """Tell whether this system shows its processes as files."""
    return os.access(f"{PROC}/self/stat", os.R_OK)


def _pids(since: int) -> list[int]:
    if not mounted():
        psutil = _psutil()
        with suppress(OSError, psutil.Error):
            return list(psutil.pids())
        return []
    numbers = [int(name) for name in os.listdir(PROC) if name.isdecimal()]
    # Numbers grow until they wrap; the last one given out tells whether they did.
    last = (_slurp(f"{PROC}/loadavg") or b"").split()[-1:]
    if since and last and last[0].isdigit() and int(last[0]) >= since:
        return [number for number in numbers if number >= since]
    return numbers


def _environment(pid: int) -> bytes | None:
    if not mounted():
        pairs = _psutil_call(pid, "environ") or {}
        return "\0".join(f"{name}={value}" for name, value in pairs.items()).encode("utf-8", "surrogateescape")
    try:
        if os.stat(f"{PROC}/{pid}").st_uid != os.geteuid():
            return None
        found = _slurp(f"{PROC}/{pid}/environ")
        if found == b"":
            # In the middle of an exec there is none for a moment. A thread of the kernel has no program either.
            os.readlink(f"{PROC}/{pid}/exe")
            time.sleep(_EXEC_S)
            found = _slurp(f"{PROC}/{pid}/environ")
        return found
    except OSError:
        return None


def _slurp(path: str) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        chunks = []
        while chunk := os.read(handle, 1 << 16):
            chunks.append(chunk)
        return b"".join(chunks)
    except OSError:
        return None
    finally:
        os.close(handle)


def _psutil_entry(pid: int) -> Entry | None:
    psutil = _psutil()
    with suppress(psutil.Error, OSError, ValueError, OverflowError):
        process = psutil.Process(pid)
        with process.oneshot():
            status = process.status()
            return Entry(
                pid=pid,
                ppid=process.ppid(),
                group=_number(os.getpgid, pid),
                session=_number(os.getsid, pid),
                state=_PSUTIL_STATES.get(status, "R"),
                start=round(process.create_time() * 1_000_000),
                threads=1,
                name=_printable(process.name().encode("utf-8", "replace")),
            )
    return None


def _psutil_call(pid: int, method: str) -> Any:
    psutil = _psutil()
    with suppress(psutil.Error, OSError, ValueError, OverflowError):
        process = psutil.Process(pid)
        if process.uids().effective == os.geteuid():
            return getattr(process, method)()
    return None


def _psutil() -> Any:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    return psutil


def _number(ask: Any, pid: int) -> int:
    # A zombie has no session on some systems; -1 is nobody's.
    try:
        return int(ask(pid))
    except OSError:
        return -1


def _printable(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return re.sub(r"[^\x20-\x7e\xa0-\uffff]", "?", text)
