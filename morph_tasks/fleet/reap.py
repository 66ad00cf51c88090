"""Remove what sub-agents left: trees `agent-<hex>` and branches `morph-task/agent-<hex>`, when every proof holds.

A proof that cannot be had keeps the tree, and says why.
"""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet import belongings, ending, removal, retention
from morph_tasks.fleet.layout import is_ours
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.obstacles import anchored, exclusive_commits
from morph_tasks.repo.files import locked
from morph_tasks.repo.trees import primary_root

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo, Worktree

GRACE_MINUTES = 30.0
_AGENT = re.compile(r"agent-(?P<hex>[0-9a-f]+)")
_BRANCH = re.compile(rf"morph-task/{_AGENT.pattern}")
_AGENT_BRANCHES = "refs/heads/morph-task/agent-*"
_LOG = ".morph/logs/events.jsonl"
_TAIL = 1 << 20  # bytes; one event is far shorter
_NOT_ACTIVE = ("dirty", "exclusive-commits", "locked", "worktree-missing")


@dataclass(frozen=True)
class Left:
    """A tree or a branch of a sub-agent. `reason`: why it stays, None when all proofs hold."""

    path: Path | None
    branch: str | None
    hex: str
    reason: str | None = None
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"path": str(self.path) if self.path else None, "branch": self.branch, "hex": self.hex}
        return {**told, "reason": self.reason, "detail": self.detail} if self.reason else told


@dataclass
class Reaped:
    """What a run found and did."""

    dry_run: bool
    grace_minutes: float
    reaped: list[dict[str, Any]] = field(default_factory=list)
    branches: list[dict[str, Any]] = field(default_factory=list)
    would: list[Left] = field(default_factory=list)
    preserved: list[Left] = field(default_factory=list)
    active: int = 0
    retention: dict[str, Any] | None = None
    recovered: list[str] = field(default_factory=list)
    busy: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the document of `worktree reap --json`."""
        told: dict[str, Any] = {"ok": not self.busy, "dryRun": self.dry_run, "graceMinutes": self.grace_minutes}
        told |= {"reaped": self.reaped, "branchesDeleted": self.branches}
        told |= {"wouldReap": [left.as_json() for left in self.would]}
        told |= {"preserved": [left.as_json() for left in self.preserved], "active": self.active}
        told |= {"recovered": self.recovered} if self.recovered else {}
        told |= {"backupRetention": self.retention} if self.retention else {}
        return {**told, "busy": True} if self.busy else told


def grace_of(repo: Repo) -> float:
    """Return `worktree.reap.graceMinutes`; raises what reading the configuration raises."""
    from morph_tasks.model.load import load_config
    from morph_tasks.repo.git import open_repo

    block = load_config(open_repo(primary_root(repo))).data.get("worktree") or {}
    said = (block.get("reap") or {}).get("graceMinutes", GRACE_MINUTES)
    return float(said)


def reap(repo: Repo, *, grace_minutes: float, dry_run: bool = False) -> Reaped:
    """Remove all that is proved to be left over; `busy` when another run is at it. Raises what git raises."""
    found = Reaped(dry_run, grace_minutes)
    try:
        repo.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(repo.store / "agent-reap.lock", wait_s=0, what="the removal of sub-agents' trees"):
            if dry_run:
                _look(repo, found)
            else:
                with fleet_lock(repo):
                    found.recovered = removal.recover(repo)
                    found.recovered += [f"finished the removal of {one.told['path']}" for one in ending.resume(repo)]
                    _look(repo, found)
                    _act(repo, found)
    except Refusal as refusal:
        if refusal.code != "busy":
            raise
        return Reaped(dry_run, grace_minutes, busy=True)
    return found


def _look(repo: Repo, found: Reaped) -> None:
    config = removal.lenient_config(repo)
    used: set[str] = set()
    for tree in repo.worktrees():
        used.add(tree.branch or "")
        hex_ = _agent_of(tree) if is_ours(repo, config, tree.path) else None
        if hex_:
            _sort(found, _judge_tree(repo, tree, hex_, found.grace_minutes))
    from morph_tasks.features.onbranch import local_branches
    from morph_tasks.fleet.branches import branches_in_use

    used |= set(branches_in_use(repo))
    for branch, tip in sorted(local_branches(repo).items()):
        match = _BRANCH.fullmatch(branch)
        if match and branch not in used:
            _sort(found, _judge_branch(repo, branch, tip, match["hex"], found.grace_minutes))


def _sort(found: Reaped, left: Left) -> None:
    if left.reason is None:
        found.would.append(left)
    else:
        found.preserved.append(left)
        found.active += left.path is not None and left.reason not in _NOT_ACTIVE


def _act(repo: Repo, found: Reaped) -> None:
    doomed, found.would = found.would, []
    stamps = []
    for left in doomed:
        if left.path is not None:
            stamps += _remove(repo, left, found)
        else:
            _delete(repo, left, found)
    if stamps:
        found.retention = retention.prune(repo, protect=stamps)


def _remove(repo: Repo, left: Left, found: Reaped) -> list[str]:
    """Remove one tree and its branch; return the stamp of the backup, if any. A failure leaves the tree as it was."""
    path = left.path
    if path is None:
        return []
    try:
        # Looked at again now: much may have happened since the first one was removed.
        reason, detail = _why_in_use(repo, _tree(repo, path), left.hex, found.grace_minutes)
        if reason:
            _sort(found, Left(path, left.branch, left.hex, reason, detail))
            return []
        ended = ending.end_tree(repo, path, prune=False)
    except Refusal as refusal:
        _sort(found, Left(path, left.branch, left.hex, _reason(refusal), refusal.what))
        return []
    kept = ("unlinked", "replicatedInRoot", "discardedIgnored", "ignoredBackup", "backedUp", "kept", "left")
    found.reaped.append({**left.as_json(), **{key: ended.told[key] for key in kept}, "warnings": ended.warnings})
    if left.branch:
        _delete(repo, left, found)
    return [ended.stamp] if ended.told["ignoredBackup"] else []


def _delete(repo: Repo, left: Left, found: Reaped) -> None:
    """Delete the branch of an agent, its commits counted again."""
    branch = left.branch or ""
    tip = repo.tip(branch)
    reason, detail = _exclusive(repo, tip) if tip else ("gone", "the branch is gone")
    if tip and reason is None:
        problem = belongings.delete_branch(repo, branch, tip)
        reason, detail = ("branch-stays", problem) if problem else (None, "")
    if reason:
        found.preserved.append(Left(None, branch, left.hex, reason, detail))
    else:
        found.branches.append({"branch": branch, "tip": tip})


def _judge_tree(repo: Repo, tree: Worktree, hex_: str, grace: float) -> Left:
    reason, detail = _why_tree_stays(repo, tree, hex_, grace)
    return Left(tree.path, tree.branch, hex_, reason, detail)


def _why_tree_stays(repo: Repo, tree: Worktree, hex_: str, grace: float) -> tuple[str | None, str]:
    reason, detail = _why_in_use(repo, tree, hex_, grace)
    if reason:
        return reason, detail
    try:
        removal.plan_removal(repo, tree.path)
    except Refusal as refusal:
        return _reason(refusal), refusal.what
    return None, ""


def _why_in_use(repo: Repo, tree: Worktree, hex_: str, grace: float) -> tuple[str | None, str]:
    """Return why a tree stays whatever is in it."""
    if not os.path.lexists(tree.path):
        return "worktree-missing", "its folder is gone: morph-spec worktree remove --target gives the registration up"
    if tree.locked is not None:
        return "locked", tree.locked
    reason, detail = _why_running(tree.path / _LOG, hex_, grace)
    if reason:
        return reason, detail
    anchor = anchored(tree.path)
    if anchor:
        return anchor, "this process or its session works there"
    if not tree.head:
        return "no-commit", "git does not tell its commit"
    return _exclusive(repo, tree.head)


def _why_running(log: Path, hex_: str, grace: float) -> tuple[str | None, str]:
    """Return why an agent may still be at work by the log of its tree; (None, "") when it has stopped long ago."""
    event = _last_event(log)
    if event is None or event.get("event") != "AgentUsage" or event.get("agentId") != hex_:
        last = f"its log ends with {event.get('event')}" if event else "it has no log of events"
        return "no-usage-event", f"nothing says that the agent has stopped: {last}"
    try:
        silent_s = time.time() - log.stat().st_mtime
    except OSError as error:
        return "no-usage-event", str(error.strerror or error)
    if silent_s < grace * 60:
        return "grace", f"its log grew {silent_s / 60:.1f} minutes ago; the grace is {grace:g}"
    return None, ""


def _last_event(log: Path) -> dict[str, Any] | None:
    """Return the last event of a log; None when there is none, or when its last line is not whole."""
    try:
        with open(log, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            lines = file.read().rstrip(b"\r\n").split(b"\n")
        found = json.loads(lines[-1])
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _judge_branch(repo: Repo, branch: str, tip: str, hex_: str, grace: float) -> Left:
    touched = _touched(repo, branch)
    if touched is None:
        return Left(None, branch, hex_, "no-reflog", "nothing tells when the branch was last touched")
    age_s = time.time() - touched
    if age_s < grace * 60:
        return Left(None, branch, hex_, "grace", f"it was touched {age_s / 60:.1f} minutes ago; the grace is {grace:g}")
    return Left(None, branch, hex_, *_exclusive(repo, tip))


def _touched(repo: Repo, branch: str) -> float | None:
    """Return when the reflog of a branch grew last, in seconds since 1970."""
    asked = ("log", "--walk-reflogs", "--max-count=1", "--date=unix", "--format=%gd", f"refs/heads/{branch}", "--")
    said = repo.text(*asked, ok=range(256))
    match = re.search(r"@\{(\d+)\}$", said)
    return float(match[1]) if match else None


def _exclusive(repo: Repo, tip: str) -> tuple[str | None, str]:
    """Return why a commit stays; branches of agents do not vouch for each other, and no HEAD vouches for anything."""
    count = exclusive_commits(
        repo, tip, without=[_AGENT_BRANCHES], among=("--glob=refs/heads/*", "--remotes", "--tags")
    )
    if count is None:
        return "exclusive-commits", f"git cannot tell what else holds {tip[:10]}"
    if count:
        return "exclusive-commits", f"{count} commits of {tip[:10]} are in no other branch, remote or tag"
    return None, ""


def _agent_of(tree: Worktree) -> str | None:
    """Return the id of the agent that a tree was made for; None for every other tree."""
    match = _AGENT.fullmatch(tree.path.name)
    if match is None or tree.bare:
        return None
    return match["hex"] if tree.branch in (None, f"morph-task/{tree.path.name}") else None


def _tree(repo: Repo, path: Path) -> Worktree:
    found = next((tree for tree in repo.worktrees() if tree.path == path), None)
    if found is None:
        raise Refusal("not-a-worktree", f"{path} is no longer a work tree")
    return found


def _reason(refusal: Refusal) -> str:
    return {"worktree-dirty": "dirty", "worktree-locked": "locked"}.get(refusal.code, refusal.code)
