"""What came into the default branch after some commits: merges and what else was put there, with the files of each."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

ARCHIVE = ".morph/archive"
_MOST_PATHS = 400  # asked of git by name; with more, it is asked for all
_HEADER = re.compile(rb"\x01([0-9a-f]{40}|[0-9a-f]{64})")
_BRANCH = re.compile(r"(?<![\w/-])(?:[\w.-]+/)?morph/([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/-])")
_ARCHIVED = re.compile(rf"{re.escape(ARCHIVE)}/([^/]+)/")


@dataclass(frozen=True)
class Arrival:
    """One commit of the default branch. `feature`: whose work it brings, as far as it says so; `merge`: it is one."""

    commit: str
    subject: str
    feature: str | None
    merge: bool
    files: tuple[str, ...]


def anything_new(repo: Repo, bases: Collection[str], tips: Collection[str]) -> bool:
    """Tell whether the tips hold commits that the bases have not.

    Raises Refusal `base-missing` where git cannot tell.
    """
    if repo.is_shallow():
        raise Refusal("base-missing", "this clone is shallow, so what came later cannot be known")
    said = repo.run("rev-list", "--max-count=1", *tips, *(f"^{base}" for base in bases), "--", ok=range(256))
    if said.code:
        what = f"the commit that the plan was checked against is not here ({', '.join(one[:10] for one in bases)})"
        raise Refusal("base-missing", what)
    return bool(said.stdout.strip())


def how_many(repo: Repo, bases: Collection[str], tips: Collection[str], *, merges: bool) -> int:
    """Count what came in along the first parents, or only the merges among them."""
    words = ("--count", "--first-parent", *(["--merges"] if merges else []))
    return int(repo.text("rev-list", *words, *tips, *(f"^{base}" for base in bases), "--"))


def arrivals(repo: Repo, bases: Collection[str], tips: Collection[str], paths: Iterable[str]) -> list[Arrival]:
    """Return what came in along the first parents, the newest first, with those of its files that lie in `paths`."""
    wanted = sorted(set(paths))
    named = [*wanted, ARCHIVE] if len(wanted) <= _MOST_PATHS else []
    words = ("--first-parent", "-m", "--no-renames", "--name-only", "-z", "--format=tformat:%x01%H%x00%P%x00%s")
    said = repo.git("--literal-pathspecs", "log", *words, *tips, *(f"^{base}" for base in bases), "--", *named)
    return list(_read(said.split(b"\0")))


def not_held(repo: Repo, bases: Collection[str], tips: Collection[str]) -> frozenset[str]:
    """Return the commits of the tips, later than the bases, that this tree does not hold."""
    said = repo.git("rev-list", *tips, "^HEAD", *(f"^{base}" for base in bases), "--")
    return frozenset(said.decode().split())


def _read(fields: Sequence[bytes]) -> Iterator[Arrival]:
    at = 0
    while at < len(fields):
        header = _HEADER.fullmatch(fields[at].lstrip(b"\n"))
        if not header:
            at += 1
            continue
        parents, subject = fields[at + 1].split(), fields[at + 2].decode("utf-8", "replace")
        at += 3
        files: list[str] = []
        while at < len(fields) and not _HEADER.fullmatch(fields[at].lstrip(b"\n")):
            files.append(os.fsdecode(fields[at].removeprefix(b"\n") if not files else fields[at]))
            at += 1
        files = [path for path in files if path]
        yield Arrival(header[1].decode(), subject, _feature(subject, files), len(parents) > 1, tuple(files))


def _feature(subject: str, files: Iterable[str]) -> str | None:
    """Return the feature whose branch a subject names, or whose folder went into the archive."""
    if named := _BRANCH.search(subject):
        return named[1]
    archived = {found[1] for path in files if (found := _ARCHIVED.match(path))}
    return archived.pop() if len(archived) == 1 else None
