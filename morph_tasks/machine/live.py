"""What runs, on disk: so that the next start can end what a killed one left behind."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.machine import groups, identity, table
from morph_tasks.machine.groups import Group
from morph_tasks.machine.identity import Identity
from morph_tasks.machine.table import Entry

_STALE_S = 3600.0
_NAME_LENGTH = 100


@dataclass(frozen=True)
class Record:
    """A group that ran: whose it was and who leads it; `leader` is None when its owner died while starting it."""

    run_id: str
    token: str
    owner: Identity
    leader: Identity | None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `from_json` reads."""
        leader = self.leader.as_json() if self.leader else None
        return {
            "version": 1,
            "runId": self.run_id,
            "token": self.token,
            "owner": self.owner.as_json(),
            "leader": leader,
        }


@dataclass(frozen=True)
class Orphan:
    """A process of a run whose owner is dead; `fix` is the command that stops it."""

    pid: int
    name: str
    run_id: str
    command: str

    @property
    def fix(self) -> str:
        """Return the command that stops it."""
        return f"kill {self.pid}"


def announce(live_dir: Path, record: Record) -> Path:
    """Write the record of a group that is about to start; raises OSError."""
    live_dir.mkdir(parents=True, exist_ok=True)
    path = live_dir / f"{_file_name(record.run_id)}-{record.token}.json"
    _write(path, record)
    return path


def confirm(announced: Path, record: Record) -> Path:
    """Write who leads the group, and return the path of the record that holds from now on."""
    if record.leader is None:
        return announced
    path = announced.with_name(f"{_file_name(record.run_id)}-{record.leader.pid}.json")
    try:
        _write(path, record)
    except OSError:
        return announced  # The token alone still finds the group.
    forget(announced)
    return path


def forget(path: Path) -> None:
    """Remove a record; one that is gone already is no error."""
    with suppress(OSError):
        path.unlink()


def reap(live_dir: Path, *, grace_s: float = 3.0) -> list[str]:
    """End the groups whose owner is dead and remove their records; returns what was ended as `pid name`.

    Only a leader whose identity still matches and processes that carry the token of the group are ended. A record
    whose owner lives, or cannot be judged from here, stays. What is no record is removed once it is an hour old.
    """
    abandoned: list[tuple[Path, Group]] = []
    for path in _files(live_dir):
        record = _read(path)
        if record is None:
            if _age(path) > _STALE_S:
                forget(path)
        elif identity.state(record.owner) == "dead":
            leader = record.leader or Identity(-1, None, "", "")
            abandoned.append((path, Group(leader, record.token)))
    if not abandoned:
        return []
    found = _living(abandoned)
    if any(found.values()):
        groups.stop([group for _, group in abandoned], grace_s)
    left = _living(abandoned) if any(found.values()) else found
    for path, _ in abandoned:
        if not left[path]:
            forget(path)
    still = {entry.key for entries in left.values() for entry in entries}
    return [str(entry) for entries in found.values() for entry in entries if entry.key not in still]


def _living(abandoned: list[tuple[Path, Group]]) -> dict[Path, tuple[Entry, ...]]:
    seen = table.snapshot()
    parts = {path: groups.members(group, seen) for path, group in abandoned}
    return {path: part.inside + part.escaped for path, part in parts.items()}


def orphans(live_dir: Path) -> list[Orphan]:
    """List the living processes of this user that belong to a run whose owner is dead."""
    recorded = {record.run_id: record.owner for record in map(_read, _files(live_dir)) if record is not None}
    safe = table.ancestors()
    found: list[Orphan] = []
    for pid, entry in sorted(table.snapshot().items()):
        if pid in safe or entry.dead:
            continue
        marks = table.marks(pid)
        if marks is None:
            continue
        owner = identity.parsed(marks.owner) or recorded.get(marks.run_id)
        if owner is not None and identity.state(owner) == "dead" and not _gone(entry):
            found.append(Orphan(pid, entry.name, marks.run_id, table.command_line(pid)[:200]))
    return found


def _gone(entry: Entry) -> bool:
    now = table.read(entry.pid)
    return now is None or now.key != entry.key or now.dead


def _write(path: Path, record: Record) -> None:
    # Not synced to the disk: after a power cut every group is gone, and each node would pay for it.
    temporary = path.with_name(f".{path.name}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record.as_json(), file)
        os.replace(temporary, path)
    except BaseException:
        forget(temporary)
        raise


def _read(path: Path) -> Record | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    owner = identity.from_json(found.get("owner"))
    run_id, token = found.get("runId"), found.get("token")
    if owner is None or not isinstance(run_id, str) or not isinstance(token, str) or not token:
        return None
    return Record(run_id, token, owner, identity.from_json(found.get("leader")))


def _files(live_dir: Path) -> Iterator[Path]:
    try:
        paths = sorted(live_dir.iterdir())
    except OSError:
        return
    for path in paths:
        if path.suffix in (".json", ".tmp"):
            with suppress(OSError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _file_name(run_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", run_id).lstrip(".-")[:_NAME_LENGTH] or "run"
