"""Which files a tree had when something was measured: the commit, and what differed from it.

A snapshot names no key; it lets a later run say which file changed. Large ones are kept once, by digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import read_json, write_atomic
from morph_tasks.verify.digests import text_digest

if TYPE_CHECKING:
    from morph_tasks.repo.fingerprint import TreeState

Snapshot = tuple[str | None, dict[bytes, tuple[str, str] | None]]

_INLINE = 20  # differing files that a record holds itself
_KEPT = 200


def keep(shared: Path, tree: TreeState) -> dict[str, Any]:
    """Return what a record says of its tree: `{head, dirty}`, or `{head, file}` with the rest beside the store."""
    dirty = {os.fsdecode(path): list(entry) if entry else None for path, entry in tree.dirty.items()}
    if len(dirty) <= _INLINE:
        return {"head": tree.head, "dirty": dirty}
    text = json.dumps(dirty, sort_keys=True, ensure_ascii=True)
    digest = text_digest(text)
    path = _path(shared, digest)
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, text.encode(), mode=0o600)
        _prune(path.parent)
    return {"head": tree.head, "file": digest}


def load(shared: Path, recorded: Mapping[str, Any]) -> Snapshot | None:
    """Return a recorded snapshot; None when it is gone."""
    dirty = recorded.get("dirty")
    if "file" in recorded:
        try:
            dirty = read_json(_path(shared, str(recorded["file"])))
        except (OSError, Refusal):
            return None
    if not isinstance(dirty, dict):
        return None
    entries = {os.fsencode(path): (entry[0], entry[1]) if entry else None for path, entry in dirty.items()}
    return recorded.get("head"), entries


def of(tree: TreeState) -> Snapshot:
    """Return the snapshot of a tree as it is now."""
    return tree.head, dict(tree.dirty)


def _path(shared: Path, digest: str) -> Path:
    return shared / "snapshots" / f"{digest}.json"


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink(missing_ok=True)
