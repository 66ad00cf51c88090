"""What forbids the removal of a work tree: each a refusal with its cause and the way out; nothing changes here."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.fleet.deletion import mounts_below
from morph_tasks.repo.files import locked
from morph_tasks.repo.git import AS_RECORDED
from morph_tasks.repo.index_lock import refuse_held
from morph_tasks.repo.trees import is_inside

if TYPE_CHECKING:
    from morph_tasks.fleet.look import Look
    from morph_tasks.repo.git import Repo

_SESSION = ("MORPH_SESSION_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
# References that belong to one tree alone go with it; a stash goes whenever somebody drops it.
_PASSING = ("refs/bisect/*", "refs/worktree/*", "refs/rewritten/*", "refs/stash")
_SHOWN = 5


def anchored(tree: Path) -> str | None:
    """Return `cwd` when this process is in the tree, `session-anchored` when the session that runs it is; else None."""
    if stands_in(tree):
        return "cwd"
    return "session-anchored" if session_is_in(tree) else None


def stands_in(tree: Path) -> bool:
    """Tell whether this process is in a tree."""
    try:
        return is_inside(Path(os.getcwd()), tree)
    except OSError:  # the folder is gone
        return False


def session_is_in(tree: Path) -> bool:
    """Tell whether the session that runs this has a tree, or a folder of it, as its project."""
    places = [os.environ.get(name, "") for name in _SESSION]
    return any(place and is_inside(Path(place), tree) for place in places)


def refuse_anchored(tree: Path) -> None:
    """Raise Refusal `cwd-inside-worktree`, `session-anchored-in-worktree`."""
    found = anchored(tree)
    if found == "cwd":
        what = f"the current folder is in {tree}, which would be gone"
        raise Refusal("cwd-inside-worktree", what, fix=f"cd {_other_tree(tree)}", worktree=str(tree))
    if found:
        what = f"the session that runs this works in {tree}, which would be gone"
        fix = "close the session and run it from one that was opened in the main work tree"
        raise Refusal("session-anchored-in-worktree", what, fix=fix, worktree=str(tree))


def _other_tree(tree: Path) -> str:
    """Return the main tree, as a shell takes it; the command line adds what was typed."""
    from morph_tasks.repo.git import open_repo
    from morph_tasks.repo.trees import primary_root

    try:
        main = primary_root(open_repo(tree).lightly())
    except Refusal:
        return "<another work tree>"
    return "<another work tree>" if is_inside(main, tree) else shlex.quote(str(main))


def refuse_locked(git_dir: Path, tree: Path) -> None:
    """Raise Refusal `worktree-locked` with the reason that it was locked with."""
    try:
        reason = (git_dir / "locked").read_bytes().decode("utf-8", "replace").strip()
    except OSError:
        return
    what = f"{tree} is locked" + (f": {reason}" if reason else "")
    fix = f"git worktree unlock {shlex.quote(str(tree))}"
    raise Refusal("worktree-locked", what, fix=fix, worktree=str(tree), reason=reason)


def refuse_under_way(git_dir: Path, tree: Path) -> None:
    """Raise Refusal `operation-in-progress` during a merge and the like; exit 3 while somebody works there:

    `index-locked` git, `busy` a verify.
    """
    from morph_tasks.repo.branching import under_way

    place = shlex.quote(str(tree))
    found = under_way(git_dir)
    if found:
        again = found[1].replace("git ", f"git -C {place} ", 1)
        if not os.path.lexists(tree):
            pointer = shlex.quote(f"gitdir: {git_dir}")
            again = f"mkdir -p {place} && echo {pointer} > {place}/.git && {again}"
        what = f"a {found[0]} is in progress in {tree}"
        what += "" if os.path.lexists(tree) else ", which is not there (moved? git worktree repair <where it is now>)"
        raise Refusal("operation-in-progress", what, fix=f"finish it, or {again}", worktree=str(tree))
    refuse_held(git_dir, tree)
    _refuse_verify(git_dir, tree)


def _refuse_verify(git_dir: Path, tree: Path) -> None:
    """Raise Refusal `busy` (exit 3) while a verify runs in a tree: it would lose the ground under its nodes."""
    lock = git_dir / "morph-spec" / "verify.lock"
    if lock.exists():
        with locked(lock, wait_s=0, what=f"{tree}, where a verify runs,"):
            pass


def refuse_dirty(seen: Look, tree: Path) -> None:
    """Raise Refusal `worktree-dirty` that names what is not committed."""
    if not seen.dirty:
        return
    named = ", ".join(seen.dirty[:_SHOWN])
    named += f" and {len(seen.dirty) - _SHOWN} more" if len(seen.dirty) > _SHOWN else ""
    # The inner ones first: a commit of the outer one holds only which commit the inner one is at.
    inside = sorted((path for path, _ in seen.submodules), reverse=True)
    changed = [path for path in inside if any(name.startswith(f"{path}/") for name in seen.dirty)]
    places = [shlex.quote(str(place)) for place in (*(tree / path for path in changed), tree)]
    steps = " && ".join(f"git -C {place} add -A && git -C {place} commit" for place in places)
    raise Refusal(
        "worktree-dirty",
        f"{tree} has changes that are not committed: {named}",
        fix=f"{steps}, or undo the changes there",
        worktree=str(tree),
        paths=list(seen.dirty),
    )


def refuse_mounts(tree: Path) -> None:
    """Raise Refusal `worktree-busy` when something else is mounted at or below the tree."""
    found = mounts_below(tree)
    if found:
        what = f"{found[0]} is a mount point: what is mounted there is not part of the work tree"
        fix = f"umount {shlex.quote(str(found[0]))}"
        raise Refusal("worktree-busy", what, fix=fix, worktree=str(tree), mounts=[str(one) for one in found])


def refuse_trees_inside(repo: Repo, tree: Path) -> None:
    """Raise Refusal `worktree-inside` when another work tree lies in this one."""
    mine = os.path.realpath(tree)
    for other in repo.worktrees() if _may_hold_trees(repo, mine) else ():
        if os.path.realpath(other.path) != mine and is_inside(other.path, tree) and os.path.lexists(other.path):
            what = f"the work tree {other.path} lies in {tree}"
            fix = f"morph-spec worktree remove --target {shlex.quote(str(other.path))}"
            raise Refusal("worktree-inside", what, fix=fix, worktree=str(tree), inside=str(other.path))


def _may_hold_trees(repo: Repo, tree: str) -> bool:
    """Tell whether a work tree may lie in another one, as far as git's own files show it: that spares asking git."""
    pointers = (repo.common_dir / "worktrees").glob("*/gitdir")
    try:
        said = [
            os.path.realpath(os.path.join(path.parent, os.fsdecode(path.read_bytes()).strip())) for path in pointers
        ]
    except OSError:
        return True
    inside = tree.rstrip(os.sep) + os.sep
    return any(place.startswith(inside) and os.path.dirname(place) != tree for place in said)


def refuse_exclusive_commits(repo: Repo, git_dir: Path, head: str | None) -> None:
    """Raise Refusal `exclusive-commits` when only the tree's own references hold one; `head`: its detached HEAD."""
    names = {head: "HEAD"} if head else {}
    # Such references are files, each in a place of its own, unless all are in a table.
    own = (git_dir / "refs/worktree").exists() or (git_dir / "reftable").exists()
    asked = ("--git-dir", str(git_dir), "for-each-ref", "--format=%(objectname) %(refname)", "refs/worktree")
    listed = repo.text(*asked) if own else ""
    names |= dict(line.split(" ", 1) for line in listed.splitlines() if line)
    for commit, name in names.items():
        count = exclusive_commits(repo, commit)
        if count == 0:
            continue
        if count is None:
            what = f"git cannot tell whether anything else holds the commit {commit[:10]} of {name} in that work tree"
        else:
            many = f"{count} commit{'s' * (count > 1)}"
            what = f"{name} of that work tree ({commit[:10]}) holds {many} that no branch, tag or remote holds"
        fix = f"git branch <name> {commit}"
        raise Refusal("exclusive-commits", what, fix=fix, commit=commit, count=count)


def exclusive_commits(
    repo: Repo, commit: str, *, without: Sequence[str] = (), among: Sequence[str] = ("--glob=refs/*",)
) -> int | None:
    """Count the commits that no lasting reference `among` these holds; None when git cannot tell.

    `without`: patterns of references that do not count either.
    """
    hidden = [f"--exclude={pattern}" for pattern in (*_PASSING, *without)]
    return repo.count(commit, "--not", *hidden, *among, env=AS_RECORDED)


def refuse_submodules(repo: Repo, tree: Path, git_dir: Path, seen: Look) -> None:
    """Raise Refusal `submodule-unproved` when a submodule's repository, which goes too, may hold work of its own."""
    places = [(path, place) for path, place in seen.submodules if is_inside(place, git_dir) or is_inside(place, tree)]
    checked_out = {place: path for path, place in places}
    for place in dict.fromkeys([*checked_out, *_kept_repositories(git_dir / "modules")]):
        name = checked_out.get(place, place.name)
        why = _unproved(repo, place, is_checked_out=place in checked_out)
        if why:
            fix = f"push it to the remote of the submodule, or remove it there ({place})"
            raise Refusal("submodule-unproved", f"the submodule {name} {why}", fix=fix, submodule=name)


def _kept_repositories(folder: Path) -> Iterator[Path]:
    """Yield the repositories of submodules below `modules/`; their names may hold slashes, and they may hold others."""
    pending = [folder]
    while pending:
        place = pending.pop()
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            yield Path(os.path.realpath(place))
            pending.append(place / "modules")
        else:
            pending += [one for one in sorted(place.glob("*")) if one.is_dir() and not one.is_symlink()]


def _unproved(repo: Repo, place: Path, *, is_checked_out: bool) -> str | None:
    """Return why a submodule's repository is not known to be all in its remote; None when it is."""
    from morph_tasks.repo.branching import under_way

    found = under_way(place) if is_checked_out else None
    if found:
        return f"has a {found[0]} in progress"
    # The folder that its configuration names may be gone or somewhere else.
    asked = ("--git-dir", str(place), "--work-tree", str(place))
    own = [
        repo.run(*asked, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", ok=range(256)).text.strip()
        for name in ("HEAD", "refs/stash")
    ]
    # Not tags: they come along with a clone, also those that no branch of the remote holds.
    heads = ["--branches", *(commit for commit in own if commit)]
    done = repo.run(*asked, "rev-list", "--count", *heads, "--not", "--remotes", ok=range(256))
    if done.code:
        return f"cannot be looked into ({done.stderr.decode('utf-8', 'replace').strip()[-200:]})"
    count = done.text.strip()
    many = "1 commit" if count == "1" else f"{count} commits"
    return None if count == "0" else f"holds {many} that its remote is not known to have"
