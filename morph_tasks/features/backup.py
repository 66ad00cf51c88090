"""Copy aside what git could not give back, before it is removed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import now
from morph_tasks.repo.files import write_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

FOLDER = "backups"


def back_up(repo: Repo, folder: Path, slug: str) -> Path | None:
    """Copy the folder to the store of the repository when HEAD does not hold all of it; return the copy.

    Compared by content, since flags and filters can make `git status` silent. Raises Refusal `backup-failed`.
    """
    committed = _committed(repo, folder)
    lost = sorted(
        os.fsdecode(name) for name, digest in _on_disk(folder, _digest_name(committed)) if committed.get(name) != digest
    )
    if not lost:
        return None
    when = now()
    place = repo.store / FOLDER / f"{slug}-{when.replace(':', '').replace('.', '')}"
    try:
        for made in (repo.store, place.parent):
            made.mkdir(mode=0o700, exist_ok=True, parents=True)
        place.mkdir(mode=0o700)
        shutil.copytree(folder, place / slug, symlinks=True, ignore=_special)
    except (OSError, shutil.Error) as error:
        raise Refusal(
            "backup-failed", f"{folder} could not be copied to {place}: {error}", fix="make room there, then try again"
        ) from error
    told = {"version": 1, "feature": slug, "at": when, "head": repo.head(), "files": lost}
    write_json(place / "manifest.json", told, mode=0o600)
    return place


def _committed(repo: Repo, folder: Path) -> dict[bytes, str]:
    """Return what HEAD holds of the folder: name inside it, blob id."""
    inside = os.path.relpath(folder, repo.root)
    listed = repo.git("ls-tree", "-r", "-z", "HEAD", "--", f"{inside}/") if repo.head() else b""
    found = {}
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path:
            found[path.removeprefix(os.fsencode(inside) + b"/")] = about.split()[2].decode()
    return found


def _digest_name(committed: dict[bytes, str]) -> str:
    longest = max((len(blob) for blob in committed.values()), default=40)
    return "sha1" if longest == 40 else "sha256"


def _on_disk(folder: Path, algorithm: str) -> Iterator[tuple[bytes, str]]:
    """Yield every file and link of the folder with the blob id that its content would have."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            path = Path(parent, name)
            inside = os.fsencode(os.path.relpath(path, folder))
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(mode):
                content = path.read_bytes()
            else:
                continue  # a socket or a pipe holds nothing
            yield inside, hashlib.new(algorithm, b"blob %d\0" % len(content) + content).hexdigest()


def _special(parent: str, names: list[str]) -> set[str]:
    """Return the names that are neither file, folder nor link: copying them would hang."""

    def odd(name: str) -> bool:
        mode = os.lstat(os.path.join(parent, name)).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))

    return {name for name in names if odd(name)}
