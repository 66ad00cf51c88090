"""Submodules of a scratch tree, filled from what a tree of the user's holds: nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.fleet.union.scratch import Scratch
    from morph_tasks.repo.git import Repo

_LINK = b"160000 "


def fill(room: Scratch, sources: Sequence[Path]) -> list[str]:
    """Check the submodules of the tree out as its commit names them; return those that no source has."""
    return _filled(room, room.tree, sources, "")


def _filled(room: Scratch, tree: Repo, sources: Sequence[Path], above: str) -> list[str]:
    from morph_tasks.repo.git import Repo

    empty = []
    for path, commit in _links(tree):
        source = _source(sources, path, commit)
        if source is None:
            empty.append(above + path)
            continue
        root = tree.root / path
        made = Repo(root, root / ".git", root / ".git", light=True)
        _check_out(made, source, commit)
        if not above:
            room.submodules.append(root)
        empty += _filled(room, made, [one / path for one in sources], f"{above}{path}/")
    return empty


def _links(tree: Repo) -> Iterator[tuple[str, str]]:
    for line in tree.git("ls-files", "-s", "-z").split(b"\0"):
        if line.startswith(_LINK):
            about, _, path = line.partition(b"\t")
            yield os.fsdecode(path), about.split(b" ")[1].decode()


def _source(sources: Sequence[Path], path: str, commit: str) -> Repo | None:
    """Return a filled submodule that has the commit."""
    from morph_tasks.repo.git import open_repo

    for one in sources:
        if not os.path.lexists(one / path / ".git"):
            continue
        try:
            found = open_repo(one / path).lightly()
            if found.run("cat-file", "-e", f"{commit}^{{commit}}", ok=range(256)).code == 0:
                return found
        except Refusal:
            continue
    return None


def _check_out(made: Repo, source: Repo, commit: str) -> None:
    from morph_tasks.fleet.union.scratch import share

    made.root.mkdir(parents=True, exist_ok=True)
    wide = ("--object-format=sha256",) if len(commit) == 64 else ()
    made.git("init", "-q", "--template=", *wide)
    share(source, made.git_dir, made.root)
    made.git("checkout", "-q", "-f", "--detach", commit)
