"""Which ignored files of a work tree may go with it: each is judged by its own content.

The main tree has the same bytes at the same path, or a tool makes it again, or it exists only there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.look import Link, Look, leads_out, look
from morph_tasks.fleet.regenerable import is_regenerable_file, is_regenerable_folder

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_CHUNK = 1 << 20


@dataclass(frozen=True)
class File:
    """A regular file: its path in the tree, its content as SHA-256, its permission bits, its size in bytes."""

    path: str
    sha256: str
    mode: int
    size: int

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "sha256": self.sha256, "mode": self.mode, "size": self.size}


@dataclass(frozen=True)
class Triage:
    """The ignored content of a tree, all paths relative to it.

    `regenerable` names folders (with a final `/`) and files, the uppermost only; `excluded_caches` those of them
    that lie in a folder which holds other things, too. Empty folders matter to repositories.
    """

    replicated: tuple[File, ...]
    regenerable: tuple[str, ...]
    exclusive: tuple[File, ...]
    links: tuple[Link, ...]
    excluded_caches: tuple[str, ...]
    empty_folders: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.exclusive if is_secret(file.path))


def is_secret(path: str) -> bool:
    """Tell whether a file is one that holds credentials by its name: `.env*`."""
    return path.rpartition("/")[2].startswith(".env")


def triage(tree: Repo, root: Path) -> Triage:
    """Sort what git ignores in a tree, by what the main tree `root` holds; raises Refusal `ignored-unreadable`, ..."""
    return sort_ignored(look(tree.root, tree.git_dir), tree.root, root)


def sort_ignored(seen: Look, tree: Path, root: Path, *, home: Path | None = None) -> Triage:
    """Sort the ignored paths of a look at `tree`; `home`: where the tree belongs. Raises Refusal `ignored-unreadable`.

    A file that vanishes meanwhile is not there.
    """
    sorter = _Sorter(tree, root, home or tree)
    for entry in seen.ignored:
        try:
            sorter.take(entry)
        except OSError as error:
            where = os.fsdecode(error.filename or entry)
            what = f"{where} is ignored by git and cannot be read, so nothing proves that it may go: {error.strerror}"
            raise Refusal(
                "ignored-unreadable", what, fix="make it readable for you, or remove it", path=where
            ) from None
    return sorter.sorted(seen.links)


def hash_file(path: Path) -> tuple[str, os.stat_result]:
    """Return the SHA-256 of a regular file, no link followed, and what it is; raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        running = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            running.update(chunk)
        return running.hexdigest(), os.fstat(file.fileno())


class _Sorter:
    """Collects the verdicts of one tree."""

    def __init__(self, tree: Path, root: Path, home: Path) -> None:
        self.tree = tree
        self.home = home
        self.root = Path(os.path.realpath(root))
        self.replicated: list[File] = []
        self.exclusive: list[File] = []
        self.regenerable: list[str] = []
        self.caches: list[str] = []
        self.links: list[Link] = []
        self.empty: list[str] = []

    def sorted(self, untracked_links: tuple[Link, ...]) -> Triage:
        links = {link.path: link for link in (*untracked_links, *self.links)}
        return Triage(
            tuple(self.replicated),
            tuple(self.regenerable),
            tuple(self.exclusive),
            tuple(links[path] for path in sorted(links)),
            tuple(self.caches),
            tuple(self.empty),
        )

    def take(self, entry: str) -> None:
        """Judge one path as git lists it."""
        path = entry.rstrip("/")
        if not entry.endswith("/"):
            self._file(path, inside=self._below_regenerable(path), listed=True)
        elif self._below_regenerable(path):
            self._made_again(path, listed=True)
        else:
            self._folder(path)

    def _below_regenerable(self, path: str) -> bool:
        parts = path.split("/")[:-1]
        return any(is_regenerable_folder(self.tree, "/".join(parts[:count])) for count in range(1, len(parts) + 1))

    def _folder(self, top: str) -> None:
        pending = [(top, False)]
        while pending:
            path, whole = pending.pop()
            whole = whole or _is_repository(self.tree / path)
            if not whole and is_regenerable_folder(self.tree, path):
                self._made_again(path, listed=path == top)
                continue
            children = _children(self.tree / path)
            self.empty += [] if children else [path]
            for name, is_folder in children:
                below = f"{path}/{name}"
                if is_folder:
                    pending.append((below, whole))
                else:
                    self._file(below, whole=whole)

    def _made_again(self, path: str, *, listed: bool) -> None:
        """Let a folder go, except for the repositories in it: nobody makes somebody's work there again."""
        self.regenerable.append(f"{path}/")
        self.caches += [] if listed else [f"{path}/"]
        for repository in _repositories(self.tree, path):
            self._folder(repository)

    def _file(self, path: str, *, inside: bool = False, listed: bool = False, whole: bool = False) -> None:
        place = self.tree / path
        try:
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                self.links.append(Link(path, os.readlink(place)))
            elif not stat.S_ISREG(mode):
                return  # a socket or a pipe holds nothing
            elif not whole and (inside or is_regenerable_file(self.tree, path)):
                self.regenerable.append(path)
                self.caches += [] if listed else [path]
            else:
                digest, about = hash_file(place)
                found = File(path, digest, stat.S_IMODE(about.st_mode), about.st_size)
                (self.replicated if self._has_main(found) else self.exclusive).append(found)
        except FileNotFoundError:
            return  # gone since it was listed

    def _has_main(self, file: File) -> bool:
        """Tell whether the main tree holds the same bytes at the same path, in a file of its own."""
        other = self.root / file.path
        real = os.path.realpath(other)
        # Behind a link, or in a repository without a main tree, it could be this very file.
        if real != str(other) or not leads_out(other, real, self.tree, self.home):
            return False
        try:
            return os.lstat(other).st_size == file.size and hash_file(other)[0] == file.sha256
        except OSError:
            return False


def _children(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except FileNotFoundError:
        return []  # gone since it was listed


def _repositories(tree: Path, top: str) -> Iterator[str]:
    """Yield the uppermost git repositories below a folder."""
    pending = [top]
    while pending:
        path = pending.pop()
        below = [f"{path}/{name}" for name, is_folder in _children(tree / path) if is_folder]
        found = {one for one in below if _is_repository(tree / one)}
        yield from sorted(found)
        pending += [one for one in below if one not in found]


def _is_repository(folder: Path) -> bool:
    if os.path.lexists(folder / ".git"):
        return True
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
