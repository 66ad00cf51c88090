"""Copies of what exists nowhere else, made before it is removed: `<store>/finish-backup/[task/]<name>-<stamp>…`.

A backup is complete once its folder has its name: files are copied into a folder whose name begins with a dot, read
back, synced; then the manifest is written beside, and the rename comes last. So a folder without a manifest is one
that an older tool wrote, and what a killed run left can be told from both.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import now
from morph_tasks.fleet.deletion import delete
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.look import Link
from morph_tasks.fleet.stamps import moment
from morph_tasks.fleet.triage import File, hash_file, is_secret
from morph_tasks.fleet.walking import make_private, sweep_unwritten, sync_folder, walk
from morph_tasks.repo.files import read_json, write_json

if TYPE_CHECKING:
    from datetime import datetime

    from morph_tasks.repo.git import Repo

FOLDER, TASKS = "finish-backup", "task"
MANIFEST = ".manifest.json"
IGNORED = "worktree-ignored"  # the suffix of what a work tree had and git ignored
_USUAL = 0o755  # of a folder; other modes are written down
_PARTIAL, TRASH = ".partial-", ".trash-"
_CHUNK = 1 << 20
# The older forms are those of tools that wrote no manifest.
_NAME = re.compile(
    r"(?P<name>.+)-(?P<stamp>\d{8}T\d{12}Z|\d{4}-\d\d-\d\dT[\d.:-]+Z?|\d{8}[T-]?\d{6}\d*Z?|\d{13})"
    r"(?:-(?P<suffix>[a-z][a-z0-9-]*))?",
    re.DOTALL,
)
_ODD = re.compile(r"[^\w.+-]+")
_LONGEST = 120  # bytes; leaves room for stamp, suffix and the names of what is under way


@dataclass(frozen=True)
class Backup:
    """A folder of backups by its name; `manifest` is None when there is none beside it."""

    path: Path
    name: str
    stamp: str
    suffix: str
    manifest: Path | None

    @property
    def at(self) -> datetime | None:
        """Return when it was made; None for the stamps of older tools."""
        return moment(self.stamp)


def folder(repo: Repo, name: str, stamp: str, namespace: str = "", suffix: str = "") -> Path:
    """Return the folder of a backup; `namespace` is empty or `task`. A name that is no file name is made one."""
    return root_of(repo, namespace) / "-".join(part for part in (plain_name(name), stamp, suffix) if part)


def plain_name(name: str) -> str:
    """Return a name that can be a file's and a reference's, and is not longer than both may be."""
    return (
        re.sub(r"\.{2,}", "-", _ODD.sub("-", name)).strip(".-").encode()[:_LONGEST].decode("utf-8", "ignore") or "tree"
    )


def root_of(repo: Repo, namespace: str = "") -> Path:
    """Return the folder that holds the backups of a namespace."""
    return repo.store / FOLDER / namespace if namespace else repo.store / FOLDER


def manifest_of(path: Path) -> Path:
    """Return where the manifest of a backup lies."""
    return path.with_name(path.name + MANIFEST)


def back_up_files(
    repo: Repo, root: Path, names: Sequence[str], *, folder: Path, about: Mapping[str, Any]
) -> Path | None:
    """Copy files, and all below folders, of `root` to `folder`; return it, or None when there was nothing to copy.

    Links are written down in the manifest, with the keys of `about`, and not copied; what vanished is left out. Raises
    Refusal `backup-failed`, with nothing half left behind.
    """
    partial = folder.with_name(f"{_PARTIAL}{folder.name}")
    with fleet_lock(repo):
        try:
            make_private(folder.parent)
            sweep(folder.parent)
            copied = _copy_all(root, names, partial)
            known = {link["path"] for link in about.get("links", ())}
            links = [*about.get("links", ()), *(one.as_json() for one in copied.links if one.path not in known)]
            if not copied.files and not links:
                delete(partial)
                return None
            told = _manifest(root, copied, {**about, "links": links})
            folder, is_there = _place(folder, told)
            if is_there:
                delete(partial)
                return folder
            write_json(manifest_of(folder), told, mode=0o600)
            sync_folder(folder.parent)
            os.rename(partial, folder)
            sync_folder(folder.parent)
        except (OSError, Refusal) as error:
            if not os.path.lexists(folder):
                with suppress(OSError):
                    os.unlink(manifest_of(folder))
            with suppress(OSError):
                delete(partial)
            raise _failed(root, names, folder, error) from error
    return folder


def manifests(repo: Repo, namespace: str = "") -> list[Backup]:
    """Return the backups of a namespace, by name: no links, and no folder that is not named like a backup."""
    top = root_of(repo, namespace)
    if any(path.is_symlink() for path in (root_of(repo), top)):
        return []
    try:
        names = sorted(entry.name for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    found = []
    for name in names:
        parts = None if name.startswith(".") else _NAME.fullmatch(name)
        if parts:
            manifest = manifest_of(top / name)
            kept = manifest if manifest.is_file() and not manifest.is_symlink() else None
            found.append(Backup(top / name, parts["name"], parts["stamp"], parts["suffix"] or "", kept))
    return found


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a backup; raises Refusal `corrupt-file`, `unreadable-file`, or FileNotFoundError."""
    found = read_json(manifest_of(path))
    if not isinstance(found, dict):
        raise Refusal("corrupt-file", f"{manifest_of(path)} is not a manifest", fix="move it away")
    return found


def sweep(top: Path) -> None:
    """Remove what killed runs left in a folder of backups; the caller holds the lock of the fleet."""
    sweep_unwritten(top)
    with suppress(OSError):
        for name in os.listdir(top):
            whole = top / name.removesuffix(MANIFEST)
            if name.startswith((_PARTIAL, TRASH)):
                with suppress(OSError):
                    delete(top / name)
            elif name.endswith(MANIFEST) and _NAME.fullmatch(whole.name) and not os.path.lexists(whole):
                with suppress(OSError):
                    os.unlink(top / name)


@dataclass
class _Copied:
    files: list[File]
    links: list[Link]
    folders: list[str]
    modes: dict[str, int]


def _copy_all(root: Path, names: Sequence[str], target: Path) -> _Copied:
    """Copy into a new private folder and make it durable; raises OSError."""
    target.mkdir(mode=0o700)
    copied = _Copied([], [], [], {})
    for name in names:
        for path, mode in _below(root, name):
            try:
                if stat.S_ISLNK(mode):
                    copied.links.append(Link(path, os.readlink(root / path)))
                elif stat.S_ISREG(mode):
                    make_private((target / path).parent)
                    copied.files.append(_copy(root / path, target / path, path))
                elif stat.S_ISDIR(mode):
                    make_private(target / path)
                    copied.folders.append(path)
            except FileNotFoundError:
                if os.path.lexists(root / path):
                    raise
    named = [*copied.folders, *(file.path for file in copied.files), *(link.path for link in copied.links)]
    copied.modes = _folder_modes(root, named)
    for file in copied.files:
        _check(target / file.path, file.sha256)
    for entry in walk(target):
        if entry.is_dir(follow_symlinks=False):
            sync_folder(Path(entry.path))
    sync_folder(target)
    return copied


def _folder_modes(root: Path, paths: Sequence[str]) -> dict[str, int]:
    """Return the modes of the folders at and above paths, where they are not the usual one."""
    above = {str(parent) for path in paths for parent in Path(path, "_").parents} - {"."}
    found = {}
    for path in sorted(above):
        with suppress(OSError):
            mode = os.lstat(root / path).st_mode
            if stat.S_ISDIR(mode) and stat.S_IMODE(mode) != _USUAL:
                found[path] = stat.S_IMODE(mode)
    return found


def _below(root: Path, name: str) -> Iterator[tuple[str, int]]:
    """Yield what lies at and below a path, with its mode: files, links, and folders that are empty."""
    pending = [name]
    while pending:
        path = pending.pop()
        try:
            mode = os.lstat(root / path).st_mode
            inside = sorted(os.listdir(root / path)) if stat.S_ISDIR(mode) else []
        except FileNotFoundError:
            continue
        if inside:
            pending += [f"{path}/{one}" for one in reversed(inside)]
        else:
            yield path, mode


def _copy(source: Path, target: Path, path: str) -> File:
    handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        mode = 0o600 if is_secret(path) else stat.S_IMODE(about.st_mode) & 0o700 | 0o600
        running, size = hashlib.sha256(), 0
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        with open(copy, "wb") as written:
            while chunk := file.read(_CHUNK):
                running.update(chunk)
                size += len(chunk)
                written.write(chunk)
            written.flush()
            os.fchmod(copy, mode)
            os.utime(copy, ns=(about.st_atime_ns, about.st_mtime_ns))
    return File(path, running.hexdigest(), stat.S_IMODE(about.st_mode), size)


def _check(copy: Path, digest: str) -> None:
    """Sync a copy and read it back; raises OSError when it is not what was read."""
    with open(copy, "rb") as file:
        os.fsync(file.fileno())
    if hash_file(copy)[0] != digest:
        raise OSError(None, "the copy is not what was read", str(copy))


def _manifest(root: Path, copied: _Copied, about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "createdAt": now(),
        "root": str(root),
        **about,
        "files": [file.as_json() for file in copied.files],
        "folders": copied.folders,
        "folderModes": copied.modes,
        "secrets": [file.path for file in copied.files if is_secret(file.path)],
    }


def _place(folder: Path, told: dict[str, Any]) -> tuple[Path, bool]:
    """Return where a backup goes, and whether an earlier run under the same stamp left the very same there."""
    place, count = folder, 1
    while os.path.lexists(place):
        with suppress(Refusal, OSError):
            earlier = read_manifest(place)
            if all(earlier.get(key) == told[key] for key in ("files", "folders", "links")):
                return place, True
        count += 1
        place = folder.with_name(f"{folder.name}-{count}")
    return place, False


def _failed(root: Path, names: Sequence[str], folder: Path, error: OSError | Refusal) -> Refusal:
    why = error.what if isinstance(error, Refusal) else str(error.strerror or error)
    where = f" ({os.fsdecode(error.filename)})" if isinstance(error, OSError) and error.filename else ""
    return Refusal(
        "backup-failed",
        f"the copies of what exists only in {root} could not be made in {folder}: {why}{where}",
        fix=f"make room and right to write in {folder.parent}",
        exclusive=list(names),
        backup=str(folder),
    )
