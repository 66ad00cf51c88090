"""Which process is meant: number, start, boot and host, so that a reused number is nobody's."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

from morph_tasks.machine import table

State = Literal["alive", "dead", "unknown"]

_BOOT_ID = "sys/kernel/random/boot_id"
_SAME_MOMENT_S = 2.0


@dataclass(frozen=True)
class Identity:
    """One process for good; `start` is None when the system would not tell it.

    `start` is in clock ticks since boot on Linux, in microseconds of the epoch elsewhere, or an ISO time in a
    record that another program wrote. `boot` is the boot id, a slash and the pid namespace.
    """

    pid: int
    start: int | str | None
    boot: str
    host: str

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `from_json` reads."""
        return asdict(self)


def identify(pid: int) -> Identity | None:
    """Return the identity of a process, or None when no process has this number."""
    entry = table.read(pid) if pid > 0 else None
    if entry is None and not _exists(pid):
        return None
    return Identity(pid, entry.start if entry else None, boot(), host())


def me() -> Identity:
    """Return the identity of this process."""
    return _me(os.getpid())


def from_json(record: object) -> Identity | None:
    """Read an identity; None when the record cannot be one."""
    if not isinstance(record, dict):
        return None
    pid, start = record.get("pid"), record.get("start")
    where = [record.get(name) or "" for name in ("boot", "host")]
    if (
        not isinstance(pid, int)
        or isinstance(pid, bool)
        or pid <= 0
        or not all(isinstance(part, str) for part in where)
    ):
        return None
    readable = isinstance(start, (int, str)) and not isinstance(start, bool)
    return Identity(pid, start if readable else None, *where)


def parsed(text: str) -> Identity | None:
    """Read an identity from JSON text; None when it is none."""
    try:
        return from_json(json.loads(text))
    except (ValueError, RecursionError):
        return None


def state(record: object) -> State:
    """Tell whether a recorded process (an Identity or its JSON) still runs.

    A zombie is dead, and so is a number that another process has now. Another host, another pid namespace, a
    record that makes no sense or a start that cannot be read give `unknown`: nobody may reclaim on that.
    """
    known = record if isinstance(record, Identity) else from_json(record)
    if known is None:
        return "unknown"
    first = _look(known)
    # The table can change between two reads of it: dead is what two looks agree on.
    return first if first != "dead" or _look(known) == "dead" else "unknown"


def host() -> str:
    """Return the name of this machine."""
    return os.uname().nodename


@lru_cache(maxsize=1)
def boot() -> str:
    """Return what changes with each start of the machine, and the pid namespace; parts may be empty."""
    return f"{_boot_id()}/{_pid_namespace()}"


def _look(known: Identity) -> State:
    if known.host != host():
        return "unknown"
    (old_boot, _, old_space), (new_boot, _, new_space) = known.boot.partition("/"), boot().partition("/")
    if old_boot and new_boot and old_boot != new_boot:
        return "dead"
    if old_space and new_space and old_space != new_space:
        return "unknown"
    entry = table.read(known.pid)
    if entry is None:
        return "unknown" if _exists(known.pid) else "dead"
    if entry.dead:
        return "dead"
    same = _same_start(known.start, entry)
    return "unknown" if same is None else "alive" if same else "dead"


def _same_start(recorded: int | str | None, entry: table.Entry) -> bool | None:
    if isinstance(recorded, int):
        return recorded == entry.start
    began = _epoch(entry.start)
    if recorded is None or began is None:
        return None
    from datetime import datetime

    with suppress(ValueError, OverflowError, OSError):
        moment = datetime.fromisoformat(recorded)
        # Without a zone the writer may have meant either; only a mismatch with both is another process.
        readings = [moment] if moment.tzinfo else [moment.astimezone(), datetime.fromisoformat(recorded + "+00:00")]
        return any(abs(reading.timestamp() - began) <= _SAME_MOMENT_S for reading in readings)
    return None


def _epoch(start: int) -> float | None:
    if not table.mounted():
        return start / 1_000_000
    with suppress(OSError, ValueError), open(f"{table.PROC}/stat", "rb") as file:
        for line in file:
            if line.startswith(b"btime "):
                return int(line.split()[1]) + start / os.sysconf("SC_CLK_TCK")
    return None


@lru_cache(maxsize=2)
def _me(pid: int) -> Identity:
    return identify(pid) or Identity(pid, None, boot(), host())


def _exists(pid: int) -> bool:
    """Tell whether the number is taken; hidden processes (hidepid) answer too."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _boot_id() -> str:
    if sys.platform == "darwin":
        return _sysctl(b"kern.bootsessionuuid")
    with suppress(OSError), open(f"{table.PROC}/{_BOOT_ID}", encoding="ascii") as file:
        return file.read().strip()
    return ""


def _pid_namespace() -> str:
    with suppress(OSError):
        return os.readlink(f"{table.PROC}/self/ns/pid").strip("pid:[]")
    return ""


def _sysctl(name: bytes) -> str:
    import ctypes

    with suppress(OSError, AttributeError):
        value = ctypes.create_string_buffer(128)
        size = ctypes.c_size_t(len(value))
        if ctypes.CDLL(None).sysctlbyname(name, value, ctypes.byref(size), None, 0) == 0:
            return value.value.decode("ascii", "replace")
    return ""
