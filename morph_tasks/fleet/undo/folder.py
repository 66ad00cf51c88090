"""The folder of a feature as it lay on disk before the archive, with what was not committed and what git ignores."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import DEAD, UNBORN, state_lock, sweep_leftovers, write_index
from morph_tasks.fleet.deletion import delete
from morph_tasks.fleet.links import put_links
from morph_tasks.fleet.undo.past import GONE
from morph_tasks.fleet.undo.restore import put_files, put_folders
from morph_tasks.fleet.undo.sources import Source, same_file
from morph_tasks.repo.files import read_json

if TYPE_CHECKING:
    from morph_tasks.fleet.undo.plan import Plan
    from morph_tasks.repo.git import Repo

# What the archive writes into the record of a feature.
_ARCHIVED_KEYS = ("status", "archivedAt", "updatedAt")


def restore_feature(tree: Repo, plan: Plan) -> dict[str, Any]:
    """Replace what git brought by what the backup holds; return what was done.

    Raises Refusal `feature-exists` where somebody has written into the folder meanwhile, `write-failed`, `busy` (3).
    """
    past = plan.past
    # Beside the folder the backup holds untracked files that the archive took into its commit.
    source, beside = _split(plan.feature, past.folder)
    target = tree.root / past.folder
    with state_lock(tree.root):
        sweep_leftovers(tree.root)
        whole = bool(source.files or source.links or source.folders) and not source.problems
        if source.place is not None and whole:
            _refuse_strange(tree, target, source, past.folder)
            _exchange(tree, target, source, past.folder)
        elif source.place is not None:
            put_files(source.place, tree.root, source.files, over=[file.path for file in source.files])
        if beside.place is not None:
            put_files(beside.place, tree.root, beside.files, over=[file.path for file in beside.files])
        left = [] if past.kind == GONE else _clear_archive(tree, plan)
        write_index(tree.root)
    return {"files": [file.path for file in plan.feature.files], "leftInArchive": left}


def _split(source: Source, inside: str) -> tuple[Source, Source]:
    """Return the part of a backup that lies in a folder, and the rest."""
    folder = f"{inside}/"
    return (
        replace(
            source,
            files=tuple(file for file in source.files if file.path.startswith(folder)),
            links=tuple(link for link in source.links if link["path"].startswith(folder)),
            folders=tuple(one for one in source.folders if one == inside or one.startswith(folder)),
        ),
        replace(source, files=tuple(file for file in source.files if not file.path.startswith(folder))),
    )


def _exchange(tree: Repo, target: Path, source: Source, inside: str) -> None:
    """Build the folder beside its place and rename it in: readers see the one or the other."""
    assert source.place
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=UNBORN, dir=target.parent))
        (beside / inside).mkdir(parents=True)
        put_files(source.place, beside, source.files)
        put_links(beside, source.links)
        put_folders(beside, source.folders)
        if os.path.lexists(target):
            dead = Path(tempfile.mkdtemp(prefix=DEAD, dir=target.parent))
            os.rename(target, dead / target.name)
        os.rename(beside / inside, target)
        sweep_leftovers(tree.root)
    except OSError as error:
        what = f"{target} could not be written: {error.strerror or error}"
        raise Refusal("write-failed", what, fix="make room there, then run the same command again") from error


def _refuse_strange(tree: Repo, target: Path, source: Source, inside: str) -> None:
    """Refuse to replace a folder that holds something which neither git nor the backup could give back."""
    if not os.path.lexists(target):
        return
    known = {file.path: file for file in source.files}
    changed = tree.git(
        "--literal-pathspecs", "status", "--porcelain", "-z", "-uall", "--ignored", "--no-renames", "--", inside
    )
    names = [os.fsdecode(line[3:]).rstrip("/") for line in changed.split(b"\0") if line]
    below = [path for name in names for path in _files_at(tree.root, name)]
    strange = [path for path in below if path not in known or not same_file(tree.root / path, known[path])]
    strange = [path for path in strange if not _is_known_link(tree.root, path, source)]
    if strange:
        what = f"{tree.root / strange[0]} was written since, and the folder that comes back does not hold it"
        raise Refusal("feature-exists", what, fix=f"move it away, then undo again: {strange[0]}", paths=strange)


def _files_at(root: Path, name: str) -> Iterator[str]:
    place = root / name
    if place.is_dir() and not place.is_symlink():
        for parent, folders, files in os.walk(place):
            for one in (*files, *(folder for folder in folders if os.path.islink(os.path.join(parent, folder)))):
                yield os.path.relpath(os.path.join(parent, one), root)
    elif os.path.lexists(place):
        yield name


def _is_known_link(root: Path, path: str, source: Source) -> bool:
    place = root / path
    return os.path.islink(place) and {"path": path, "target": os.readlink(place)} in source.links


def _clear_archive(tree: Repo, plan: Plan) -> list[str]:
    """Remove from the archive what came back as the feature; return what stays since it is something else."""
    past, source = plan.past, plan.feature
    archived = tree.root / past.archived
    known = {file.path: file for file in source.files}
    left = []
    for path in list(_files_at(tree.root, past.archived)):
        home = past.folder + path.removeprefix(past.archived)
        file, place = known.get(home), tree.root / path
        if (file and (same_file(place, file) or _is_its_record(place, tree.root / home))) or _is_link_of(
            place, tree.root / home
        ):
            place.unlink()
        else:
            left.append(path)
    if archived.is_dir() and not left:
        delete(archived)
    _remove_empty(archived.parent, tree.root)
    return left


def _is_its_record(place: Path, record: Path) -> bool:
    """Tell whether a `feature.json` differs from the one that came back by what the archive wrote alone."""
    if place.name != "feature.json":
        return False
    try:
        one, other = read_json(place), read_json(record)
    except (OSError, Refusal):
        return False
    both = isinstance(one, dict) and isinstance(other, dict)
    return both and json.dumps(_stripped(one), sort_keys=True) == json.dumps(_stripped(other), sort_keys=True)


def _stripped(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in _ARCHIVED_KEYS}


def _is_link_of(place: Path, home: Path) -> bool:
    return os.path.islink(place) and os.path.islink(home) and os.readlink(place) == os.readlink(home)


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder that holds nothing, where the archive has made it."""
    if folder.is_dir() and folder != root and not any(folder.iterdir()):
        folder.rmdir()
