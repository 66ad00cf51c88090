"""The files of a change with the source of both sides, as git knows them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.codegraph.spans import LARGEST, language_of
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.repo.git import Repo

_FILES = ("100644", "100755", "100664")
_NONE = "000000"


@dataclass(frozen=True)
class Sides:
    """The two sides of a change by commit; `new` is None for the work tree, `said` is what was asked for."""

    old: str
    new: str | None
    said: str


@dataclass(frozen=True)
class ChangedFile:
    """One file. A side is None when the file is not there; `special`: a link or a submodule on either side."""

    path: str
    old: bytes | None
    new: bytes | None
    special: bool = False


def sides(repo: Repo, base: str | None) -> Sides:
    """Return what is compared with what; raises Refusal `unknown-commit`.

    Nothing: HEAD with the work tree. A commit: it with the work tree. `A..B`: two commits. `A...B`: B with where it
    left A, `A...`: the work tree with where HEAD left A. Another empty end is HEAD.
    """
    if base is None:
        return Sides(repo.head() or _empty_tree(repo), None, "HEAD")
    first, dots, last = base.partition("..")
    if not dots:
        return Sides(_commit(repo, base), None, base)
    forked = last.startswith(".")
    ends = [_commit(repo, end or "HEAD") for end in (first, last.removeprefix("."))]
    if forked:
        common = repo.text("merge-base", *ends, ok=(0, 1)).split("\n")[0]
        if not common:
            what = f"the ends of {base} have no commit in common"
            raise Refusal("unknown-commit", what, fix="git log --oneline -20 --all", base=base)
        ends[0] = common
    return Sides(ends[0], None if last == "." else ends[1], base)


def _commit(repo: Repo, name: str) -> str:
    if not name.startswith("-"):
        found = repo.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", ok=range(256))
        if found:
            return found
    raise Refusal("unknown-commit", f"{name!r} names no commit here", fix="git log --oneline -20 --all", base=name)


def _empty_tree(repo: Repo) -> str:
    return repo.text("hash-object", "-t", "tree", os.devnull)


def changed_files(repo: Repo, between: Sides) -> list[ChangedFile]:
    """Return the files that differ, by path; new files of the work tree that git does not ignore are among them."""
    ends = [between.old] if between.new is None else [between.old, between.new]
    options = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none")
    rows = _rows(repo.git("diff", *options, *ends, "--"))
    if between.new is None:
        for path in repo.git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0"):
            if path and not path.endswith(b"/"):
                rows.setdefault(os.fsdecode(path), (_NONE, "100644", "", ""))
    wanted = [oid for path, row in rows.items() if language_of(path) for oid in row[2:] if oid.strip("0")]
    blobs = _blobs(repo, wanted if between.new is not None else _olds(rows))
    found = [_file(repo, path, row, blobs, worktree=between.new is None) for path, row in sorted(rows.items())]
    return [one for one in found if one.special or one.old != one.new or not language_of(one.path)]


def _olds(rows: dict[str, tuple[str, str, str, str]]) -> list[str]:
    return [row[2] for path, row in rows.items() if language_of(path) and row[2].strip("0")]


def _rows(raw: bytes) -> dict[str, tuple[str, str, str, str]]:
    """Return path -> old mode, new mode, old blob, new blob of `git diff --raw -z`."""
    found: dict[str, tuple[str, str, str, str]] = {}
    fields = raw.split(b"\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        words = about.decode("ascii", "replace").lstrip(":").split(" ")
        if len(words) == 5 and not words[4].startswith("U"):
            found[os.fsdecode(path)] = (words[0], words[1], words[2], words[3])
    return found


def _file(
    repo: Repo, path: str, row: tuple[str, str, str, str], blobs: dict[str, bytes | None], *, worktree: bool
) -> ChangedFile:
    old_mode, new_mode, old_id, new_id = row
    special = any(mode not in (*_FILES, _NONE) for mode in (old_mode, new_mode))
    if special or not language_of(path):
        return ChangedFile(path, b"" if old_mode != _NONE else None, b"" if new_mode != _NONE else None, special)
    old = blobs.get(old_id) if old_mode != _NONE else None
    if new_mode == _NONE:
        return ChangedFile(path, old, None)
    if not worktree:
        return ChangedFile(path, old, blobs.get(new_id))
    here = repo.root / path
    try:
        if here.is_symlink() or not here.is_file():
            return ChangedFile(path, old, None, special=here.is_symlink())
        with open(here, "rb") as file:
            return ChangedFile(path, old, file.read(LARGEST + 1))
    except OSError:
        return ChangedFile(path, old, b"\0")  # it is there and cannot be read, so it is not parsed either


def _blobs(repo: Repo, ids: Iterable[str]) -> dict[str, bytes | None]:
    """Return the contents of blobs by one process of git."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    said = repo.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode())
    found: dict[str, bytes | None] = {}
    at = 0
    for oid in wanted:
        end = said.index(b"\n", at)
        words = said[at:end].split(b" ")
        at = end + 1
        if len(words) == 3 and words[1] == b"blob":
            size = int(words[2])
            found[oid] = said[at : at + size]
            at += size + 1
        else:
            found[oid] = b"\0"  # gone from a partial clone: there, and not to be read
    return found
