"""The files that differ from the base, with both contents, at a constant number of git processes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from morph_tasks.repo.hidden import hidden_paths
from morph_tasks.verify.validators.added import _SETTINGS as SETTINGS
from morph_tasks.verify.validators.weakening.model import Change

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

CONFIG = ".morph/config/config.json"
LARGEST = 4 << 20
_LINK = "120000"
_NONE = ("000000", "160000", _LINK)


def changed_files(repo: Repo, base: str, wanted: Callable[[str], bool]) -> list[Change]:
    """Return the changed files that `wanted` asks for, by path: committed, staged, unstaged and untracked alike.

    Below `.morph/` only the configuration counts. Line ends are normalised. Raises ProcError.
    """
    blobs = _from_git(repo, base, wanted)
    olds = _contents(repo, {oid for oid in blobs.values() if oid})
    changes = []
    for path, oid in sorted(blobs.items()):
        before, after = olds.get(oid or ""), _now(repo, path)
        before = _plain(before) if before is not None else None
        if before != after:
            changes.append(Change(path, before, after))
    return changes


def _from_git(repo: Repo, base: str, wanted: Callable[[str], bool]) -> dict[str, str | None]:
    """Return the blob that each changed path has in the base; None for one that is new."""
    words = ["diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all", "--no-ext-diff", base]
    raw = repo.run(*SETTINGS, *words, "--", ":/", env={"GIT_OPTIONAL_LOCKS": "0"}).stdout.split(b"\0")
    found: dict[str, str | None] = {}
    for head, name in zip(raw[::2], raw[1::2], strict=False):
        mode, _, oid, *_ = head.decode("ascii").removeprefix(":").split(" ")
        path = os.fsdecode(name)
        if _counts(path) and wanted(path):
            found[path] = None if mode in _NONE else oid
    for name in repo.git(*SETTINGS, "ls-files", "-z", "-o", "--exclude-standard", "--", ":/").split(b"\0"):
        path = os.fsdecode(name)
        if path and not path.endswith("/") and _counts(path) and wanted(path):
            found.setdefault(path, None)
    hidden = [path for path in map(os.fsdecode, hidden_paths(repo)) if _counts(path) and wanted(path)]
    return _blobs(repo, base, hidden) | found if hidden else found


def _blobs(repo: Repo, base: str, paths: Sequence[str]) -> dict[str, str | None]:
    """Return the blobs that files have in the base, whether they differ or not."""
    found: dict[str, str | None] = dict.fromkeys(paths)
    for line in repo.git(*SETTINGS, "ls-tree", "-r", "-z", "--full-tree", base).split(b"\0"):
        head, _, name = line.partition(b"\t")
        if (path := os.fsdecode(name)) in found:
            mode, _, oid = head.decode("ascii").split(" ")
            found[path] = None if mode in _NONE else oid
    return found


def _counts(path: str) -> bool:
    return not path.startswith(".morph/") or path == CONFIG


def _contents(repo: Repo, oids: set[str]) -> dict[str, bytes]:
    """Return the blobs by id; one git process for all of them."""
    if not oids:
        return {}
    said = repo.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in sorted(oids)).encode())
    found, at = {}, 0
    while at < len(said):
        end = said.index(b"\n", at)
        head = said[at:end].split(b" ")
        if len(head) < 3 or not head[2].isdigit():  # `<oid> missing`
            at = end + 1
            continue
        size = int(head[2])
        found[head[0].decode("ascii")] = said[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def _now(repo: Repo, path: str) -> bytes | None:
    """Return a file as it is now; None when it is gone, a link or a folder."""
    place = repo.root / path
    try:
        about = os.lstat(place)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            return None
        return _plain(place.read_bytes())
    except OSError:
        return None


def _plain(data: bytes) -> bytes:
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
