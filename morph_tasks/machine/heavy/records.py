"""Who holds or awaits a slot: one small file each, whose name alone tells which process it belongs to."""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.machine import identity, table
from morph_tasks.machine.identity import Identity

# number, pid, start, and where the pid means something: boot, pid namespace and host
_NAME = re.compile(r"^(\d{20})-(\d{1,10})-(\d{1,20}|x)-([0-9a-f]{8})\.json$")
_LARGEST = 10**20 - 1
_MOST_BYTES = 64 * 1024
_LONGEST = 1000


@dataclass(frozen=True)
class Record:
    """One file. `number` orders tickets; `process` is None when nothing tells whose it is; `said` is its content."""

    path: Path
    number: int
    process: Identity | None
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def token(self) -> str:
        return self.text("token")

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    def text(self, key: str) -> str:
        """Return a text of the content; "" when it is missing or something else."""
        value = self.said.get(key)
        return printable(value, _LONGEST) if isinstance(value, str) else ""

    def age_s(self) -> float:
        """Return how old it is, in seconds; by the clock that nobody sets wherever that is possible."""
        since = self.said.get("ticks")
        if isinstance(since, int | float) and not isinstance(since, bool) and self._of_this_boot():
            age = ticks() - since
            if age >= 0:
                return age
        with suppress(OSError):
            return max(0.0, time.time() - self.path.stat().st_mtime)
        return 0.0

    def dead(self) -> bool:
        """Tell whether its process surely is gone; what cannot be told is not."""
        return self.process is not None and identity.state(self.process) == "dead"

    def stopped(self) -> bool:
        """Tell whether its process was stopped (Ctrl-Z) and can use no turn."""
        entry = table.read(self.process.pid) if self.process and self._here() else None
        return entry is not None and entry.state in ("T", "t")

    def as_json(self) -> dict[str, Any]:
        """Return what people want to know of it."""
        return {
            "pid": self.pid,
            "label": self.text("label"),
            "feature": self.text("feature") or None,
            "node": self.text("node") or None,
            "ageSec": round(self.age_s()),
            "since": self.text("since") or None,
            "cwd": self.text("cwd") or None,
        }

    def __str__(self) -> str:
        parts = [self.text("label"), self.text("feature"), self.text("node")]
        about = " ".join(dict.fromkeys(part for part in parts if part))
        who = f"pid {self.pid}" if self.pid else self.path.name
        return f"{who} {about} ({ago(self.age_s())})".replace("  ", " ")

    def _here(self) -> bool:
        return self.process is not None and (self.process.host, self.process.boot) == (identity.host(), identity.boot())

    def _of_this_boot(self) -> bool:
        here, there = identity.boot().partition("/")[0], (self.process.boot if self.process else "").partition("/")[0]
        return bool(here) and here == there and self.process is not None and self.process.host == identity.host()


def name_of(number: int, process: Identity) -> str:
    """Return the file name of a record."""
    start = process.start if isinstance(process.start, int) and process.start >= 0 else "x"
    return f"{min(number, _LARGEST):020d}-{process.pid}-{start}-{_place(process)}.json"


def number_of(name: str) -> int | None:
    """Return the number in a file name; None when it is no record of ours."""
    found = _NAME.match(name)
    return int(found[1]) if found else None


def read(path: Path) -> Record | None:
    """Read a record; None when the file is gone or tells of no process at all.

    A content that was cut off is made up for by the name. A file of another name counts when its content is an
    identity.
    """
    said = _content(path)
    if said is None:
        return None
    found = _NAME.match(path.name)
    process = identity.from_json(said.get("process")) or identity.from_json(said)
    if process is None and found:
        process = _named(found)
    if process is None and not found:
        return None
    return Record(path, int(found[1]) if found else 0, process, said)


def content(label: str, **said: Any) -> dict[str, Any]:
    """Return what a new record holds besides its process."""
    from datetime import UTC, datetime

    texts = {key: printable(value, _LONGEST) if isinstance(value, str) else value for key, value in said.items()}
    return {
        "version": 1,
        "label": printable(label),
        **texts,
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "ticks": ticks(),
    }


def ticks() -> float:
    """Return seconds since the machine started, the same for all processes; no change of the date moves it."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def ago(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def printable(text: str, most: int = 120) -> str:
    """Return text that is safe on a terminal and in JSON."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def _content(path: Path) -> dict[str, Any] | None:
    """Return the parsed content, {} when it makes no sense, None when there is no such file."""
    try:
        # Not blocking: a pipe of that name would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return {}
    try:
        found = json.loads(os.read(handle, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    finally:
        os.close(handle)
    return found if isinstance(found, dict) else {}


def _named(found: re.Match[str]) -> Identity:
    start = None if found[3] == "x" else int(found[3])
    here = Identity(int(found[2]), start, identity.boot(), identity.host())
    # Of another boot, namespace or host only the age can tell.
    return here if _place(here) == found[4] else Identity(here.pid, start, "", "elsewhere")


def _place(process: Identity) -> str:
    return f"{zlib.crc32(f'{process.boot} {process.host}'.encode('utf-8', 'surrogateescape')):08x}"
