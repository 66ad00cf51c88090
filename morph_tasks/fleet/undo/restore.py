"""Put files back where they were: whole or not at all, over nothing that lies there."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from morph_tasks.errors import Refusal
from morph_tasks.fleet.copies import copy_file
from morph_tasks.fleet.links import real_folders
from morph_tasks.fleet.triage import File
from morph_tasks.fleet.undo.sources import same_file


def put_files(source: Path, tree: Path, files: Sequence[File], *, over: Collection[str] = ()) -> list[str]:
    """Copy files of a folder into a tree, with their modes; return the paths where something else lies.

    A file that is there already with the right content gets its mode. `over`: paths that may be replaced, since git
    or this tool gives them back. Raises Refusal `write-failed`.
    """
    taken = []
    for file in files:
        place = tree / file.path
        try:
            if not real_folders(tree, file.path):
                taken.append(file.path)
                continue
            if not same_file(place, file):
                if os.path.lexists(place) and file.path not in over:
                    taken.append(file.path)
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                copy_file(source / file.path, place, os.lstat(source / file.path), sync=True)
            place.chmod(file.mode)
        except OSError as error:
            what = f"{place} could not be written: {error.strerror or error}"
            raise Refusal("write-failed", what, fix="make room there, then run the same command again") from error
    return taken


def put_folders(tree: Path, folders: Sequence[str]) -> None:
    """Make the empty folders again, where nothing is in the way."""
    for folder in folders:
        if real_folders(tree, folder):
            with suppress(OSError):
                (tree / folder).mkdir(parents=True, exist_ok=True)


def put_modes(tree: Path, modes: Mapping[str, int], *, writable: bool = False) -> None:
    """Give folders their modes again, and make those that are missing; `writable`: for now with the right to write.

    First before the files are there, so that nobody sees them meanwhile.
    """
    for path, mode in modes.items():
        if real_folders(tree, f"{path}/_"):
            with suppress(OSError):
                (tree / path).mkdir(mode=0o700, parents=True, exist_ok=True)
                (tree / path).chmod(mode | 0o700 if writable else mode)
