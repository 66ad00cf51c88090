"""A work tree on its way out: moved to a name beside it, with a record that a later run can finish or take back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.deletion import delete
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.look import Link, git_dir_of
from morph_tasks.fleet.registration import correct_place, place_of
from morph_tasks.fleet.walking import make_private, sweep_unwritten, sync_folder
from morph_tasks.repo.files import read_json, write_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# MOVED: not proved yet at its new name. PROVED: nothing in it is lost any more. GONE: git has forgotten it.
MOVED, PROVED, GONE = "moved", "proved", "gone"


@dataclass
class Aside:
    """One tree that is being removed, as the record on disk has it."""

    record: Path
    path: Path
    place: Path
    admin: Path
    state: str = MOVED
    links: tuple[Link, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, state: str) -> None:
        """Write the record; raises Refusal `write-failed`."""
        self.state = state
        data = {"version": 1, "state": state, "path": str(self.path), "aside": str(self.place)}
        data |= {"admin": str(self.admin), "links": [link.as_json() for link in self.links], **self.about}
        write_json(self.record, data, mode=0o600)
        sync_folder(self.record.parent)

    def forget(self) -> None:
        """Remove the record: there is nothing left to do."""
        with suppress(FileNotFoundError):
            os.unlink(self.record)


def move_aside(
    repo: Repo, path: Path, admin: Path, *, stamp: str, links: Sequence[Link], about: dict[str, Any]
) -> Aside:
    """Rename a tree to a name beside it, recorded first; raises Refusal `worktree-busy`, `write-failed`."""
    folder = repo.store / "removals"
    make_private(folder)
    place, count = path.with_name(f".morph-removing-{stamp}"), 1
    while os.path.lexists(place) or os.path.lexists(folder / f"{place.name.rpartition('removing-')[2]}.json"):
        count += 1
        place = path.with_name(f".morph-removing-{stamp}-{count}")
    record = folder / f"{place.name.rpartition('removing-')[2]}.json"
    aside = Aside(record, path, place, admin, MOVED, tuple(links), about)
    aside.save(MOVED)
    try:
        os.rename(path, place)
    except OSError as error:
        aside.forget()
        raise Refusal(
            "worktree-busy",
            f"{path} cannot be moved aside: {error.strerror or error}",
            fix=f"end what holds {path}, or get the right to write in {path.parent}",
            worktree=str(path),
        ) from error
    return aside


def put_back(aside: Aside) -> None:
    """Undo the move, links included; raises Refusal `put-back-failed` (4) that names where the tree is."""
    try:
        if os.path.lexists(aside.place):
            os.rename(aside.place, aside.path)  # an empty folder that came up there meanwhile gives way
        if aside.admin.is_dir():
            correct_place(aside.admin, aside.path)
        for link in aside.links:
            where = aside.path / link.path
            if not os.path.lexists(where) and where.parent.is_dir():
                os.symlink(link.target, where)
    except (OSError, Refusal) as error:
        why = error.what if isinstance(error, Refusal) else error.strerror or error
        where = aside.place if os.path.lexists(aside.place) else aside.path
        raise Refusal(
            "put-back-failed",
            f"the work tree {aside.path} lies whole in {where} and could not be put back: {why}",
            fix=f"move what is at {aside.path} away, then run the command again: it puts the tree back first",
            exit_code=4,
            worktree=str(aside.path),
            aside=str(aside.place),
        ) from error
    aside.forget()


def finish_deleting(aside: Aside) -> str | None:
    """Delete what was moved aside; return why some of it is still there, or None."""
    try:
        delete(aside.place)
    except OSError as error:
        name = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        return f"{aside.place} could not be deleted: {error.strerror or error}{name}"
    aside.forget()
    return None


def recover(repo: Repo) -> list[str]:
    """Put back or finish what killed removals left; return a line for each. Raises Refusal `busy` (3)."""
    folder = repo.store / "removals"
    if not folder.is_dir():
        return []
    with fleet_lock(repo):
        sweep_unwritten(folder)
        lines = []
        for record in sorted(folder.glob("*.json")):
            with suppress(FileNotFoundError):
                said = _recover_one(repo, record)
                lines += [said] if said else []
        return lines


def _recover_one(repo: Repo, record: Path) -> str | None:
    try:
        aside = _read(record)
    except (Refusal, KeyError, TypeError) as error:
        return f"{record} cannot be read, so a removal that was broken off stays as it is ({error})"
    there = os.path.lexists(aside.place)
    registered = aside.admin.is_dir() and _names(aside)
    if not there and (aside.state == GONE or not registered):
        aside.forget()
        return None
    if there and (aside.state == GONE or (aside.state == PROVED and not registered)):
        # It was proved before git forgot it, so nothing in here is missed.
        aside.save(GONE)
        left = finish_deleting(aside)
        return left or f"finished the removal of {aside.path}, which had been broken off"
    try:
        put_back(aside)
    except Refusal as refusal:
        return refusal.what
    if not there:
        return None
    lost = "" if registered else "; git has forgotten it meanwhile"
    return f"put the work tree {aside.path} back, whose removal had been broken off{lost}"


def _read(record: Path) -> Aside:
    data = read_json(record)
    links = tuple(Link(link["path"], link["target"]) for link in data["links"])
    return Aside(record, Path(data["path"]), Path(data["aside"]), Path(data["admin"]), data["state"], links)


def _names(aside: Aside) -> bool:
    """Tell whether the registration is still that of this tree, and not of one that took over its name."""
    if os.path.lexists(aside.place) and git_dir_of(aside.path) == Path(os.path.realpath(aside.admin)):
        return False
    place = place_of(aside.admin)
    tree = aside.place if os.path.lexists(aside.place) else aside.path
    mine = git_dir_of(tree) if (tree / ".git").exists() else None
    known = {os.path.realpath(aside.path), os.path.realpath(aside.place)}
    return place is not None and os.path.realpath(place) in known and mine == Path(os.path.realpath(aside.admin))
