"""What a backup holds, held against what the finish wrote down: each file by its content, before anything changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.backups import manifest_of, read_manifest
from morph_tasks.fleet.triage import File, hash_file


@dataclass(frozen=True)
class Source:
    """A backup that was read: `files` are proved, `problems` are what is not to be had, {path, why} each.

    Paths are those of the tree `root` that was backed up. `folders` are empty ones, `modes` those of folders that
    are not 0755.
    """

    place: Path | None = None
    root: Path | None = None
    files: tuple[File, ...] = ()
    links: tuple[dict[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    modes: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[dict[str, str], ...] = ()


@dataclass
class _Reading:
    files: list[File] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)


def read_source(place: str | None, wanted: Sequence[dict[str, Any]] = ()) -> Source:
    """Read a backup and prove its files; `wanted` are those that have to be in it (`RemovalPlan`'s `exclusive`).

    A finish that backed nothing up has `place` None, and then nothing is wrong unless something is wanted.
    """
    if place is None:
        return Source(problems=_all(wanted, "the finish made no copy of it"))
    folder = Path(place)
    try:
        told = read_manifest(folder)
        listed = [_file(entry) for entry in told["files"]]
        links, folders = tuple(told.get("links", ())), tuple(told.get("folders", ()))
        modes = {str(path): int(mode) for path, mode in told.get("folderModes", {}).items()}
        root = Path(told["root"])
    except FileNotFoundError:
        why = "its backup has no manifest" if folder.is_dir() else "its backup is gone"
        return Source(folder, problems=_all(wanted, why) or ({"path": str(folder), "why": why},))
    except (Refusal, KeyError, TypeError, ValueError, AttributeError):
        why = f"{manifest_of(folder).name} cannot be read"
        return Source(folder, problems=_all(wanted, why) or ({"path": str(folder), "why": why},))
    reading = _Reading()
    known = {file.path: file for file in listed}
    for entry in wanted:
        file = known.pop(entry["path"], None)
        if file is None:
            reading.problems.append({"path": entry["path"], "why": "it is not in its backup"})
        elif file.sha256 != entry["sha256"]:
            reading.problems.append({"path": entry["path"], "why": "its backup holds other content"})
        else:
            _prove(reading, folder, file, told)
    for file in known.values():
        _prove(reading, folder, file, told)
    return Source(folder, root, tuple(reading.files), links, folders, modes, tuple(reading.problems))


def _file(entry: dict[str, Any]) -> File:
    found = File(entry["path"], entry["sha256"], int(entry["mode"]), int(entry["size"]))
    if os.path.isabs(found.path) or ".." in found.path.split("/"):
        raise ValueError(found.path)
    return found


def _prove(reading: _Reading, folder: Path, file: File, told: dict[str, Any]) -> None:
    try:
        digest = hash_file(folder / file.path)[0]
    except OSError:
        stripped = told.get("secretsStrippedAt")
        why = f"secrets were taken out of its backup on {stripped}" if stripped else "it is missing in its backup"
        reading.problems.append({"path": file.path, "why": why})
        return
    if digest != file.sha256:
        reading.problems.append({"path": file.path, "why": "its copy in the backup was changed"})
    else:
        reading.files.append(file)


def _all(wanted: Sequence[dict[str, Any]], why: str) -> tuple[dict[str, str], ...]:
    return tuple({"path": entry["path"], "why": why} for entry in wanted)


def same_file(place: Path, file: File) -> bool:
    """Tell whether a regular file lies at a place with this very content."""
    try:
        if not stat.S_ISREG(os.lstat(place).st_mode):
            return False
        return hash_file(place)[0] == file.sha256
    except OSError:
        return False
