"""Files of the user that the merge took over, since they held what it brought: they come back as they lay there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.fleet.links import real_folders
from morph_tasks.repo.files import write_atomic

if TYPE_CHECKING:
    from morph_tasks.fleet.undo.past import Past
    from morph_tasks.repo.git import Repo

_LINK = "120000"


def put_adopted(tree: Repo, past: Past, now: str) -> list[str]:
    """Put them back into the tree, which is at the commit `now`; return the paths where something else lies.

    Raises Refusal `write-failed`.
    """
    taken = []
    for entry in past.adopted:
        path, held = entry["path"], _held(tree, str(past.merge), entry["path"])
        if held is None:
            continue
        place, (mode, oid, content) = tree.root / path, held
        try:
            lies = _content(place)
            if lies != content:
                before = _held(tree, now, path)
                if not real_folders(tree.root, path) or (lies is not None and (before is None or lies != before[2])):
                    taken.append(path)
                    continue
                _write(place, content, int(entry["mode"]), link=mode == _LINK)
        except OSError as error:
            what = f"{place} could not be written: {error.strerror or error}"
            raise Refusal("write-failed", what, fix="make room there, then run the same command again") from error
        if entry["staged"]:
            tree.run("update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}", ok=range(256))
    return taken


def _held(tree: Repo, commit: str, path: str) -> tuple[str, str, bytes] | None:
    """Return what a commit has at a path as it is checked out: its mode, its id and its bytes."""
    listed = tree.git("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path).decode(
        "ascii", "ignore"
    )
    about = listed.partition("\t")[0].split()
    if about[1:2] != ["blob"]:
        return None
    how = ("blob",) if about[0] == _LINK else ("--filters", f"--path={path}")
    return about[0], about[2], tree.git("cat-file", *how, about[2])


def _content(place: Path) -> bytes | None:
    """Return what lies at a place, of a link where it leads; None for nothing."""
    if os.path.islink(place):
        return os.fsencode(os.readlink(place))
    return place.read_bytes() if os.path.lexists(place) else None


def _write(place: Path, content: bytes, mode: int, *, link: bool) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if link:
        place.unlink(missing_ok=True)
        place.symlink_to(os.fsdecode(content))
        return
    write_atomic(place, content, mode=mode)
