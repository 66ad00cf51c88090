"""Features on disk: read one, change one under the lock, list all of a tree."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.shape import looks_valid
from morph_tasks.features.view import FeatureView, unreadable, view_of
from morph_tasks.repo.files import locked, read_json, write_json
from morph_tasks.repo.trees import checked_out, feature_of

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

FEATURES = ".morph/features"
ARCHIVE = ".morph/archive"
INDEX = ".morph/state.json"
UNBORN, DEAD = ".unborn-", ".dead-"  # folders of features that are not there yet, or no longer
LOCK_WAIT_S = 10.0
# Seconds that a command waits for another one that changes this tree's features; `--wait` sets it.
lock_wait: ContextVar[float] = ContextVar("lock_wait", default=LOCK_WAIT_S)


def feature_dir(root: Path, slug: str) -> Path:
    """Return the folder of a feature, there or not; raises Refusal `feature-not-found` for a name that is a path."""
    if not slug or slug.startswith(".") or any(sign in slug for sign in "/\\\0"):
        raise _not_found(root, slug)
    return root / FEATURES / slug


def read_feature(root: Path, slug: str) -> dict[str, Any]:
    """Return `feature.json` as it is on disk, known keys checked, unknown keys kept.

    Raises Refusal `feature-not-found` (exit 2), `corrupt-file`, `unreadable-file` or `invalid-feature`.
    """
    path = feature_dir(root, slug) / "feature.json"
    try:
        data = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise _not_found(root, slug) from None
    except OSError as error:  # a name too long for the file system
        raise _not_found(root, slug) from error
    return checked(data, f"{FEATURES}/{slug}/feature.json")


def checked(data: Any, where: str) -> dict[str, Any]:
    """Return the data when its known keys are valid; raises Refusal `invalid-feature` naming file and key."""
    if not looks_valid(data):
        from morph_tasks.model.feature import validate

        validate(data, where)
    found: dict[str, Any] = data
    return found


def update_feature(root: Path, slug: str, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Change `feature.json` under the lock of this tree and return the new data.

    `change` edits the dict in place; it may raise a Refusal, and then nothing is written. A change that
    changes nothing leaves the file untouched. Raises what `read_feature` raises, and `busy` (exit 3).
    """
    with state_lock(root):
        before = read_feature(root, slug)
        data = copy.deepcopy(before)
        change(data)
        if data == before:
            return before
        data["updatedAt"] = now()
        where = f"{FEATURES}/{slug}/feature.json"
        write_json(root / where, checked(data, where))
        write_index(root)
        return data


def list_features(
    root: Path,
    *,
    archived: bool = False,
    repo: Repo | None = None,
    trees: Sequence[tuple[Path, str]] | None = None,
) -> list[FeatureView]:
    """Return the features of a tree by name; one that cannot be read is a row with a flag.

    With `repo`, a feature that another living tree owns is read there: the copy here is frozen. `trees`: those
    trees and their branches, for whoever knows them already. Archived ones come last and only when asked for. Writes
    nothing.
    """
    found = [read_view(path) for path in _folders(root / FEATURES)]
    if repo:
        found = _with_owners(found, repo, checked_out(repo) if trees is None else trees)
    if archived:
        found += [read_view(path, archived=True) for path in _folders(root / ARCHIVE)]
    return found


def active_feature(root: Path) -> str | None:
    """Return the feature in work that was touched last; None when there is none."""
    living = [view for view in list_features(root) if view.status in ("draft", "in_progress")]
    newest = max(living, key=lambda view: (view.updated_at or view.created_at or "", view.slug), default=None)
    return newest.slug if newest else None


def write_index(root: Path) -> None:
    """Write `.morph/state.json` anew from the features; the caller holds the lock."""
    rows = {view.slug: {"status": view.status, "updatedAt": view.updated_at} for view in list_features(root)}
    # Only an index: the next mutator writes it again.
    with suppress(Refusal):
        write_json(root / INDEX, {"version": 1, "features": rows})


def sweep_leftovers(root: Path) -> None:
    """Remove what killed runs left beside the features; the caller holds the lock."""
    import shutil

    for prefix in (UNBORN, DEAD):
        for left in (root / FEATURES).glob(f"{prefix}*"):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def state_lock(root: Path, *, wait_s: float | None = None) -> Iterator[None]:
    """Hold the lock on the features of one tree; raises Refusal `busy` (exit 3). Not reentrant."""
    patience = lock_wait.get() if wait_s is None else wait_s
    with locked(_lock_file(root), wait_s=patience, what="the state of this tree"):
        yield


def now() -> str:
    """Return the time as written in state files: UTC, milliseconds, `Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _lock_file(root: Path) -> Path:
    dot = root / ".git"
    with suppress(OSError):
        pointer = dot.read_text("utf-8", "surrogateescape")
        if pointer.startswith("gitdir:"):
            return Path(os.path.join(root, pointer.partition(":")[2].strip())) / "morph-spec" / "state.lock"
    if dot.is_dir():
        return dot / "morph-spec" / "state.lock"
    return root / ".morph" / "logs" / "state.lock"


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return sorted(Path(entry.path) for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []


def read_view(path: Path, *, archived: bool = False) -> FeatureView:
    """Return the row of the feature in a folder; one that cannot be read has a flag."""
    try:
        data = read_json(path / "feature.json")
    except (OSError, Refusal) as error:
        missing = isinstance(error, FileNotFoundError)
        return unreadable(path, "no feature.json" if missing else str(error), archived=archived)
    return view_of(path, data, archived=archived)


def _with_owners(found: list[FeatureView], repo: Repo, trees: Sequence[tuple[Path, str]]) -> list[FeatureView]:
    rows = {view.slug: view for view in found}
    here = os.path.realpath(repo.root)
    for tree, branch in trees:
        slug = feature_of(branch)
        if slug is None or os.path.realpath(tree) == here:
            continue
        path = tree / FEATURES / slug
        if path.is_dir():
            rows[slug] = replace(read_view(path), tree=str(tree))
        elif slug in rows:
            rows[slug] = replace(rows[slug], tree=str(tree), flags=(*rows[slug].flags, "not-in-owner-tree"))
    return [rows[slug] for slug in sorted(rows)]


def _not_found(root: Path, slug: str) -> Refusal:
    plain = bool(slug) and not slug.startswith(".") and not set(slug) & set("/\\\0")
    known = [path.name for path in _folders(root / FEATURES)] if slug else []
    if plain and os.path.isdir(root / ARCHIVE / slug):
        what, fix = f"feature {slug!r} is archived", "morph-spec list --all"
    elif plain and (told := _elsewhere(root, slug)):
        what, fix = told
    else:
        what = f"there is no feature {slug!r} in this tree"
        fix = (
            "morph-spec list"
            if known or _has_branches(root)
            else "morph-spec create <feature> --description … --type …"
        )
    return Refusal("feature-not-found", what, fix=fix, exit_code=2, feature=slug)


def _has_branches(root: Path) -> bool:
    """Tell whether any feature has a branch here, so that a name may be a slip of the pen."""
    from morph_tasks.proc import ProcError
    from morph_tasks.repo.git import open_repo

    with suppress(Refusal, ProcError, OSError):
        return bool(open_repo(root).lightly().text("for-each-ref", "--count=1", "refs/heads/morph/"))
    return False


def _elsewhere(root: Path, slug: str) -> tuple[str, str] | None:
    """Return where a feature is that this tree does not have, and how to get there; None when it is nowhere."""
    from morph_tasks.features.whereabouts import missed
    from morph_tasks.repo.git import open_repo

    try:
        return missed(open_repo(root).lightly(), slug)
    except (Refusal, OSError):
        return None
