"""What git says of a work tree with nothing hidden: what would be lost with it, and what it ignores.

Flags that hide a change from `git status` do not count here, `.morph/` and by-products do. The look writes nothing
into the tree or its index, and works on a tree that has been moved aside.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.repo.index import PrivateIndex
from morph_tasks.repo.plumbing import LINK, Plumbing
from morph_tasks.repo.spawn import ChildError

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENTRY_WORDS = {b"1": 8, b"2": 9, b"u": 10}


@dataclass(frozen=True)
class Link:
    """A symbolic link: its path in the tree, and what it says."""

    path: str
    target: str

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "target": self.target}


@dataclass(frozen=True)
class Look:
    """A tree at one moment, all paths relative to it.

    `dirty`: what differs from HEAD or is untracked; `links`: untracked links that lead out of the tree; `ignored`:
    as git lists it, folders end with `/`; `submodules`: (path, private git folder) of those that are checked out.
    """

    head: str | None
    dirty: tuple[str, ...]
    links: tuple[Link, ...]
    ignored: tuple[str, ...]
    submodules: tuple[tuple[str, Path], ...]


def look(root: Path, git_dir: Path, *, home: Path | None = None) -> Look:
    """Look at a tree and at the submodules in it; `home` is where it belongs, when it lies elsewhere for now.

    Raises Refusal `corrupt-index`, `unreadable-tree`, `git-failed` and what else keeps git from looking.
    """
    from morph_tasks.errors import Refusal

    try:
        return _look(root, git_dir, root, home or root)
    except OSError as error:
        what = f"{error.filename or root} cannot be read: {error.strerror or error}"
        raise Refusal("unreadable-tree", what, fix=f"make {root} readable for you") from None


def leads_out(link: Path, target: str, *places: Path) -> bool:
    """Tell whether a link leads out of all of some folders."""
    real = os.path.realpath(os.path.join(os.path.dirname(link), target))
    tops = [os.path.realpath(place) for place in places]
    return not any(real == top or real.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


def git_dir_of(tree: Path) -> Path | None:
    """Return the private git folder that the `.git` of a tree stands for; None when it leads nowhere."""
    dot = tree / ".git"
    try:
        found = dot if dot.is_dir() else tree / os.fsdecode(dot.read_bytes()).removeprefix("gitdir:").strip()
    except OSError:
        return None
    real = Path(os.path.realpath(found))
    return real if (real / "HEAD").exists() else None


def _look(root: Path, git_dir: Path, top: Path, home: Path) -> Look:
    plumbing = Plumbing(str(root), str(git_dir), apart=True)
    with PrivateIndex(plumbing) as index:
        while True:
            try:
                head, dirty, untracked, ignored = _read(index.everything())
                staged = b"".join(plumbing.stream("ls-files", "-s", "-z", index=index.path))
                break
            except ChildError as error:
                if index.fresh:
                    raise plumbing.refusal(error) from None
                index.seed()  # the fault may lie in our copy
    links = []
    for path in untracked:
        target = _target(root / path)
        if target is not None and leads_out(root / path, target, top, home):
            links.append(Link(path, target))
        else:
            dirty.append(path)
    found = Look(head, tuple(dirty), tuple(links), tuple(ignored), ())
    for path in _gitlinks(staged):
        inner = git_dir_of(root / path)
        if inner is None:
            # Git never looks into the folder of a submodule that is not checked out.
            found = replace(found, dirty=(*found.dirty, path)) if _holds_something(root / path) else found
        else:
            found = _joined(found, path, inner, _look(root / path, inner, top, home))
    return found


def _read(fields: Iterable[bytes]) -> tuple[str | None, list[str], list[str], list[str]]:
    """Return the commit, changed, untracked and ignored paths."""
    head: str | None = None
    found: dict[bytes, list[str]] = {b"?": [], b"!": []}
    dirty = []
    for field in fields:
        kind, _, rest = field.partition(b" ")
        if kind in found:
            found[kind].append(os.fsdecode(rest))
        elif kind in _ENTRY_WORDS:
            dirty.append(os.fsdecode(field.split(b" ", _ENTRY_WORDS[kind])[-1]))
        elif field.startswith(b"# branch.oid "):
            commit = field[13:].decode()
            head = None if commit == "(initial)" else commit
    return head, dirty, found[b"?"], found[b"!"]


def _gitlinks(staged: bytes) -> list[str]:
    if LINK.encode() + b" " not in staged:
        return []
    lines = [line for line in staged.split(b"\0") if line.startswith(LINK.encode() + b" ")]
    return list(dict.fromkeys(os.fsdecode(line.partition(b"\t")[2]) for line in lines))


def _holds_something(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and bool(os.listdir(path))


def _target(path: Path) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None


def _joined(outer: Look, path: str, git_dir: Path, inner: Look) -> Look:
    below = [(f"{path}/{name}", where) for name, where in inner.submodules]
    return Look(
        outer.head,
        (*outer.dirty, *(f"{path}/{name}" for name in inner.dirty)),
        (*outer.links, *(Link(f"{path}/{link.path}", link.target) for link in inner.links)),
        (*outer.ignored, *(f"{path}/{name}" for name in inner.ignored)),
        (*outer.submodules, (path, git_dir), *below),
    )
