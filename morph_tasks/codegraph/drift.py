"""Which files differ from what the graph was extracted from. Imports are few: `graph status` asks it.

Size and time tell, and the content where they moved; a folder is listed again when its time moved. What was compared
once is noted, so that the next question costs one `stat` for each file and folder. In a big tree even that takes
longer than a short answer may: there only the files that matter to it are compared, and that is told.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

MOST = 1500  # files and folders that a short answer compares
COMPARE = "morph-spec graph status --compare"
_SHOWN = 3


class Drift:
    """Paths in the tree that are not as they were extracted, sorted. `compared`: how many of `files` were looked at.

    `complete`: all of them, and the folders for new ones. `moved_on`: one that differs was extracted while it was not
    as in HEAD, so the graph is of neither. `note`: the first line of what was noted of the extraction.
    """

    __slots__ = ("changed", "compared", "complete", "files", "gone", "moved_on", "new", "note")

    def __init__(
        self, found: tuple[list[str], list[str], list[str]], first: dict[str, Any], compared: int | None = None
    ) -> None:
        self.changed, self.new, self.gone = (sorted(some) for some in found)
        self.files: int = first["files"]
        self.complete = compared is None
        self.compared = self.files if compared is None else compared
        self.note = first
        self.moved_on = False
        self.settle(())

    def settle(self, committed: Collection[str]) -> None:
        """Take files that HEAD has by now as they were extracted for files of HEAD."""
        own = {*self.note["own"]}.difference(committed)
        self.moved_on = not own.isdisjoint((*self.changed, *self.new, *self.gone))

    def __len__(self) -> int:
        return len(self.changed) + len(self.new) + len(self.gone)

    def as_json(self) -> dict[str, Any]:
        """Return the part of a document; what was not looked for is null."""
        told: dict[str, Any] = {"count": len(self) if self.complete else None, "complete": self.complete}
        told |= {"compared": self.compared, "files": self.files, "changed": None, "new": None, "gone": None}
        if self.compared or self.complete:
            told |= {"changed": self.changed, "gone": self.gone}
        if self.complete or self.new:
            told["new"] = self.new
        return told

    def words(self) -> str:
        """Return how many files differ, the first of them, and what was not compared, fit for a terminal."""
        told = [self._named()] if len(self) or self.complete else []
        if not self.complete:
            how = f"{self.compared} of {self.files}" if self.compared else f"none of {self.files}"
            told.append(f"{how} files compared with what was extracted ({COMPARE} compares all)")
        return "; ".join(told)

    def _named(self) -> str:
        named = [*((path, "") for path in self.changed), *((path, " (new)") for path in self.new)]
        named += [(path, " (gone)") for path in self.gone]
        shown = ", ".join(f"{path if path.isprintable() else ascii(path)}{what}" for path, what in named[:_SHOWN])
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        if not named:
            return f"{self.files} files are as they were extracted"
        return (
            f"{len(named)} file{' differs' if len(named) == 1 else 's differ'} from what was extracted: {shown}{more}"
        )


def look(root: str, git_dir: str, common_dir: str, *, named: Iterable[str] = (), full: bool = True) -> Drift | None:
    """Compare a tree with what its graph was extracted from; None when that is not known. Never raises.

    Not `full`: in a big tree only the files `named`, and those that were not as in HEAD.
    """
    from morph_tasks.codegraph import extracted

    first = extracted.head(root)
    if first is None:
        return None
    if not full and first["entries"] > MOST:
        return _short(root, first, {*named, *first["own"]})
    read = extracted.read(root)
    if read is None:
        return None
    kept, seen = read
    changed, gone, learned = _files(root, kept["files"])
    new, listed = _folders(root, git_dir, common_dir, kept)
    if learned or listed:
        extracted.note_again(root, git_dir, kept, seen)
    return Drift((changed, new, gone), first)


def _short(root: str, first: dict[str, Any], paths: set[str]) -> Drift | None:
    """Compare some files; the note of all of them is read only where one was written since."""
    suspect = []
    for path in paths:
        try:
            now = os.stat(f"{root}/{path}")
        except OSError:
            suspect.append(path)
            continue
        if now.st_mtime_ns >= first["begun"] or now.st_ctime_ns >= first["begun"]:
            suspect.append(path)
    if not suspect:
        return Drift(([], [], []), first, len(paths))
    from morph_tasks.codegraph import extracted

    read = extracted.read(root)
    if read is None:
        return None
    known = read[0]["files"]
    changed, gone, _ = _files(root, {path: known[path] for path in suspect if path in known})
    new = [path for path in suspect if path not in known and path in first["own"] and os.path.lexists(f"{root}/{path}")]
    return Drift((changed, new, gone), first, len(paths))


def _files(root: str, files: dict[str, list[Any]]) -> tuple[list[str], list[str], bool]:
    """Return which files changed and which are gone, and whether something was learned about the others."""
    from morph_tasks.codegraph import extracted

    changed: list[str] = []
    gone: list[str] = []
    learned = False
    stat = os.stat
    for path, about in files.items():
        try:
            now = stat(f"{root}/{path}")
        except OSError:
            gone.append(path)
            continue
        if now.st_mtime_ns == about[1] and now.st_size == about[0]:
            continue
        if now.st_size != about[0] or extracted.content(f"{root}/{path}") != about[2]:
            changed.append(path)
        elif not extracted.racy(now.st_mtime_ns):
            about[1] = now.st_mtime_ns
            learned = True
    return changed, gone, learned


def _folders(root: str, git_dir: str, common_dir: str, kept: dict[str, Any]) -> tuple[list[str], bool]:
    """Return the new files of code in folders whose time moved, and whether such a folder was found without any."""
    from morph_tasks.codegraph import extracted

    moved: list[tuple[str, int]] = []
    for folder, when in kept["folders"].items():
        try:
            now = os.stat(f"{root}/{folder}").st_mtime_ns
        except OSError:
            continue
        if now != when:
            moved.append((folder, now))
    if not moved:
        return [], False
    new, aside, entered = _unknown(root, git_dir, common_dir, kept, [folder for folder, _ in moved])
    for folder, name in aside:
        kept["others"].setdefault(folder, []).append(name)
    learned = False
    for folder, now in moved:
        inside = f"{folder}/" if folder else ""
        if not extracted.racy(now) and not any(path.startswith(inside) for path in new):
            kept["folders"][folder] = now
            learned = True
    for folder in entered:  # watched from now on, and listed once more: its time is not known
        if not any(path.startswith(f"{folder}/") for path in new):
            kept["folders"][folder] = -1
    return new, learned


def _unknown(
    root: str, git_dir: str, common_dir: str, kept: dict[str, Any], moved: list[str]
) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Return the files of code that came since, the names, by folder, that the rules leave out, and new folders."""
    from morph_tasks.codegraph import extracted

    suffixes = {*extracted.CODE, *kept["suffixes"]}
    names: list[tuple[str, str]] = []
    for folder in moved:
        others = {*kept["others"].get(folder, ())}
        for name, is_folder in extracted.entries(root, folder):
            path = f"{folder}/{name}" if folder else name
            known = (
                path in kept["folders"] if is_folder else path in kept["files"] or not extracted.is_code(name, suffixes)
            )
            if not known and name not in others:
                names.append((folder, f"{name}/" if is_folder else name))
    if not names:
        return [], [], []
    paths = {f"{folder}/{name}" if folder else name: (folder, name) for folder, name in names}
    ignored = extracted.ignored(root, git_dir, common_dir, paths)
    new = [path for path in paths if path not in ignored and not path.endswith("/")]
    tops = [path[:-1] for path in paths if path not in ignored and path.endswith("/")]
    inner, entered = extracted.code_below(root, tops, suffixes)
    if inner:
        left_out = extracted.ignored(root, git_dir, common_dir, inner)
        new += [path for path in inner if path not in left_out]
    return new, [(folder, name.rstrip("/")) for path, (folder, name) in paths.items() if path in ignored], entered
