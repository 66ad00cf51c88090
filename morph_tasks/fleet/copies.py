"""Ignored files that a new work tree needs and git does not bring: `.env*`, and what `.worktreeinclude` names."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.private import digest

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

INCLUDE = ".worktreeinclude"
TEMPORARY = ".morph-copying"
# Made again by a build, and too big to carry along.
_FOLDERS = """
    node_modules bower_components bin obj dist build out target .venv venv .next .nuxt .output .svelte-kit .gradle
    Pods DerivedData .terraform .dart_tool _build deps .cache
"""
_BUILT = frozenset(_FOLDERS.split())
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BEGIN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Copied:
    """Paths that were copied. `skipped`: what `.worktreeinclude` names and why it was left out, {path, why}."""

    env: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    skipped: tuple[dict[str, str], ...] = ()
    asked: bool = field(default=False)

    def include_json(self) -> dict[str, Any] | None:
        """Return what became of `.worktreeinclude`; None when the project has none."""
        return {"copied": list(self.included), "skipped": list(self.skipped)} if self.asked else None


def copy_all(primary: Repo, tree: Repo) -> Copied:
    """Copy what the main tree has and the other one lacks; never over a file, never through a link.

    Only files that git ignores in both: a secret must not show up as a new file. Raises Refusal `copy-failed`.
    """
    asked = (primary.root / INCLUDE).is_file()
    env = [name for name in _env_names(primary.root) if not os.path.lexists(tree.root / name)]
    named = [path for path in (_named(primary) if asked else ()) if path not in env]
    skipped: dict[str, str] = {}
    fit = [path for path in named if _is_fit(path, skipped) and not os.path.lexists(tree.root / path)]
    # Git would not even answer for a path behind a link.
    fit = [path for path in fit if not _behind_link(path, skipped, primary.root, tree.root)]
    candidates = [*env, *fit]
    if candidates:
        hidden = _ignored(tree, _ignored(primary, candidates))
        for path in fit:
            if path not in hidden:
                skipped[path] = "git does not ignore it"
        candidates = [path for path in candidates if path in hidden]
    done = []
    for path in candidates:
        why = _copy(primary.root, tree.root, path)
        if why is None:
            done.append(path)
        elif path not in env:
            skipped[path] = why
    said = tuple({"path": path, "why": why} for path, why in skipped.items())
    made = set(done)
    return Copied(tuple(p for p in env if p in made), tuple(p for p in fit if p in made), said, asked)


def _env_names(root: Path) -> list[str]:
    with os.scandir(root) as entries:
        return sorted(
            entry.name
            for entry in entries
            if (entry.name == ".env" or entry.name.startswith(".env.")) and entry.is_file(follow_symlinks=False)
        )


def _named(primary: Repo) -> list[str]:
    # With --exclude-standard git would list all that is ignored, whatever the file says.
    listed = primary.git("ls-files", "-z", "--others", "--ignored", f"--exclude-from={primary.root / INCLUDE}")
    return sorted(os.fsdecode(path) for path in listed.split(b"\0") if path)


def _is_fit(path: str, skipped: dict[str, str]) -> bool:
    """Tell whether a path is one to carry along; what is left out is told by its folder."""
    from morph_tasks.repo.byproducts import is_byproduct

    *folders, _ = path.split("/")
    if path.endswith("/"):
        skipped[path] = "it is a repository of its own"
        return False
    if ".morph" in folders[:1] or ".git" in folders:
        skipped[f"{folders[0]}/"] = "it belongs to each tree alone"
        return False
    for depth, folder in enumerate(folders, 1):
        if folder in _BUILT:
            skipped["/".join(folders[:depth]) + "/"] = "tools make it again"
            return False
    if is_byproduct(os.fsencode(path), False):
        skipped[path] = "tools make it again"
        return False
    return True


def _behind_link(path: str, skipped: dict[str, str], *roots: Path) -> bool:
    for above in Path(path).parents:
        if any(os.path.islink(root / above) for root in roots if str(above) != "."):
            skipped[f"{above}/"] = "it is a link"
            return True
    return False


def _ignored(repo: Repo, paths: Iterable[str]) -> set[str]:
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if not given:
        return set()
    # Exit code 1: none of them; 128: one that git does not answer for.
    said = repo.git("check-ignore", "-z", "--stdin", ok=(0, 1, 128), stdin=given)
    return {os.fsdecode(path) for path in said.split(b"\0") if path}


def _copy(root: Path, tree: Path, path: str) -> str | None:
    """Copy one file or link; return why not, None when it is done."""
    source, place = root / path, tree / path
    try:
        about = os.lstat(source)
        if stat.S_ISLNK(about.st_mode):
            target = os.readlink(source)
            if not _stays(path, target):
                return "the link leads out of the tree"
            place.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target, place)
        elif stat.S_ISREG(about.st_mode):
            place.parent.mkdir(parents=True, exist_ok=True)
            copy_file(source, place, about)
        else:
            return "it is no file"
    except FileNotFoundError:
        return "it is gone"
    except OSError as error:
        raise Refusal(
            "copy-failed", f"{source} could not be copied to {place}: {error.strerror or error}", fix="make room there"
        ) from error
    return None


def copy_file(source: Path, place: Path, about: os.stat_result, *, sync: bool = False) -> None:
    """Copy a file with its mode and times: whole or not at all, at one name beside it until then. Raises OSError."""
    part = beside(place)
    try:
        with open(os.open(source, _READ), "rb") as old, open(os.open(part, _BEGIN, 0o600), "wb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
            new.flush()
            os.fchmod(new.fileno(), stat.S_IMODE(about.st_mode))
            if sync:
                os.fsync(new.fileno())
        os.utime(part, ns=(about.st_atime_ns, about.st_mtime_ns))
        os.rename(part, place)
    except BaseException:
        if os.path.lexists(part):
            os.unlink(part)
        raise


def beside(place: Path) -> Path:
    """Return where a file lies until it is whole: the same for every try, so what a killed run left is written over."""
    return place.with_name(f".{digest(os.fsencode(place.name))[:12]}{TEMPORARY}")


def _stays(path: str, target: str) -> bool:
    """Tell whether a link stays inside of the tree wherever the tree lies."""
    if os.path.isabs(target):
        return False
    led = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return led != ".." and not led.startswith("../")
