"""How much memory one more job could take: the smaller of what the machine has and what the control groups leave."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GIB = 1024**3
# Of the default minimum a machine never has to have free more than this part of all it has.
_DEFAULT_GB, _PART = 4.0, 0.5
# A limit that is not set is written as a number near the largest one (v1), or as `max` (v2).
_NO_LIMIT = 1 << 60


@dataclass(frozen=True)
class Memory:
    """Bytes; None where the system does not tell. `limited_by` is the control group that decides `free`, or ""."""

    free: int | None
    total: int | None
    limited_by: str = ""

    @property
    def free_gb(self) -> float | None:
        return None if self.free is None else round(self.free / GIB, 2)

    @property
    def total_gb(self) -> float | None:
        return None if self.total is None else round(self.total / GIB, 2)


@dataclass(frozen=True)
class _Level:
    """One control group: its limit, what it uses without the cache that the kernel can drop, and where it lies."""

    limit: int
    used: int
    folder: Path


def look(root: Path = Path("/")) -> Memory:
    """Return the memory of this process; `root` is where /proc and /sys lie.

    Of a control group the headroom is its limit, less what is used, plus the inactive file cache (which is what
    `working set` leaves out); every group above counts as well.
    """
    free, total = _host(root)
    limited_by = ""
    for level in _levels(root):
        headroom = max(0, level.limit - level.used)
        if free is None or headroom < free:
            free, limited_by = headroom, str(level.folder)
        total = level.limit if total is None else min(total, level.limit)
    return Memory(free, total, limited_by)


def needed_gb(said: float | None, memory: Memory) -> float:
    """Return how many GiB must be free: what the user said to the letter, else 4, or half of a machine below 8."""
    if said is not None:
        return said
    if memory.total is None:
        return _DEFAULT_GB
    return min(_DEFAULT_GB, memory.total * _PART / GIB)


def cpus(root: Path = Path("/")) -> int:
    """Return how many processors this process may use at once: its affinity, and the quotas of its control groups."""
    count = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    for folder, modern in _folders(root, "cpu"):
        quota, period = _quota(folder, modern)
        if quota > 0 and period > 0:
            count = min(count, quota / period)
    return max(1, int(count))


def _host(root: Path) -> tuple[int | None, int | None]:
    text = _text(root / "proc/meminfo")
    if text is None:
        return _host_without_proc() if root == Path("/") else (None, None)
    values = {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    free = values.get("MemAvailable")
    if free is None and "MemFree" in values:
        # Kernels and sandboxes that do not estimate it.
        free = values["MemFree"] + values.get("Buffers", 0) + values.get("Cached", 0)
    return free, values.get("MemTotal")


def _host_without_proc() -> tuple[int | None, int | None]:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    with suppress(OSError, psutil.Error, RuntimeError, ValueError):
        found = psutil.virtual_memory()
        return int(found.available), int(found.total)
    return None, None


def _levels(root: Path) -> Iterator[_Level]:
    for folder, modern in _folders(root, "memory"):
        names = ("memory.max", "memory.high") if modern else ("memory.limit_in_bytes",)
        limits = [value for name in names if (value := _number(folder / name)) is not None and value < _NO_LIMIT]
        if not limits:
            continue
        used = _number(folder / ("memory.current" if modern else "memory.usage_in_bytes")) or 0
        cache = _stat(folder / "memory.stat", "inactive_file" if modern else "total_inactive_file")
        yield _Level(min(limits), max(0, used - cache), folder)


def _folders(root: Path, controller: str) -> Iterator[tuple[Path, bool]]:
    """Yield the control groups of this process from its own to the topmost one that can be seen; True: version 2."""
    own = _own_paths(root)
    for mount, top, kind, controllers in _mounts(root):
        modern = kind == "cgroup2"
        path = own.get("" if modern else controller)
        if path is None or (not modern and controller not in controllers):
            continue
        base = root / mount.lstrip("/")
        folder = base / _below(path, top)
        while True:
            yield folder, modern
            if folder == base:
                break
            folder = folder.parent


def _own_paths(root: Path) -> dict[str, str]:
    """Return the path of this process by controller; that of version 2 has the name ""."""
    found: dict[str, str] = {}
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        for name in names.split(","):
            found[name] = path
    return found


def _mounts(root: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield mount point, root of the mount, type and options of every hierarchy of control groups."""
    for line in (_text(root / "proc/self/mountinfo") or "").splitlines():
        left, separator, right = line.partition(" - ")
        fields, kind = left.split(" "), right.split(" ")
        if separator and len(fields) >= 5 and kind[0] in ("cgroup", "cgroup2"):
            yield _plain(fields[4]), _plain(fields[3]), kind[0], kind[-1].split(",")


def _below(path: str, top: str) -> str:
    """Return the path of a group below its mount; what lies outside of the mount is seen from its top."""
    parts, above = [part for part in path.split("/") if part], [part for part in top.split("/") if part]
    if ".." in parts or parts[: len(above)] != above:
        return ""
    return "/".join(parts[len(above) :])


def _quota(folder: Path, modern: bool) -> tuple[int, int]:
    if not modern:
        return _number(folder / "cpu.cfs_quota_us") or 0, _number(folder / "cpu.cfs_period_us") or 0
    fields = (_text(folder / "cpu.max") or "").split()
    if len(fields) == 2 and all(field.isdecimal() for field in fields):
        return int(fields[0]), int(fields[1])
    return 0, 0


def _stat(path: Path, name: str) -> int:
    for line in (_text(path) or "").splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdecimal():
            return int(value)
    return 0


def _number(path: Path) -> int | None:
    text = (_text(path) or "").strip()
    return int(text) if text.isdecimal() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _plain(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
