"""What moving a tree from one commit to another would overwrite: local changes, and files that lie in the way."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_SHOWN = 5


@dataclass(frozen=True)
class Known:
    """What is known of a move: the paths it adds, the paths of the index, whether the index hides any from git."""

    added: list[str]
    staged: Collection[bytes]
    hides: bool


def refuse_overwrite(
    repo: Repo,
    old: str,
    new: str,
    *,
    what: str,
    fix: str,
    env: Mapping[str, str] | None = None,
    known: Known | None = None,
) -> None:
    """Raise Refusal `would-overwrite`, naming the paths, where a move from `old` to `new` would lose something.

    `what`: the move in words, such as `moving the checkout to main`. `env`: for git, such as another index. `known`:
    what the caller has asked git already.
    """
    paths = in_the_way(repo, old, new, env=env, known=known)
    said = repo.run("read-tree", "-n", "-m", "-u", old, new, ok=range(256), env=env)
    if not paths and said.code == 0:
        return
    reason = said.stderr.decode("utf-8", "replace").strip().removeprefix("error: ").partition("\n")[0]
    paths = paths or changed_here(repo, old, new, env=env)
    named = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
    raise Refusal("would-overwrite", f"{what} would overwrite local files: {named or reason}", fix=fix, paths=paths)


def in_the_way(
    repo: Repo, old: str, new: str, *, env: Mapping[str, str] | None = None, known: Known | None = None
) -> list[str]:
    """Return files that a move would overwrite without a word.

    Git takes ignored files for worthless, and files that it was told not to look at for unchanged.
    """
    from morph_tasks.repo.hidden import hidden_paths

    if known is None:
        added = _names(repo, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", old, new)
    else:
        added = known.added
    there = list(dict.fromkeys(found for name in added if (found := _lying_there(repo, name))))
    staged: Collection[bytes] = known.staged if known else ()
    if there and known is None:
        staged = set(repo.run("ls-files", "-z", env=env).stdout.split(b"\0"))
    hidden = {os.fsdecode(name) for name in hidden_paths(repo)} if known is None or known.hides else set()
    unseen = _edited(repo, hidden & set(_touched(repo, old, new))) if hidden else []
    return [*(name for name in there if not _is_known(repo, name, staged)), *unseen]


def _lying_there(repo: Repo, name: str) -> str:
    """Return what lies at a path, or in the place of a folder above it; empty for nothing."""
    parts = name.split("/")
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if os.path.islink(repo.root / above) or not os.path.isdir(repo.root / above):
            return above if os.path.lexists(repo.root / above) else ""
    return name if os.path.lexists(repo.root / name) else ""


def _is_known(repo: Repo, name: str, staged: Collection[bytes]) -> bool:
    """Tell whether git knows what lies there; of a folder in the place of a file, all that it holds."""
    top = repo.root / name
    if os.fsencode(name) in staged or os.path.islink(top) or not os.path.isdir(top):
        return os.fsencode(name) in staged
    inside = (
        os.path.relpath(os.path.join(parent, entry), repo.root)
        for parent, folders, files in os.walk(top)
        for entry in (*files, *(folder for folder in folders if os.path.islink(os.path.join(parent, folder))))
    )
    return all(os.fsencode(path) in staged for path in inside)


def changed_here(repo: Repo, old: str, new: str, *, env: Mapping[str, str] | None = None) -> list[str]:
    """Return the paths of the move that differ from `old` in this tree, staged or not."""
    moved = set(_touched(repo, old, new))
    done = repo.run("diff-index", "-z", "--name-only", "--no-renames", old, "--", ok=range(256), env=env)
    here = {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}
    return sorted(moved & here)


def _edited(repo: Repo, names: set[str]) -> list[str]:
    """Return those of the hidden files that really differ from what the index holds."""
    found = []
    for name in sorted(names):
        staged = repo.git("ls-files", "-s", "-z", "--", f":(top,literal){name}").split(b" ")[1:2]
        try:
            path = repo.root / name
            data = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
        except OSError:
            continue
        now = repo.run("hash-object", "--stdin", f"--path={name}", stdin=data, ok=range(256)).stdout.strip()
        if not staged or now != staged[0]:
            found.append(name)
    return found


def _touched(repo: Repo, old: str, new: str) -> list[str]:
    return _names(repo, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)


def _names(repo: Repo, *args: str) -> list[str]:
    return [os.fsdecode(name) for name in repo.git(*args).split(b"\0") if name]
