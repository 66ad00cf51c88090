"""Delete branches whose work is in the default branch, and only those; each can be brought back."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.fleet.branches import ANCESTRAL, IN_WORKTREE, MERGED, Survey, branches_in_use
from morph_tasks.fleet.github import no_origin
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.proc import ProcError, tail
from morph_tasks.repo.trees import feature_of, owner_tree

if TYPE_CHECKING:
    from morph_tasks.fleet.github import Pulls
    from morph_tasks.repo.git import Repo

_HEADS = "refs/heads/"


@dataclass(frozen=True)
class Remote:
    """The branch of the same name at origin. `kept`: why it stays; None when it went, or would go."""

    tip: str
    evidence: str
    kept: str | None
    deleted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the command prints of it."""
        return {"tip": self.tip, "evidence": self.evidence, "kept": self.kept, "deleted": self.deleted}


@dataclass(frozen=True)
class Fate:
    """One branch and what becomes of it. `kept`: the code of why it stays; None when it went, or would go."""

    branch: str
    state: str
    evidence: str
    tip: str
    kept: str | None
    deleted: bool = False
    remote: Remote | None = None

    @property
    def restore(self) -> str:
        """Return the command that brings the branch back."""
        return f"git branch {shlex.quote(self.branch)} {self.tip}"

    def as_json(self) -> dict[str, Any]:
        """Return what the command prints of it."""
        told: dict[str, Any] = {"branch": self.branch, "state": self.state, "evidence": self.evidence, "tip": self.tip}
        told |= {"kept": self.kept, "deleted": self.deleted, "restore": self.restore if self.deleted else None}
        return {**told, "remote": self.remote.as_json() if self.remote else None}


@dataclass(frozen=True)
class Pruned:
    """What was found and done. `problems`: what git refused to delete."""

    default: str | None
    fates: tuple[Fate, ...]
    pulls: Pulls
    problems: tuple[str, ...] = ()


def prune(repo: Repo, pulls: Pulls, *, remote: bool = False, dry_run: bool = False) -> Pruned:
    """Classify every local branch but the default and the current one, and delete what is proved to be merged.

    `remote`: the branch of the same name at origin as well, where that is proved too. Raises Refusal `busy` (3),
    `no-origin`, `origin-unreachable`.
    """
    repo = repo.lightly()
    survey = Survey(repo, repo.default_branch(), pulls)
    there = _at_origin(repo) if remote else {}
    fates = [_fate(survey, branch) for branch in _candidates(survey)]
    if remote:
        fates = [replace(fate, remote=_remote_fate(survey, fate, there)) for fate in fates]
    if dry_run:
        return Pruned(survey.default, tuple(fates), pulls)
    with fleet_lock(repo):
        used = branches_in_use(repo)
        done = [_deleted(repo, fate, used) for fate in fates]
    told = [_deleted_at_origin(repo, fate) for fate in done]
    return Pruned(survey.default, tuple(fate for fate, _ in told), pulls, tuple(said for _, said in told if said))


def _candidates(survey: Survey) -> list[str]:
    apart = {survey.default, survey.repo.branch()}
    return sorted(name for name in survey.tips if name not in apart)


def _fate(survey: Survey, branch: str) -> Fate:
    known = survey.classify(branch)
    kept = None if known.state in MERGED else known.state
    if kept is None and _is_active(survey.repo, branch, known.tip or ""):
        kept = "active-feature"
    return Fate(branch, known.state, known.evidence, known.tip or "", kept)


def _is_active(repo: Repo, branch: str, tip: str) -> bool:
    """Tell whether a branch belongs to a feature that is still in work; so does one whose record cannot be read."""
    slug = feature_of(branch)
    if slug is None:
        return False
    if repo.git("ls-tree", "-z", "--full-tree", tip, f"{ARCHIVE}/{slug}/"):
        return False
    said = repo.run("cat-file", "blob", f"{tip}:{FEATURES}/{slug}/feature.json", ok=range(256))
    try:
        on_disk = (owner_tree(repo, slug) / FEATURES / slug / "feature.json").read_bytes()
    except OSError:
        on_disk = b""
    records = [record for record in (said.stdout if said.code == 0 else b"", on_disk) if record]
    return any(_status(record) in ("draft", "in_progress") for record in records)


def _status(record: bytes) -> str:
    import json

    try:
        data = json.loads(record)
    except (ValueError, RecursionError):
        return "draft"
    return str(data.get("status", "draft")) if isinstance(data, dict) else "draft"


def _deleted(repo: Repo, fate: Fate, used: dict[str, str]) -> Fate:
    """Delete one branch if it is still where it was looked at and nobody took it up meanwhile."""
    if fate.kept:
        return fate
    if fate.branch in used:
        return replace(fate, kept=IN_WORKTREE, evidence=used[fate.branch], remote=_stays(fate.remote, IN_WORKTREE))
    # Not `git branch -D`: it would delete whatever the branch is at by now.
    said = repo.run("update-ref", "--no-deref", "-d", f"{_HEADS}{fate.branch}", fate.tip, ok=range(256))
    if said.code:
        why = "moved" if repo.branch_exists(fate.branch) else "gone"
        return replace(fate, kept=why, evidence=f"it changed meanwhile: {tail(said)}", remote=_stays(fate.remote, why))
    repo.run("config", "--remove-section", f"branch.{fate.branch}", ok=range(256))
    return replace(fate, deleted=True)


def _stays(remote: Remote | None, why: str) -> Remote | None:
    return replace(remote, kept=why) if remote and remote.kept is None else remote


def _at_origin(repo: Repo) -> dict[str, str]:
    """Return the branches that origin has now, with their commits."""
    if not repo.has_origin():
        raise no_origin()
    try:
        said = repo.git("ls-remote", "--heads", "origin")
    except ProcError as error:
        what = f"origin does not answer: {tail(error.done) if error.done else error.what}"
        raise Refusal("origin-unreachable", what[:500], fix="leave out --remote") from None
    lines = [os.fsdecode(line).partition("\t") for line in said.split(b"\n") if line]
    return {ref.removeprefix(_HEADS): tip for tip, _, ref in lines}


def _remote_fate(survey: Survey, fate: Fate, there: dict[str, str]) -> Remote | None:
    """Decide about the branch at origin. It is held against the default branch at origin, not against the one here."""
    tip = there.get(fate.branch)
    if tip is None:
        return None
    if fate.kept:
        return Remote(tip, fate.evidence, fate.kept)
    if any(pull.state == "OPEN" and pull.base == fate.branch for pull in survey.pulls.items):
        return Remote(tip, "an open pull request is to be merged into it", "base-of-open")
    # The commit that origin's default branch has now, which the last fetch may not know.
    main = there.get(survey.default or "")
    known = [one for one in (main,) if one and not survey.repo.run("cat-file", "-e", one, ok=range(256)).code]
    state, evidence = survey.proof(tip, fate.branch, known) if known else ("", "the last fetch is too old to tell")
    if state not in MERGED:
        return Remote(tip, evidence, "not-proved")
    if state != ANCESTRAL and not (survey.pulls.verified and survey.pulls.whole):
        return Remote(tip, f"{evidence}; whether a pull request is open is not verified", "not-verified")
    return Remote(tip, evidence, None)


def _deleted_at_origin(repo: Repo, fate: Fate) -> tuple[Fate, str]:
    if fate.remote is None or fate.remote.kept or not fate.deleted:
        return fate, ""
    ref = f"{_HEADS}{fate.branch}"
    said = repo.run(*_push(ref, fate.remote.tip), ok=range(256))
    if said.code:
        return replace(fate, remote=replace(fate.remote, kept="refused")), f"origin keeps {fate.branch}: {tail(said)}"
    return replace(fate, remote=replace(fate.remote, deleted=True)), ""


def _push(ref: str, tip: str) -> Sequence[str]:
    return ("push", "--quiet", f"--force-with-lease={ref}:{tip}", "origin", f":{ref}")
