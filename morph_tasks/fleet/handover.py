"""A feature that lies uncommitted in the main tree goes to a tree of its own: copied, compared, and only then removed.

So there is never more than one copy that somebody works on, and never less than one on disk.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import FEATURES
from morph_tasks.fleet.copies import copy_file
from morph_tasks.fleet.walking import sync_folder

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

LEAVING, ARRIVING = ".leaving-", ".arriving-"


@dataclass(frozen=True)
class Handover:
    """The folder of a feature in the main tree. `tracked`: paths in it that git tracks there, which stay there."""

    slug: str
    source: Path
    tracked: frozenset[str]


def plan_handover(primary: Repo, slug: str) -> Handover | None:
    """Look at the feature's folder in the main tree; None when nothing of it lies there. Changes nothing.

    Raises Refusal `feature-is-link`, `odd-file`, `feature-uncommitted`.
    """
    source = primary.root / FEATURES / slug
    if os.path.islink(source) or os.path.islink(source.parent):
        what = f"{source} is a link: where the feature really lies cannot be moved"
        raise Refusal("feature-is-link", what, fix=f"put the folder itself at {source}")
    if not source.is_dir():
        leaving = source.with_name(LEAVING + slug)
        return Handover(slug, source, frozenset()) if leaving.is_dir() else None
    for name in _names(source):
        mode = os.lstat(source / name).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            fix = f"rm {shlex.quote(str(source / name))}"
            raise Refusal("odd-file", f"{source / name} is neither a file nor a folder nor a link", fix=fix)
    inside = f"{FEATURES}/{slug}"
    listed = primary.git("ls-files", "-z", "--", f":(top,literal){inside}").split(b"\0")
    tracked = frozenset(os.fsdecode(name).removeprefix(f"{inside}/") for name in listed if name)
    if tracked:
        _refuse_changed(primary, slug, inside)
    return Handover(slug, source, tracked)


def bring(plan: Handover, tree: Repo) -> list[str] | None:
    """Copy the folder into the tree and compare; return warnings, or None when the tree has its own already.

    The main tree keeps its copy until `let_go`; the caller holds the lock on its features. Raises Refusal
    `copy-failed`, `feature-changed`.
    """
    target, source = tree.root / FEATURES / plan.slug, _present(plan)
    names = _names(source)
    own = [name for name in names if name not in plan.tracked]
    if os.path.lexists(target):
        differing = [name for name in own if os.path.lexists(target / name) and not _same(source / name, target / name)]
        if differing:
            return None
        _copy([name for name in own if not os.path.lexists(target / name)], source, target)
    else:
        arriving = target.with_name(ARRIVING + plan.slug)
        if arriving.exists():
            shutil.rmtree(arriving)  # copies of ours, of a run that was killed
        _copy(names, source, arriving)
        _refuse_difference(names, source, arriving)
        try:
            os.rename(arriving, target)
            sync_folder(target.parent)
        except OSError as error:
            raise _failed(source, target, error) from error
        _refuse_difference(names, source, target)
        if plan.tracked:
            inside = f"{FEATURES}/{plan.slug}"
            return [f"{inside} is committed in {plan.source.parents[2]}, but not on its branch: a copy stays there"]
        return []
    _refuse_difference(own, source, target)
    return []


def let_go(plan: Handover, tree: Repo) -> None:
    """Remove from the main tree what the other one has now; raises Refusal `feature-changed` before anything is lost.

    The caller holds the lock on the features of the main tree.
    """
    target = tree.root / FEATURES / plan.slug
    if plan.tracked:
        own = [name for name in _names(plan.source) if name not in plan.tracked]
        _refuse_difference(own, plan.source, target)
        for name in sorted(own, reverse=True):
            path = plan.source / name
            if path.is_symlink() or not path.is_dir():
                path.unlink()
            else:
                with suppress(OSError):  # it holds something that git tracks
                    path.rmdir()
        return
    leaving = plan.source.with_name(LEAVING + plan.slug)
    if leaving.exists():
        _end(leaving, plan.source, target)
    if plan.source.exists():
        os.rename(plan.source, leaving)
        _end(leaving, plan.source, target)


def _end(leaving: Path, source: Path, target: Path) -> None:
    """Delete a folder that was renamed in the main tree; it goes back when the other tree has not all of it."""
    try:
        # Again: what was written in between came along with the rename.
        _refuse_difference(_names(leaving), leaving, target)
    except Refusal:
        if not os.path.lexists(source):
            os.rename(leaving, source)
        raise
    shutil.rmtree(leaving)


def _present(plan: Handover) -> Path:
    leaving = plan.source.with_name(LEAVING + plan.slug)
    return leaving if leaving.is_dir() and not plan.source.exists() else plan.source


def _refuse_changed(primary: Repo, slug: str, inside: str) -> None:
    """Refuse a folder of which git holds a part and the disk another: neither alone is the feature."""
    said = primary.git("status", "--porcelain", "-z", "--no-renames", "--", f":(top,literal){inside}")
    changed = [line for line in said.split(b"\0") if line and not line.startswith((b"??", b"!!"))]
    if not changed:
        return
    here = f"git -C {shlex.quote(str(primary.root))}"
    only_staged = all(line.startswith(b"A") for line in changed)
    fix = f"{here} reset -q -- {inside}" if only_staged else f'{here} commit -m "Work on {slug}" -- {inside}'
    what = f"feature {slug!r} has changes in {primary.root} that are {'staged' if only_staged else 'not committed'}"
    paths = [os.fsdecode(line[3:]) for line in changed]
    raise Refusal("feature-uncommitted", what, fix=fix, feature=slug, paths=paths)


def _names(folder: Path) -> list[str]:
    """Return all that lies in a folder, folders before what they hold."""
    found = []
    for parent, folders, files in os.walk(folder):
        inside = os.path.relpath(parent, folder)
        prefix = "" if inside == "." else f"{inside}/"
        found += [prefix + name for name in (*sorted(folders), *sorted(files))]
    return found


def _copy(names: list[str], source: Path, target: Path) -> None:
    path = source
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = source / name
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                os.symlink(os.readlink(path), target / name)
            elif stat.S_ISDIR(about.st_mode):
                (target / name).mkdir(exist_ok=True)
            else:
                copy_file(path, target / name, about, sync=True)
        for folder in {(target / name).parent for name in names} | {target}:
            sync_folder(folder)
    except OSError as error:
        raise _failed(path, target, error) from error


def _failed(path: Path, target: Path, error: OSError) -> Refusal:
    what = f"{path} could not be copied to {target}: {error.strerror or error}"
    return Refusal("copy-failed", what, fix="make room there, then try again")


def _refuse_difference(names: list[str], source: Path, target: Path) -> None:
    for name in names:
        if not _same(source / name, target / name):
            what = f"{source / name} changed while it was moved to {target}"
            raise Refusal("feature-changed", what, fix="try again once nobody writes there", exit_code=3)


def _same(one: Path, other: Path) -> bool:
    try:
        first, second = os.lstat(one).st_mode, os.lstat(other).st_mode
        if stat.S_IFMT(first) != stat.S_IFMT(second):
            return False
        if stat.S_ISLNK(first):
            return os.readlink(one) == os.readlink(other)
        if stat.S_ISDIR(first):
            return True
        return bool(first & 0o100) == bool(second & 0o100) and one.read_bytes() == other.read_bytes()
    except OSError:
        return False
