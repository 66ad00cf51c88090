"""The work trees of a repository in which a `git worktree add` was killed: git itself then refuses to list any."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def is_half_made(admin: Path) -> bool:
    """Tell whether the private folder of a tree lacks one of the three files that git needs to read it."""
    try:
        return not all((admin / name).read_bytes().strip() for name in ("HEAD", "gitdir", "commondir"))
    except OSError:
        return True


def half_made(repo: Repo) -> list[Path]:
    """Return the private folders of trees that git did not finish to register."""
    return [admin for admin in admin_folders(repo) if is_half_made(admin)]


def listed_by_hand(repo: Repo) -> Iterator[bytes]:
    """Yield the records of `git worktree list --porcelain -z`, half-made trees left out."""
    main = repo.common_dir.parent if repo.common_dir.name == ".git" else repo.common_dir
    yield _record(repo, main, repo.common_dir)
    for admin in admin_folders(repo):
        if not is_half_made(admin):
            pointer = os.fsdecode((admin / "gitdir").read_bytes()).rstrip("\r\n")
            yield _record(repo, Path(os.path.normpath(admin / pointer)).parent, admin)


def _record(repo: Repo, tree: Path, admin: Path) -> bytes:
    git = ("--git-dir", str(admin))
    if repo.text(*git, "config", "--bool", "core.bare", ok=(0, 1)) == "true" and admin == repo.common_dir:
        return b"worktree %s\0bare" % os.fsencode(tree)
    head = repo.text(*git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)) or "0" * 40
    branch = repo.text(*git, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1, 128))
    lines = [
        b"worktree " + os.fsencode(tree),
        b"HEAD " + head.encode(),
        b"branch " + branch.encode("utf-8", "surrogateescape"),
    ]
    locked = admin / "locked"
    lines += [b"locked " + locked.read_bytes().strip()] if locked.exists() else []
    lines += [] if (tree / ".git").exists() or admin == repo.common_dir else [b"prunable its folder is gone"]
    return b"\0".join(line for line in lines if line != b"branch ")


def admin_folders(repo: Repo) -> list[Path]:
    """Return the folders in which git keeps the registrations of linked trees, whatever is in them; by name."""
    try:
        with os.scandir(repo.common_dir / "worktrees") as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
