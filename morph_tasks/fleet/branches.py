"""Is the work of a branch in the default branch, and by which evidence? What cannot be proved is `unmerged`.

States: `in-worktree` and `open` are in use; `merged-ancestral` git can prove; `merged-squash` came in under other
commits; `unmerged` is everything else, work and doubt alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.onbranch import local_branches, read_objects
from morph_tasks.fleet import likeness
from morph_tasks.proc import ProcError
from morph_tasks.repo.git import AS_RECORDED
from morph_tasks.repo.scratch import scratch_objects
from morph_tasks.repo.trees import checked_out

if TYPE_CHECKING:
    from morph_tasks.fleet.github import Pull, Pulls
    from morph_tasks.repo.git import Repo

ANCESTRAL, SQUASH = "merged-ancestral", "merged-squash"
OPEN, IN_WORKTREE, UNMERGED = "open", "in-worktree", "unmerged"
MERGED = (ANCESTRAL, SQUASH)
_HEADS, _ORIGIN = "refs/heads/", "refs/remotes/origin/"


@dataclass(frozen=True)
class Classified:
    """One branch: its state, the evidence in words, and the commit it was at; no tip when there is no such branch."""

    branch: str
    state: str
    evidence: str
    tip: str | None


def classify(repo: Repo, branch: str, *, default: str | None, pulls: Pulls) -> Classified:
    """Return what is known of one branch; raises ProcError where git itself fails."""
    return Survey(repo, default, pulls).classify(branch)


def contained(repo: Repo, commit: str, ref: str) -> bool | None:
    """Tell whether `ref` holds a commit; None where that cannot be known: a shallow clone, a commit that is missing."""
    said = repo.run("merge-base", "--is-ancestor", commit, ref, ok=range(256), env=AS_RECORDED).code
    if said == 0:
        return True
    return None if said != 1 or repo.is_shallow() else False


@dataclass
class Survey:
    """What many branches of a repository are asked against: the default branch here and at origin, and GitHub."""

    repo: Repo
    default: str | None
    pulls: Pulls
    _merged: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repo = self.repo.lightly()

    def classify(self, branch: str) -> Classified:
        """Return the state of one branch."""
        tip = self.tips.get(branch)
        if tip is None:
            return Classified(branch, UNMERGED, "there is no such branch", None)
        if branch in self.in_use:
            return Classified(branch, IN_WORKTREE, self.in_use[branch], tip)
        pull = self.pulls.current(branch)
        if pull and pull.state == "OPEN":
            return Classified(branch, OPEN, f"pull request #{pull.number} is open", tip)
        state, evidence = self.proof(tip, branch, self.targets)
        return Classified(branch, state, evidence, tip)

    def proof(self, tip: str, branch: str, targets: Iterable[str]) -> tuple[str, str]:
        """Return `merged-ancestral`, `merged-squash` or `unmerged` for a commit, with the evidence."""
        targets = tuple(targets)
        if not targets:
            missing = f"there is no branch {self.default} here" if self.default else "nothing tells which branch it is"
            return UNMERGED, f"the default branch is not known: {missing}"
        for target in targets:
            if self._holds(target, tip):
                return ANCESTRAL, f"{_short(target)} has its commit {tip[:10]}"
        pull, told = self._pull_proof(tip, branch)
        if pull:
            return SQUASH, told
        doubts = [told] if told else []
        for target in targets:
            found, why = self._content_proof(tip, target)
            if found:
                return SQUASH, why
            doubts.append(why)
        if not self.pulls.verified:
            doubts.append(f"pull requests are not verified: {self.pulls.reason}")
        return UNMERGED, "; ".join(dict.fromkeys(doubts))

    @cached_property
    def tips(self) -> dict[str, str]:
        return local_branches(self.repo)

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Return the full names of the default branch, here and at origin where it is another commit."""
        names = (f"{_HEADS}{self.default}", f"{_ORIGIN}{self.default}") if self.default else ()
        found = {self._commit(name): name for name in reversed(names)}
        return tuple(name for name in names if name in [found[commit] for commit in found if commit])

    @cached_property
    def commits(self) -> _Commits:
        """Return files and parents of commits; those of all branches and of the targets are read at once."""
        return _Commits(self.repo, [*self.tips.values(), *self.targets])

    @cached_property
    def in_use(self) -> dict[str, str]:
        """Return the branches that a work tree stands on or works with, and where that is."""
        return branches_in_use(self.repo)

    def _commit(self, ref: str) -> str:
        return self.repo.text("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))

    def _holds(self, target: str, tip: str) -> bool:
        """Tell whether a target has a commit; one question for the tips of all branches."""
        if target not in self._merged:
            words = ("for-each-ref", "--format=%(objectname)", f"--merged={target}", "refs/heads")
            said = self.repo.run(*words, ok=range(256), env=AS_RECORDED)
            self._merged[target] = None if said.code else frozenset(said.text.split())
        merged = self._merged[target]
        if merged is not None and tip in self.tips.values():
            return tip in merged
        return contained(self.repo, tip, target) is True

    def _pull_proof(self, tip: str, branch: str) -> tuple[Pull | None, str]:
        """Return the merged pull request that had this commit; else what the branch's own one says, or nothing."""
        merged = [pull for pull in self.pulls.items if pull.state == "MERGED" and pull.base == self.default]
        for pull in merged:
            if pull.head_oid == tip:
                return pull, f"pull request #{pull.number} was merged with its commit {tip[:10]}"
        for pull in merged:
            if pull.head == branch and not pull.cross_repository and pull.head_oid:
                if contained(self.repo, tip, pull.head_oid):
                    return pull, f"pull request #{pull.number} was merged with {pull.head_oid[:10]}, which has it"
                return None, f"pull request #{pull.number} was merged with {pull.head_oid[:10]}, not with {tip[:10]}"
        own = self.pulls.current(branch)
        if own is None:
            return None, ""
        into = f" into {own.base}" if own.state == "MERGED" else " without a merge"
        return None, f"pull request #{own.number} was {'merged' if own.state == 'MERGED' else 'closed'}{into}"

    def _content_proof(self, tip: str, target: str) -> tuple[bool, str]:
        """Tell whether what a commit brings is in the target under other commits, and how that shows."""
        try:
            with scratch_objects(self.repo) as env:
                return _content(self.repo, tip, target, self.commits, {**env, **AS_RECORDED})
        except (ProcError, Refusal) as error:
            # A missing object, a git too old to merge beside the trees: nothing is proved by that.
            return False, f"could not be compared with {_short(target)}: {error.what[:200]}"


class _Commits:
    """The files and parents of commits. `known`: names of those that will be asked for."""

    def __init__(self, repo: Repo, known: Iterable[str]) -> None:
        self.repo = repo
        self._read = read_objects(repo, (f"{name}^{{commit}}" for name in known), env=AS_RECORDED)

    def tree(self, name: str) -> str:
        """Return the id of the files of a commit; raises Refusal `commit-missing`."""
        return next(self._said(name, b"tree "))

    def parents(self, name: str) -> list[str]:
        return list(self._said(name, b"parent "))

    def _said(self, name: str, word: bytes) -> Iterator[str]:
        asked = f"{name}^{{commit}}"
        if asked not in self._read:
            self._read |= read_objects(self.repo, [asked], env=AS_RECORDED)
        content = self._read[asked]
        if content is None:
            raise Refusal("commit-missing", f"{name} is no commit that is here")
        head = content.partition(b"\n\n")[0].split(b"\n")
        return (line[len(word) :].decode() for line in head if line.startswith(word))


def branches_in_use(repo: Repo) -> dict[str, str]:
    """Return the branches of all registered work trees, also of those whose folder is gone, and what holds them."""
    used = {}
    for tree in repo.worktrees():
        if tree.branch and not tree.bare:
            gone = ", whose folder is gone" if tree.prunable else ""
            used[tree.branch] = f"checked out in {tree.path}{gone}"
    used |= {branch: f"checked out in {path}" for path, branch in checked_out(repo) if branch not in used}
    for folder in (repo.common_dir, *(repo.common_dir / "worktrees").glob("*")):
        for name in _under_way(folder):
            used.setdefault(name, f"a rebase or bisect of {folder} works with it")
    return used


def _under_way(git_dir: os.PathLike[str]) -> Iterable[str]:
    """Yield the branches that a bisect began at, or that a rebase will move along."""
    for name, marked in (("BISECT_START", False), ("rebase-merge/update-refs", True), ("rebase-merge/head-name", True)):
        try:
            with open(os.path.join(git_dir, name), "rb") as file:
                lines = [os.fsdecode(line.strip()) for line in file]
        except OSError:
            continue
        yield from (line.removeprefix(_HEADS) for line in lines if not marked or line.startswith(_HEADS))


def _content(repo: Repo, tip: str, target: str, commits: _Commits, env: Mapping[str, str]) -> tuple[bool, str]:
    name = _short(target)
    done = repo.run("merge-base", "--all", target, tip, ok=(0, 1), env=env)
    bases = done.text.split()
    if not bases:
        shallow = "this clone is shallow, so it cannot be known" if repo.is_shallow() else "no commit in common"
        return False, f"{shallow} ({name})"
    tree, theirs, *before = (commits.tree(one) for one in (tip, target, *bases))
    if tree in before and _changes(repo, tip, target, env):
        # Nothing would be missing from the files, but the attempt itself is nowhere else.
        return False, f"its commits take each other back, and {name} has none of them"
    if tree == theirs:
        return True, f"{name} has the very same files"
    whole = f"one commit of {name} makes the same change as the whole branch"
    # Its only commit is the whole branch: there is nothing to put together.
    alone = len(bases) == 1 and commits.parents(tip) == bases
    if not alone and any(likeness.whole_applied(repo, base, tree, target, env) for base in bases):
        return True, whole
    own = likeness.own_commits(repo, tip, target, env)
    if likeness.each_applied(repo, tip, target, own, env):
        return True, whole if alone else f"{name} has the like of each of its commits"
    if likeness.brings_nothing(repo, bases, tip, target, theirs, env):
        return True, f"merging it would change nothing in {name}"
    return False, f"{len(own)} commit{' is' if len(own) == 1 else 's are'} not in {name}"


def _changes(repo: Repo, tip: str, target: str, env: Mapping[str, str]) -> bool:
    """Tell whether any commit that only the branch has changes a file."""
    return bool(repo.run("rev-list", "--max-count=1", tip, f"^{target}", "--", ":/", env=env).stdout)


def _short(ref: str) -> str:
    return ref.removeprefix(_HEADS).removeprefix("refs/remotes/")
