"""What an older tool left of a feature in the main tree while the feature lived in a work tree of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, DEAD, FEATURES, feature_dir, state_lock, sweep_leftovers, write_index
from morph_tasks.fleet import backups
from morph_tasks.fleet.deletion import delete
from morph_tasks.fleet.triage import hash_file
from morph_tasks.fleet.walking import walk
from morph_tasks.repo.commits import commit_paths, refuse_commit
from morph_tasks.repo.files import read_json, write_json
from morph_tasks.repo.trees import feature_branch, live_owners

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

RECORD = "worktree"


@dataclass(frozen=True)
class Forgotten:
    """What became of the record of a work tree. `commit`: None when there was nothing to commit."""

    removed: bool = False
    commit: str | None = None
    warning: str | None = None


def forget_record(main: Repo, slug: str) -> Forgotten:
    """Remove the record of a work tree from a feature in the main tree; commit that when HEAD has the record.

    What somebody else changed in the file is not committed along. What cannot be done is a warning.
    """
    name = f"{FEATURES}/{slug}/feature.json"
    try:
        with state_lock(main.root):
            data = read_json(feature_dir(main.root, slug) / "feature.json")
            if not isinstance(data, dict) or RECORD not in data:
                return Forgotten()
            committed = _is_committed(main, name)
            why_not = _why_not(main) if committed else None
            write_json(main.root / name, {key: value for key, value in data.items() if key != RECORD})
            if not committed:
                return Forgotten(True)
            try:
                made = None if why_not else commit_paths(main, f"Forget the work tree of {slug}", added=[name])
            except (Refusal, OSError) as error:
                made, why_not = None, str(error)
            return Forgotten(True, made, f"{name} was changed and not committed: {why_not}" if why_not else None)
    except FileNotFoundError:
        return Forgotten()
    except (Refusal, OSError) as error:
        return Forgotten(warning=f"the record of the work tree stays in {name}: {error}")


def shed_skeleton(main: Repo, slug: str, stamp: str, *, archived_in: str = "") -> Path | None:
    """Remove the untracked folder of a feature that is archived; return where its copy lies.

    `archived_in`: the reference that has it in its archive, by default the default branch. None when there is no such
    folder, or when it is to stay. Raises Refusal `backup-failed`, `busy` (3).
    """
    folder = feature_dir(main.root, slug)
    if folder.is_symlink() or not folder.is_dir() or not _is_skeleton(main, slug, archived_in):
        return None
    place = backups.folder(main, slug, stamp)
    with state_lock(main.root):
        sweep_leftovers(main.root)
        about = {"kind": "shed", "name": slug, "stamp": stamp, "feature": slug}
        saved = backups.back_up_files(main, main.root, [f"{FEATURES}/{slug}"], folder=place, about=about)
        aside = folder.with_name(f"{DEAD}{stamp}")
        os.rename(folder, aside)
        if not _is_copied(aside, saved, f"{FEATURES}/{slug}"):
            os.rename(aside, folder)
            what = f"{folder} changed while it was being removed, so it was put back"
            raise Refusal("changed-meanwhile", what, fix="try again", exit_code=3)
        write_index(main.root)
        delete(aside)
    return saved


def _is_copied(folder: Path, saved: Path | None, name: str) -> bool:
    """Tell whether a backup holds every file of a folder as it is, and every link."""
    told = backups.read_manifest(saved) if saved else {}
    held = {(entry["path"], entry["sha256"]) for entry in told.get("files", ())}
    linked = {(entry["path"], entry["target"]) for entry in told.get("links", ())}
    for entry in walk(folder):
        inside = f"{name}/{os.path.relpath(entry.path, folder)}"
        if entry.is_symlink():
            if (inside, os.readlink(entry.path)) not in linked:
                return False
        elif entry.is_file() and (inside, hash_file(Path(entry.path))[0]) not in held:
            return False
    return True


def _is_skeleton(main: Repo, slug: str, archived_in: str) -> bool:
    if any(os.path.realpath(tree) == os.path.realpath(main.root) for tree in live_owners(main, feature_branch(slug))):
        return False
    default = None if archived_in else main.default_branch()
    where = archived_in or (f"refs/heads/{default}" if default else "")
    paths = ("--", f"{FEATURES}/{slug}")
    tracked = main.git("ls-files", "-z", *paths) or (main.head() and main.git("ls-tree", "-z", "HEAD", *paths))
    if not where or tracked:
        return False
    record = f"{ARCHIVE}/{slug}/feature.json"
    return bool(main.git("ls-tree", "-z", "--full-tree", where, record, ok=(0, 128)))


def _is_committed(main: Repo, name: str) -> bool:
    """Tell whether HEAD, the index and the file agree: then a commit of the path holds our change alone."""
    if main.head() is None:
        return False
    blob = main.text("rev-parse", "--verify", "--quiet", f"HEAD:{name}", ok=(0, 1, 128))
    staged = main.text("rev-parse", "--verify", "--quiet", f":{name}", ok=(0, 1, 128))
    return bool(blob) and blob == staged == main.text("hash-object", "--path", name, "--", str(main.root / name))


def _why_not(main: Repo) -> str | None:
    try:
        refuse_commit(main)
    except Refusal as refusal:
        return refusal.what
    return None
