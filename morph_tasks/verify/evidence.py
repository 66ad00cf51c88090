"""The store of evidence: one small file a measurement, keyed by content, shared by all work trees.

A record that does not parse is absent. A tree's view says what its judges go by.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import read_json, to_json, write_atomic
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask

Record = dict[str, Any]

_KEYS_KEPT = 64  # for each node
_RECORDS_KEPT = 8  # for each key
_DAYS_KEPT = 60
_LEFT_S = 86_400
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"2\d{7}T\d{6}\.\d{6}Z-\d+")


def now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """The evidence of one repository."""

    def __init__(self, shared: Path) -> None:
        self.root = shared / "evidence"

    def node(self, ref: str) -> Path:
        return self.root / ref

    def new_name(self, ref: str, key: str) -> Path:
        """Return a path without ending for a new measurement, its folder made, its log there and empty."""
        folder = self.node(ref) / key
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            what = f"the evidence of {ref} cannot be kept: {folder}: {error.strerror}"
            raise Refusal("state-unwritable", what, fix=f"make {self.root} a folder that you can write") from None
        # The newest decides, also when a clock was ahead when it was written.
        latest = max(_names(folder), default="").rpartition("-")[0]
        moment = datetime.now(UTC)
        if latest >= moment.strftime(_STAMP):
            with suppress(ValueError):
                moment = datetime.strptime(latest, _STAMP).replace(tzinfo=UTC)
        while True:
            moment += timedelta(microseconds=1)
            path = folder / f"{moment.strftime(_STAMP)}-{os.getpid()}"
            try:
                os.close(os.open(f"{path}.log", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                continue
            return path

    def add(self, name: Path, record: Record) -> None:
        """Keep a record, whole or not at all."""
        write_atomic(Path(f"{name}.json"), to_json(record), mode=0o600)

    def records(self, ref: str, key: str) -> Iterator[Record]:
        """Yield the records of a key, newest first; what does not parse is passed over."""
        folder = self.node(ref) / key
        ask("file", str(folder))
        for name in sorted(_names(folder), reverse=True):
            ask("file", f"{folder}/{name}.json")
            record = _read(folder / f"{name}.json")
            if record is not None and record.get("key") == key:
                yield record

    def newest(self, ref: str, key: str) -> Record | None:
        return next(self.records(ref, key), None)

    def failures(self, ref: str, key: str) -> int:
        """Return how many measurements of this key were not a pass since it was last one."""
        count = 0
        for record in self.records(ref, key):
            if record["status"] == "pass":
                break
            count += record["status"] != "skip"
        return count

    def earlier(self, ref: str, key: str, selected: bool) -> Record | None:
        """Return the newest record of another key, to compare with: one of a narrowed run with another such."""
        names = []
        for folder in self._folders(ref):
            if folder.name != key:
                names += [(name, folder / f"{name}.json") for name in _names(folder)]
        for _, path in sorted(names, reverse=True)[:20]:
            record = _read(path)
            if record is not None and _narrowed(record) == selected:
                return record
        return None

    def prune(self, ref: str) -> None:
        """Drop the oldest keys and records of a node: by count, then by age."""
        folders = self._folders(ref)
        if len(folders) <= _KEYS_KEPT:
            return
        oldest = datetime.now(UTC).timestamp() - _DAYS_KEPT * 86400
        ranked = sorted(((_changed(folder), folder) for folder in folders), reverse=True)
        for place, (changed, folder) in enumerate(ranked):
            if place >= _KEYS_KEPT or changed < oldest:
                shutil.rmtree(folder, ignore_errors=True)

    def trim(self, ref: str, key: str) -> None:
        """Keep the newest records of a key, and nothing that a killed run left a day ago."""
        folder = self.node(ref) / key
        names = sorted(_names(folder), reverse=True)
        kept, dropped = set(names[:_RECORDS_KEPT]), set(names[_RECORDS_KEPT:])
        with suppress(OSError):
            for path in list(folder.iterdir()):
                found = _NAME.match(path.name.removeprefix("."))
                name = found[0] if found and not path.name.endswith(".tmp") else None
                if name in dropped or (name not in kept and _changed(path) < time.time() - _LEFT_S):
                    path.unlink(missing_ok=True)

    def _folders(self, ref: str) -> list[Path]:
        try:
            return [entry for entry in self.node(ref).iterdir() if entry.is_dir()]
        except OSError:
            return []


def view_path(root: Path, feature: str, node: Node) -> Path:
    """Return where a tree keeps its view of a node; a narrowed one has a place of its own."""
    folder = root / ".morph" / "evidence" / feature
    if node.scope:
        folder = folder / "slices" / node.scope.rpartition(":")[2]
    return folder / f"{node.ref}.json"


def read_view(root: Path, feature: str, node: Node) -> Record | None:
    """Return a tree's view of a node; None when it is absent or does not parse."""
    path = view_path(root, feature, node)
    ask("file", str(path))
    return _read(path)


def write_view(root: Path, feature: str, node: Node, record: Record) -> None:
    """Replace a tree's view of a node. Not synced: it can be made again from the store."""
    path = view_path(root, feature, node)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(to_json(record))
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise Refusal("write-failed", f"{path} could not be written: {error.strerror}") from error


def _names(folder: Path) -> list[str]:
    """Return the names of the records in a folder, without ending; what somebody else left there is none."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [name[:-5] for name in names if name.endswith(".json") and _NAME.fullmatch(name[:-5])]


def _narrowed(record: Record) -> bool:
    return (record.get("selection") or {}).get("mode") == "narrowed"


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another tree prunes the same store
        return 0.0


def _read(path: Path) -> Record | None:
    try:
        record = read_json(path)
    except (OSError, Refusal):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("status"), str) else None
