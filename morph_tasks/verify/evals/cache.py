"""The recorded answers of a node: which there are, what a run changed, and which of them no commit holds."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.byproducts import is_byproduct
from morph_tasks.verify.evals.declared import place_problem
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

WARM, COLD, REFRESHED = "warm", "cold", "refreshed"
# What keeps or describes an empty folder is no answer: a cache of these alone is empty.
_NOT_ANSWERS = {".gitkeep", ".keep", ".gitignore", ".gitattributes", "readme", "readme.md", "readme.txt", "readme.rst"}
_CHUNK = 1 << 20


@dataclass(frozen=True)
class CacheState:
    """What a run did to the recorded answers. `dirty`: paths that differ from the commit, None when git cannot tell."""

    state: str
    entries: int
    added: int
    changed: int
    removed: int
    dirty: tuple[str, ...] | None

    def as_json(self) -> dict[str, Any]:
        """Return what `nodes.tests.runs[].cache` shows."""
        return {
            "state": self.state,
            "entries": self.entries,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "dirty": list(self.dirty) if self.dirty is not None else None,
        }


def entries(repo: Repo, cache_dir: str, digest_of: Callable[[str], str | None] | None = None) -> dict[str, str]:
    """Return the recorded answers as path in the tree -> SHA-256; links and what git ignores are none.

    `digest_of` takes an absolute path, for a caller that keeps digests between runs.
    """
    digest = digest_of or sha256_of
    paths = list(_files(repo.root, cache_dir))
    ignored = _ignored(repo, cache_dir) if paths else frozenset()
    found = {path: digest(f"{repo.root}/{path}") for path in paths if path not in ignored}
    return {path: value or "unreadable" for path, value in found.items()}


def digest(repo: Repo, cache_dir: str, digest_of: Callable[[str], str | None] | None = None) -> str:
    """Return what identifies the recorded answers, committed or not: a part of the key and of the fingerprint."""
    found = entries(repo, cache_dir, digest_of)
    whole = "".join(f"{path}\0{value}\0" for path, value in sorted(found.items()))
    return hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()


def compare(
    before: Mapping[str, str], after: Mapping[str, str], dirty: tuple[str, ...] | None, state: str
) -> CacheState:
    """Return what lies between two looks at the cache; `state` says what to call it."""
    shared = before.keys() & after.keys()
    return CacheState(
        state=state,
        entries=len(after),
        added=len(after.keys() - before.keys()),
        changed=sum(before[path] != after[path] for path in shared),
        removed=len(before.keys() - after.keys()),
        dirty=dirty,
    )


def uncommitted(repo: Repo, cache_dir: str) -> tuple[str, ...] | None:
    """Return the paths of the cache that differ from the commit, sorted; None when git cannot tell."""
    try:
        said = repo.git(
            "--literal-pathspecs", "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=none", "--", cache_dir,
        )  # fmt: skip
    except Refusal:
        return None
    return tuple(sorted(os.fsdecode(line[3:]) for line in said.split(b"\0") if line))


def sha256_of(path: str) -> str | None:
    """Return the SHA-256 of a file in hex; None when it cannot be read."""
    summed = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                summed.update(chunk)
    except OSError:
        return None
    return summed.hexdigest()


def _files(root: Path, cache_dir: str) -> Iterator[str]:
    top = f"{root}/{cache_dir}"
    ask("file", top)
    if place_problem(root, cache_dir):
        return  # a link on the way: what is behind it is not in this tree
    for folder, folders, names in os.walk(top):
        ask("file", folder)
        folders[:] = sorted(name for name in folders if name != ".git")
        below = os.path.relpath(folder, root)
        for name in sorted(names):
            path = f"{below}/{name}"
            if name.lower() in _NOT_ANSWERS or is_byproduct(os.fsencode(name), False):
                continue
            try:
                about = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode):
                yield path


def _ignored(repo: Repo, cache_dir: str) -> frozenset[str]:
    try:
        said = repo.git("--literal-pathspecs", "ls-files", "-z", "-o", "-i", "--exclude-standard", "--", cache_dir)
    except Refusal:
        return frozenset()
    return frozenset(os.fsdecode(path) for path in said.split(b"\0") if path)
