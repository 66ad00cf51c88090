"""The files on disk that globs name, ignored ones included."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from morph_tasks.repo.byproducts import is_byproduct
from morph_tasks.verify.probe import ask

_WILD = "*?[{"


def files_on_disk(root: Path, globs: Sequence[str], *, byproducts: bool = False) -> list[str]:
    """Return the files below `root` that match, relative to it and sorted; what cannot match is not walked."""
    found: set[str] = set()
    for glob in globs:
        start = fixed_part(glob)
        if start == glob.rstrip("/") and not os.path.isdir(f"{root}/{start}"):
            ask("file", f"{root}/{start}")
            if byproducts is False or os.path.isfile(f"{root}/{start}"):
                found.add(start)
            continue
        found.update(path for path in _below(str(root), start, glob) if byproducts or not _is_byproduct(path))
    return sorted(found)


def files_beside(root: Path, globs: Sequence[str]) -> list[str]:
    """Return the files that globs without `**` match name by name, not those in folders that they match."""
    wild = [glob for glob in globs if "**" not in glob and "{" not in glob and fixed_part(glob) != glob.rstrip("/")]
    found = {path for glob in wild for path in _below(str(root), fixed_part(glob), glob, beside=True)}
    return sorted(path for path in found if not _is_byproduct(path))


def tracked(root: Path, globs: Sequence[str]) -> list[str]:
    """Return the files that git tracks and globs match; raises Refusal `git-failed`."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.git import clean_env
    from morph_tasks.repo.globs import compile_globs
    from morph_tasks.repo.spawn import ChildError, stream

    specs = [f":(top,glob){glob}" if "{" not in glob else f":(top,literal){fixed_part(glob)}" for glob in globs]
    argv = ["git", "-C", str(root), "ls-files", "-z", "--", *specs]
    try:
        listed = b"".join(stream(argv, clean_env())).split(b"\0")
    except (ChildError, OSError) as error:
        raise Refusal("git-failed", f"git could not list the files of {root}: {error}") from None
    matches = compile_globs(globs)
    return sorted(os.fsdecode(path) for path in listed if path and matches(path))


def fixed_part(glob: str) -> str:
    """Return the leading folders of a glob that hold no wildcard; the whole of it when there is none."""
    parts = glob.removeprefix("./").rstrip("/").split("/")
    fixed: list[str] = []
    for part in parts:
        if any(mark in part for mark in _WILD):
            break
        fixed.append(part)
    return "/".join(fixed)


def _below(root: str, start: str, glob: str, *, beside: bool = False) -> Iterator[str]:
    from morph_tasks.repo.globs import compile_globs, compile_reaching_globs

    matches, reaches = compile_globs([glob]), compile_reaching_globs([glob])
    deepest = glob.removeprefix("./").count("/")
    ask("file", f"{root}/{start}")
    for top, folders, names in os.walk(f"{root}/{start}".rstrip("/")):
        # Its time tells a later no-op of files that come or go; those that match are asked one by one.
        ask("file", top)
        below = os.path.relpath(top, root)
        if ".git" in names and below != "." and is_work_tree(top):
            folders.clear()  # another state of the same files
            continue
        prefix = "" if below == "." else f"{below}/"
        ends = beside and prefix.count("/") >= deepest
        folders[:] = [
            name for name in folders if name != ".git" and not ends and reaches(os.fsencode(f"{prefix}{name}"))
        ]
        if not beside or ends:
            yield from (path for name in names if matches(os.fsencode(path := f"{prefix}{name}")))


def is_work_tree(folder: str) -> bool:
    """Tell whether a folder is a linked work tree of some repository."""
    try:
        with open(f"{folder}/.git", "rb") as pointer:
            said = pointer.read(4096)
    except OSError:
        return False
    return said.startswith(b"gitdir:") and b"/worktrees/" in said


def _is_byproduct(path: str) -> bool:
    return is_byproduct(os.fsencode(path), False)
