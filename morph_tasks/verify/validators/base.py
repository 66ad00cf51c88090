"""Where the work of a tree began: the commit it shares with the default branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

SHALLOW = "cannot be told in a shallow clone"
_USUAL = ("main", "master")


@dataclass(frozen=True)
class Base:
    """The tree that the work began with (its id), and what it was compared with; `why` says why there is none."""

    tree: str | None = None
    against: str = ""
    why: str | None = None


def find_base(repo: Repo) -> Base:
    """Return the base of a tree. Its id stands for its content, so that the same base has the same id everywhere.

    Before the first commit everything is new. Raises ProcError when git cannot answer.
    """
    names, seen, base = _known.get(str(repo.root), ((), None, None))
    if base is None or _refs(repo, names) != seen:
        base, name = _find(repo)
        names = (*_USUAL, *([name] if name else []))
        _known[str(repo.root)] = (names, _refs(repo, names), base)
    return base


# For each tree the branches that decided, the state of their files, and the answer.
_known: dict[str, tuple[tuple[str, ...], list[str] | None, Base | None]] = {}


def _find(repo: Repo) -> tuple[Base, str | None]:
    """Return the base, and the default branch that it was taken from."""
    head = repo.head()
    if head is None:
        return Base(repo.text("hash-object", "-t", "tree", "/dev/null"), "nothing"), None
    name = repo.default_branch() or _remote_default(repo)
    if name is None:
        return Base(why=f"the default branch {SHALLOW}" if repo.is_shallow() else "no default branch is known"), None
    for ref, shown in ((f"refs/remotes/origin/{name}", f"origin/{name}"), (f"refs/heads/{name}", name)):
        if not repo.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128)).code:
            return _shared(repo, ref, shown), name
    return Base(why=f"the default branch {name} is not in this repository"), name


def _shared(repo: Repo, ref: str, shown: str) -> Base:
    shared = repo.text("merge-base", "HEAD", ref, ok=(0, 1)).split("\n")[0]
    if shared:
        return Base(repo.text("rev-parse", "--verify", f"{shared}^{{tree}}"), shown)
    if repo.is_shallow():
        return Base(why=f"the commit shared with {shown} {SHALLOW}")
    return Base(why=f"there is no commit shared with {shown}")


def _remote_default(repo: Repo) -> str | None:
    """Return the usual name that only the remote has: a clone of one branch knows no other."""
    for name in _USUAL:
        if not repo.run("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{name}", ok=(0, 1, 128)).code:
            return name
    return None


def _refs(repo: Repo, names: tuple[str, ...]) -> list[str]:
    """Ask for the state of every file that decides the base, so that a later no-op notices a change."""
    common = repo.common_dir
    paths = [repo.git_dir / "HEAD", *(common / name for name in ("packed-refs", "shallow", "reftable/tables.list"))]
    paths += [common / "refs/remotes/origin/HEAD", common / "refs/heads"]
    branch = _branch(repo)
    for name in (*names, *([branch] if branch else [])):
        paths += [common / "refs/remotes/origin" / name, common / "refs/heads" / name]
    return [ask("file", str(path)) for path in dict.fromkeys(paths)]


def _branch(repo: Repo) -> str | None:
    try:
        head = (repo.git_dir / "HEAD").read_text("utf-8").strip()
    except (OSError, ValueError):
        return None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
