"""Folders that all work trees share with the main one by a link: packages, agents' settings, the framework."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

DEFAULT = ("node_modules", ".claude", ".morph/framework")
# What belongs to one tree alone.
_OWN = (".git", ".morph/features", ".morph/archive", ".morph/evidence", ".morph/logs", ".morph/config")


@dataclass(frozen=True)
class Linked:
    """Paths of a tree that are links now. `kept`: they were before; `skipped`: {path, why}."""

    made: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    skipped: tuple[dict[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"made": list(self.made), "kept": list(self.kept), "skipped": list(self.skipped)}


def wanted(primary: Repo, config: Config) -> tuple[str, ...]:
    """Return the paths that a tree shares: those that exist in the main tree and that git does not track there."""
    return _judged(primary, config)[0]


def link_all(primary: Repo, tree: Repo, config: Config) -> Linked:
    """Link what the main tree shares into a tree, over nothing that is there; raises Refusal `write-failed`."""
    names, skipped = _judged(primary, config)
    made, kept = [], []
    for name in names:
        why = _link(primary.root, tree.root, name)
        if why is None:
            made.append(name)
        elif why == "":
            kept.append(name)
        else:
            skipped.append({"path": name, "why": why})
    return Linked(tuple(made), tuple(kept), tuple(skipped))


def put_links(tree: Path, links: Sequence[Mapping[str, str]]) -> list[str]:
    """Make links again as they were, {path, target} each; return the paths where something else lies.

    Raises Refusal `write-failed`.
    """
    taken = []
    for link in links:
        place = tree / link["path"]
        if os.path.islink(place) and os.readlink(place) == link["target"]:
            continue
        if os.path.lexists(place) or not real_folders(tree, link["path"]):
            taken.append(link["path"])
        else:
            _make(place, link["target"])
    return taken


def _judged(primary: Repo, config: Config) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return what is to be linked, and what a project named in vain."""
    block = config.data.get("worktree")
    named = block.get("links") if isinstance(block, dict) else None
    names, skipped = [], []
    for said in DEFAULT if named is None else named:
        name = posixpath.normpath(said)
        why = _unfit(primary.root, name)
        if why is None:
            names.append(name)
        elif named is not None:
            skipped.append({"path": said, "why": why})
    names = list(dict.fromkeys(names))
    tracked = _tracked(primary, names) if names else set()
    if named is not None:
        skipped += [{"path": name, "why": "git tracks it"} for name in names if name in tracked]
    return tuple(name for name in names if name not in tracked), skipped


def _unfit(root: Path, name: str) -> str | None:
    if name == "." or name.startswith(("/", "../")) or name == "..":
        return "it leads out of the tree"
    parts = name.casefold().split("/")
    for own in _OWN:
        mine = own.split("/")
        if parts[: len(mine)] == mine or mine[: len(parts)] == parts:
            return "it belongs to each tree alone"
    return None if (root / name).exists() else "the main tree has none"


def _tracked(primary: Repo, names: list[str]) -> set[str]:
    listed = primary.git("--literal-pathspecs", "ls-files", "-z", "--", *names)
    paths = [os.fsdecode(path) for path in listed.split(b"\0") if path]
    return {name for name in names if any(path == name or path.startswith(f"{name}/") for path in paths)}


def _link(root: Path, tree: Path, name: str) -> str | None:
    """Make one link; return None when it is made, "" when it was there, else why it is not."""
    place, target = tree / name, root / name
    if os.path.lexists(place):
        return "" if _leads_to(place, target) else "something is there already"
    real = os.path.realpath(target)
    if os.path.realpath(tree).startswith(real.rstrip(os.sep) + os.sep):
        return "the work tree lies in it"
    if not real_folders(tree, name):
        return "a folder above it is a link or a file"
    _make(place, str(target))
    return None


def _make(place: Path, target: str) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, place)
    except OSError as error:
        raise Refusal("write-failed", f"{place} could not be linked: {error.strerror or error}") from error


def real_folders(tree: Path, path: str) -> bool:
    """Tell whether all that lies above a path in the tree is a folder, or not there: a link leads elsewhere."""
    above = [tree / parent for parent in Path(path).parents if str(parent) != "."]
    return all(not os.path.islink(one) and (one.is_dir() or not one.exists()) for one in above)


def _leads_to(place: Path, target: Path) -> bool:
    return os.path.islink(place) and os.path.realpath(place) == os.path.realpath(target)
