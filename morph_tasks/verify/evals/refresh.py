"""`--refresh-cache`: put committed answers aside, so that they are asked for again; bring them back if they are not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.evals.declared import place_problem

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def aside(repo: Repo, node_id: str) -> Path:
    """Return the folder, private to the tree, that holds the answers put aside while a node runs."""
    return repo.tree_state / "evals" / node_id / "aside"


def committed(repo: Repo, cache_dir: str, paths: Iterable[str]) -> frozenset[str]:
    """Return which files the commit holds byte for byte: what is taken away of them comes back from git.

    Asks for blob ids, not for the status: bits of the index can hide a change from that.
    """
    if repo.head() is None:
        return frozenset()
    try:
        listed = repo.git("--literal-pathspecs", "ls-tree", "-r", "-z", "HEAD", "--", f"{cache_dir}/")
        held = _blobs(listed)
        asked = [path for path in paths if path in held and "\n" not in path and os.path.isfile(repo.root / path)]
        if not asked:
            return frozenset()
        told = repo.git("hash-object", "--stdin-paths", stdin=os.fsencode("\n".join(asked) + "\n"))
    except Refusal:
        return frozenset()
    ids = told.decode("ascii", "replace").split()
    return frozenset(path for path, found in zip(asked, ids, strict=False) if held[path] == found)


def put_aside(repo: Repo, node_id: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Move files out of the tree, copied before they are removed; returns those that were moved."""
    folder = aside(repo, node_id)
    moved = []
    for path in paths:
        if place_problem(repo.root, path):
            continue
        copy = folder / path
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(repo.root / path, copy)
        moved.append(path)
    for path in moved:
        os.unlink(repo.root / path)
    return tuple(moved)


def put_back(repo: Repo, node_id: str) -> tuple[str, ...]:
    """Bring back what an unfinished refresh put aside and nobody wrote anew; returns what came back."""
    folder, back, stuck = aside(repo, node_id), [], False
    for copy in sorted(path for path in folder.rglob("*") if path.is_file()):
        path = copy.relative_to(folder).as_posix()
        target = repo.root / path
        if not os.path.lexists(target) and not place_problem(repo.root, path):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(copy, target)
                back.append(path)
            except OSError:
                stuck = True
    if not stuck:
        forget(repo, node_id)
    return tuple(back)


def forget(repo: Repo, node_id: str) -> None:
    """Drop the copies of a refresh that came to its end: the commit holds them."""
    shutil.rmtree(aside(repo, node_id), ignore_errors=True)
    with suppress(OSError):
        aside(repo, node_id).parent.rmdir()


def _blobs(listed: bytes) -> Mapping[str, str]:
    found = {}
    for line in listed.split(b"\0"):
        about, _, path = line.partition(b"\t")
        words = about.split()
        if len(words) == 3 and words[0] in (b"100644", b"100755"):
            found[os.fsdecode(path)] = words[2].decode("ascii")
    return found
