"""Take a feature away: into the archive, or for good. What git could not give back is copied aside first."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.backup import back_up
from morph_tasks.features.shape import GATES
from morph_tasks.features.store import (
    ARCHIVE,
    DEAD,
    FEATURES,
    checked,
    feature_dir,
    now,
    read_feature,
    state_lock,
    sweep_leftovers,
    write_index,
)
from morph_tasks.features.view import approved, by_policy
from morph_tasks.repo.commits import commit_paths, refuse_commit
from morph_tasks.repo.files import read_json, write_atomic, write_json
from morph_tasks.repo.trees import feature_branch, live_owners, primary_root, require_owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


ENDED = ("archived", "abandoned")


@dataclass(frozen=True)
class Removed:
    """What was done. `commit`: None when there was nothing to commit; `backup`: where copies lie, if needed."""

    slug: str
    commit: str | None
    archived_at: str | None = None
    backup: Path | None = None
    branch: str | None = None
    resumed: bool = False


@dataclass(frozen=True)
class Along:
    """What goes into the commit of an archive beside the move, by path in the tree.

    `write`: path → text; `remove`: files that go; `add`: files as they lie there.
    """

    write: Mapping[str, str] = field(default_factory=dict)
    remove: Sequence[str] = ()
    add: Sequence[str] = ()


def archive(
    repo: Repo,
    slug: str,
    *,
    status: str = "archived",
    command: str = "",
    along: Along | None = None,
    can_commit: bool = False,
) -> Removed:
    """Move a feature to the archive and commit the move; a move that was never committed is taken up.

    `can_commit`: the caller has made sure of that, as `refuse_commit` does. Raises Refusal `owner-tree-elsewhere`,
    `archive-exists`, what a commit refuses, or what reading raises.
    """
    require_owner_tree(repo, slug, command=command)
    target = repo.root / ARCHIVE / slug
    resumed = not feature_dir(repo.root, slug).exists() and _half_archived(repo, slug)
    if not resumed:
        read_feature(repo.root, slug)
        if os.path.lexists(target):
            raise Refusal("archive-exists", f"{ARCHIVE}/{slug} exists already", fix="choose which one stays")
    if not can_commit:
        refuse_commit(repo)
    source = feature_dir(repo.root, slug)
    beside = along or Along()
    gone = [f"{FEATURES}/{slug}", *beside.remove]
    added = [f"{ARCHIVE}/{slug}", *beside.write, *beside.add]
    with state_lock(repo.root):
        if not resumed:
            _move(source, target)
        before: dict[Path, bytes | None] = {}
        try:
            _mark(target, status, before)
            _apply(repo.root, beside, before)
            commit = commit_paths(repo, f"Archive {slug}", gone=gone, added=added)
        except BaseException:
            _put_back(before)
            if not resumed:
                os.rename(target, source)
            raise
        write_index(repo.root)
    branch = feature_branch(slug) if can_commit else _branch(repo, slug)
    return Removed(slug, commit, f"{ARCHIVE}/{slug}", branch=branch, resumed=resumed)


def delete(
    repo: Repo, slug: str, *, keep: bool = False, force: bool = False, command: str = "", with_tree: bool = False
) -> Removed:
    """Remove a feature; `keep` archives it as abandoned instead. `with_tree`: the caller takes its work tree down next.

    Raises Refusal `feature-has-worktree` (never waived), `gate-approved` (waived by `force`; policies do
    not count), `owner-tree-elsewhere`, `backup-failed`, what a commit refuses, or what reading raises.
    """
    if not with_tree:
        _refuse_living_tree(repo, slug, command or f"delete {slug}")
    require_owner_tree(repo, slug, command=command)
    refuse_signed(repo, slug, force=force, command=command)
    if keep:
        return archive(repo, slug, status="abandoned", command=command)
    refuse_commit(repo)
    folder = feature_dir(repo.root, slug)
    with state_lock(repo.root):
        sweep_leftovers(repo.root)
        saved = back_up(repo, folder, slug)
        # Committed first: a kill in between leaves the folder, untracked, and a second run ends the work.
        commit = commit_paths(repo, f"Delete {slug}", gone=[f"{FEATURES}/{slug}"])
        _remove(folder)
        write_index(repo.root)
    return Removed(slug, commit, backup=saved, branch=_branch(repo, slug))


def refuse_signed(repo: Repo, slug: str, *, force: bool, command: str = "") -> None:
    """Raise Refusal `gate-approved` for work that people signed, unless forced; and what reading raises.

    `command`: what was typed, without the name of the program.
    """
    data = _readable(repo, slug, force=force)
    signed = [gate for gate in GATES if approved(data, gate) and not by_policy(data, gate)]
    if signed and not force:
        again = command or f"delete {slug}"
        fix = f"morph-spec {again} --force"
        if not {"--archive", "--delete-branch"} & set(again.split()):
            fix = f"morph-spec {again} --archive --force, or {fix} to remove it for good"
        raise Refusal(
            "gate-approved",
            f"{slug!r} has approved gates ({', '.join(signed)}): this is work that somebody signed",
            fix=fix,
            gates=signed,
        )


def _refuse_living_tree(repo: Repo, slug: str, command: str) -> None:
    main = os.path.realpath(primary_root(repo))
    linked = [tree for tree in live_owners(repo, feature_branch(slug)) if os.path.realpath(tree) != main]
    if linked:
        raise Refusal(
            "feature-has-worktree",
            f"the work tree {linked[0]} works on {slug!r}: without its record it would be an orphan",
            fix=f"morph-spec {command} --with-worktree; or finish it: morph-spec finish {slug} --merge",
            worktree=str(linked[0]),
        )


def _readable(repo: Repo, slug: str, *, force: bool) -> dict[str, Any]:
    """Return the record; under `force` a broken one may be removed as well."""
    try:
        return read_feature(repo.root, slug)
    except Refusal as error:
        if error.code == "feature-not-found" and feature_dir(repo.root, slug).is_dir():
            return {}
        if error.code == "feature-not-found" or not force:
            raise
        return {}


def _half_archived(repo: Repo, slug: str) -> bool:
    """Tell whether a move to the archive was done and not committed, or not yet known to the index."""
    record = f"{ARCHIVE}/{slug}/feature.json"
    if not (repo.root / record).exists() or repo.head() is None:
        return False
    if repo.git("ls-tree", "-z", "--name-only", "HEAD", f"{FEATURES}/{slug}"):
        return True
    # Of a feature that was never committed, HEAD tells nothing.
    return bool(repo.git("--literal-pathspecs", "ls-files", "-z", "-o", "--exclude-standard", "--", record))


def _mark(target: Path, status: str, before: dict[Path, bytes | None]) -> None:
    """Write into a record that has moved what it is now; one that says so already keeps its time."""
    path = target / "feature.json"
    data = checked(read_json(path), f"{ARCHIVE}/{target.name}/feature.json")
    if data.get("status") not in ENDED:
        before[path] = path.read_bytes()
        when = now()
        write_json(path, {**data, "status": status, "archivedAt": when, "updatedAt": when})


def _apply(root: Path, along: Along, before: dict[Path, bytes | None]) -> None:
    """Write and remove what goes along, noting in `before` what was there; raises Refusal `write-failed`."""
    for name, text in along.write.items():
        path, data = root / name, text.encode("utf-8", "surrogateescape")
        before[path] = _content(path)
        if before[path] != data:
            write_atomic(path, data)
    for name in along.remove:
        before[root / name] = _content(root / name)
        with suppress(FileNotFoundError):
            (root / name).unlink()


def _put_back(before: Mapping[Path, bytes | None]) -> None:
    for path, data in before.items():
        if data is not None:
            write_atomic(path, data)
        else:
            path.unlink(missing_ok=True)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _move(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(source, target)
    except OSError as error:
        raise Refusal("write-failed", f"{target} could not be written: {error.strerror or error}") from error


def _remove(folder: Path) -> None:
    """Remove a folder in one step for readers; links are unlinked, never followed."""
    if folder.is_symlink():
        folder.unlink()
        return
    aside = Path(tempfile.mkdtemp(prefix=DEAD, dir=folder.parent))
    os.rename(folder, aside / folder.name)
    with suppress(OSError):
        shutil.rmtree(aside)


def _branch(repo: Repo, slug: str) -> str | None:
    branch = feature_branch(slug)
    return branch if repo.branch_exists(branch) else None
