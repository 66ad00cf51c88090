"""How two recorded states of a tree differ, path by path."""

from __future__ import annotations

from morph_tasks.repo.byproducts import is_content
from morph_tasks.repo.plumbing import EMPTY_TREES, Entry
from morph_tasks.repo.spawn import ChildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from morph_tasks.repo.plumbing import Plumbing

    Snapshot = tuple[str | None, Mapping[bytes, Entry | None]]

_ABSENT = b"000000"


def differences(plumbing: Plumbing, old: Snapshot, new: Snapshot) -> list[tuple[bytes, str]] | None:
    """Return sorted (path, "added" | "removed" | "changed"); None when a commit is gone."""
    if not all(head is None or (head.isalnum() and len(head) in EMPTY_TREES) for head in (old[0], new[0])):
        return None
    try:
        between = _between(plumbing, old[0], new[0])
        unknown = {
            path for path in (*old[1], *new[1]) if path not in between and not (path in old[1] and path in new[1])
        }
        # Where the commits agree, one lookup serves both.
        committed = plumbing.entries(old[0], unknown) if old[0] and unknown else {}
    except ChildError:
        return None
    found = []
    for path in sorted({*between, *old[1], *new[1]}):
        entry = committed.get(path)
        before, after = between.get(path, (entry, entry))
        kind = _kind(_entry(old[1].get(path, before)), _entry(new[1].get(path, after)))
        if kind:
            found.append((path, kind))
    return found


def _between(plumbing: Plumbing, old: str | None, new: str | None) -> dict[bytes, tuple[Entry | None, Entry | None]]:
    """Return the paths at which two commits differ, as far as they count; raises ChildError."""
    if old == new:
        return {}
    empty = EMPTY_TREES[len(old or new or "")]
    compared = ("diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none", old or empty, new or empty)
    fields = plumbing.fields(*compared)
    found = {}
    for about in fields:
        path = next(fields, b"")
        old_mode, new_mode, old_oid, new_oid, _ = about[1:].split(b" ")
        if is_content(path, True):
            found[path] = (_committed(old_mode, old_oid), _committed(new_mode, new_oid))
    return found


def _committed(mode: bytes, oid: bytes) -> Entry | None:
    return None if mode == _ABSENT else (mode.decode(), oid.decode())


def _entry(value: Entry | list[str] | None) -> Entry | None:
    """Take what has been through JSON, which knows no tuples."""
    return None if value is None else (value[0], value[1])


def _kind(before: Entry | None, after: Entry | None) -> str:
    if before == after:
        return ""
    if before is None:
        return "added"
    return "removed" if after is None else "changed"
