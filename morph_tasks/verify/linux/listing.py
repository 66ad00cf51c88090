"""Which files of a tree enter the container: what git knows or would take, without what only fits the host."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.repo.byproducts import is_byproduct

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# Never copied, at any depth: packages and environments that were made for the host.
_HOST_ONLY = frozenset({b"node_modules", b".git", b".venv"})
# What a .NET build leaves, and elsewhere the name of folders with programs that git tracks.
_PRODUCTS = frozenset({b"bin", b"obj"})
_PROJECT_ENDINGS = (b".csproj", b".fsproj", b".vbproj")
# At the root: what other features are checked out in.
_TREES = frozenset({b"worktrees", b".worktrees"})

LINK, _MODULE = 0o120000, 0o160000


@dataclass(frozen=True)
class Entry:
    """A file to copy, by its path from the root: `mode` is git's where the disk keeps none, else 0; None: untracked."""

    path: bytes
    mode: int | None = None


def files_to_copy(repo: Repo, left_out: Sequence[str] = ()) -> Iterator[Entry]:
    """Yield what is to be copied, sorted by path; the globs `left_out` name reports that a run writes.

    Tracked files count as they are on disk, and untracked ones unless git ignores them. `mode` is git's own where
    the file system of the host keeps no modes or links. Raises Refusal `git-failed`.
    """
    from morph_tasks.repo.globs import compile_globs

    root = os.fsencode(repo.root)
    others = _other_trees(repo, root)
    is_report: Callable[[bytes], bool] = compile_globs(left_out) if left_out else lambda _: False
    found: dict[bytes, Entry] = {}
    for entry, tracked in _listed(root, b"", others):
        if tracked or not (is_byproduct(entry.path, False) or is_report(entry.path)):
            found.setdefault(entry.path, entry)
    projects = {path.rpartition(b"/")[0] for path in found if path.endswith(_PROJECT_ENDINGS)}
    for path in sorted(found):
        if not _is_host_only(path, projects, found[path].mode is not None):
            yield found[path]


def _is_host_only(path: bytes, projects: set[bytes], tracked: bool) -> bool:
    parts = path.split(b"/")
    if parts[0] in _TREES or not _HOST_ONLY.isdisjoint(parts):
        return True
    for place, part in enumerate(parts[:-1]):
        if part in _PRODUCTS and (not tracked or b"/".join(parts[:place]) in projects):
            return True
    return False


def _other_trees(repo: Repo, root: bytes) -> frozenset[bytes]:
    """Return the folders below the root in which other work trees of the repository are checked out."""
    real = os.path.realpath(root)
    found = (os.path.realpath(os.fsencode(tree.path)) for tree in repo.worktrees())
    return frozenset(path[len(real) + 1 :] for path in found if path.startswith(real + b"/"))


def _listed(top: bytes, prefix: bytes, others: frozenset[bytes]) -> Iterator[tuple[Entry, bool]]:
    """Yield the files of one repository and of those inside it, each with whether it is tracked."""
    modes, links = _trusted(top)
    for mode, name in _tracked(top):
        path = prefix + name
        if _below(path, others):
            continue
        if mode == _MODULE:
            if os.path.lexists(top + b"/" + name + b"/.git"):
                yield from _listed(top + b"/" + name, path + b"/", others)
            continue
        yield Entry(path, _mode(mode, modes, links)), True
    for name in _asked(top, "ls-files", "-z", "--others", "--exclude-standard"):
        path = prefix + name
        if _below(path.rstrip(b"/"), others):
            continue
        if name.endswith(b"/"):
            yield from _listed(top + b"/" + name.rstrip(b"/"), path, others)
        else:
            yield Entry(path), False


def _tracked(top: bytes) -> Iterator[tuple[int, bytes]]:
    for line in _asked(top, "ls-files", "-z", "--stage"):
        said, _, name = line.partition(b"\t")
        yield int(said.split(b" ", 1)[0], 8), name


def _mode(mode: int, modes: bool, links: bool) -> int:
    """Return what to make of a tracked file: a link, an explicit mode, or 0 for what the disk says."""
    if mode == LINK:
        return 0 if links else LINK
    return 0 if modes else mode


def _trusted(top: bytes) -> tuple[bool, bool]:
    """Tell whether the modes and the links on disk mean something; git found out when it made the repository."""
    said = b"\0".join(_asked(top, "config", "-z", "--type=bool", "--get-regexp", r"^core\.(filemode|symlinks)$", ok=1))
    return b"core.filemode\nfalse" not in said, b"core.symlinks\nfalse" not in said


def _below(path: bytes, folders: frozenset[bytes]) -> bool:
    return any(path == folder or path.startswith(folder + b"/") for folder in folders)


def _asked(top: bytes, *args: str, ok: int = 0) -> Iterator[bytes]:
    """Yield the parts of what git says, ended by NUL each, as they come."""
    from morph_tasks.repo.git import clean_env
    from morph_tasks.repo.spawn import ChildError, stream

    rest = b""
    try:
        for chunk in stream(["git", "-C", os.fsdecode(top), *args], clean_env()):
            *parts, rest = (rest + chunk).split(b"\0")
            yield from parts
    except ChildError as error:
        if error.code not in (0, ok):
            said = error.stderr.decode("utf-8", "replace").strip()[-300:]
            raise Refusal("git-failed", f"git could not list the files of {os.fsdecode(top)}: {said}") from None
    except OSError as error:
        raise Refusal("git-failed", f"git could not be started: {error.strerror or error}") from None
