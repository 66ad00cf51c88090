"""The board: every active feature of the repository, wherever it is, with what one needs to decide where to act."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.features.handoff import NAME as HANDOFF
from morph_tasks.features.overview import everywhere
from morph_tasks.features.progress import Slices, slices_of, slices_on_branches
from morph_tasks.features.shape import GATES
from morph_tasks.fleet import claims, prs
from morph_tasks.fleet.github import ask_aside
from morph_tasks.fleet.stamps import read_time
from morph_tasks.fleet.statuses import Uncommitted, uncommitted
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import BRANCH_PREFIX, checked_out, feature_branch, primary_root
from morph_tasks.stack.ports import SIZE, blocks

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView
    from morph_tasks.fleet.claims import Claim, Registry
    from morph_tasks.fleet.github import Pull, Pulls
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.ports import Block

_ACTIVE = ("draft", "in_progress")
_ORIGIN = "refs/remotes/origin/"


@dataclass(frozen=True)
class Branch:
    """A branch of a feature. `ahead`: commits that origin's copy, as last seen, has not; None where nobody can tell."""

    name: str
    tip: str
    committed_at: int
    pushed: bool
    ahead: int | None


@dataclass(frozen=True)
class Post:
    """One feature on the board. `tree`: the folder it is worked on in; None for one that only its branch has.

    `changed`: what is not committed there, None when that is not known or the tree is not on its branch; `claims`:
    live ones; None when they cannot be read.
    """

    view: FeatureView
    tree: Path | None
    branch: Branch | None
    pull: Pull | None
    slices: Slices | None
    changed: Uncommitted | None
    claims: tuple[Claim, ...] | None
    ports: Block | None
    handoff: Path | None
    last_activity: str | None

    @property
    def pending_gates(self) -> list[str] | None:
        """Return the gates that are still ahead, `uiux` only where a design was begun; None when that is not known."""
        if self.view.problem:
            return None
        if self.view.phase in (None, "archived", prs.PHASE):
            return []
        begun = {"uiux": self.view.phase == "uiux"}
        return [gate for gate in GATES if not self.view.gates[gate] and begun.get(gate, True)]

    @property
    def remote(self) -> str:
        """Return how far the work went: `local`, `pushed`, or `PR #n`."""
        if self.pull and self.pull.state != "CLOSED":
            return f"PR #{self.pull.number}{'' if self.pull.state else ' ?'}"
        return "pushed" if self.branch and self.branch.pushed else "local"


@dataclass(frozen=True)
class Fleet:
    """The board, with what could not be learnt."""

    posts: tuple[Post, ...]
    pulls: Pulls
    registry: Registry


@dataclass(frozen=True)
class _Known:
    """What was asked once for all features. `trees`: by branch."""

    main: Path
    trees: Mapping[str, Path]
    states: Mapping[Path, Uncommitted | None]
    branches: Mapping[str, Branch]
    slices: Mapping[str, Slices]
    registry: Registry
    live: Sequence[Claim]
    ports: Mapping[str, Block]
    pulls: Pulls


def board(repo: Repo) -> Fleet:
    """Return the active features of a repository, the same from whichever tree one asks; changes nothing."""
    main = primary_root(repo)
    repo = (repo if os.path.realpath(main) == os.path.realpath(repo.root) else open_repo(main)).lightly()
    answer = ask_aside(repo)
    found = everywhere(repo, archived=False)
    active = [view for view in found.rows if _is_active(view)]
    trees = {branch: tree for tree, branch in reversed(checked_out(repo))}
    owned = [trees[branch] for view in (*active, *found.ended) if (branch := feature_branch(view.slug)) in trees]
    tips = found.tips or {}
    registry = claims.read(repo)
    known = _Known(
        main=main,
        trees=trees,
        states=uncommitted(owned),
        branches=_branches(repo),
        slices=slices_on_branches(repo, {view.slug: tips[view.slug] for view in active if view.source == "branch"}),
        registry=registry,
        live=[claim for claim in registry.claims if claim.is_live()],
        ports=blocks(repo),
        pulls=answer(),
    )
    views = {view.slug: view for view in active}
    noted: dict[str, Pull | None] = {}
    for one in prs.pending(repo, known.pulls, found=found):
        local = views.get(one.slug)
        views[one.slug] = replace(local, flags=(*local.flags, *one.flags)) if local else one.row
        noted[one.slug] = one.pull
    posts = (_post_of(view, known, noted.get(view.slug)) for _, view in sorted(views.items()))
    return Fleet(tuple(posts), known.pulls, registry)


def _post_of(view: FeatureView, known: _Known, noted: Pull | None) -> Post:
    name = feature_branch(view.slug)
    tree, branch = _tree_of(view, known), known.branches.get(name)
    changed = known.states.get(known.trees[name]) if name in known.trees else None
    mine = tuple(claim for claim in known.live if claim.feature == view.slug)
    page = view.path / HANDOFF
    return Post(
        view,
        tree,
        branch,
        known.pulls.current(name) or noted,
        slices_of(view.path) if tree else known.slices.get(view.slug),
        changed,
        None if known.registry.problem else mine,
        known.ports.get(view.slug),
        page if tree and page.is_file() else None,
        _last(view, branch, changed, mine),
    )


def _is_active(view: FeatureView) -> bool:
    """Tell whether work on a feature goes on; one whose record cannot be read needs a look as well."""
    return (view.status in _ACTIVE or bool(view.problem)) and "archived-elsewhere" not in view.flags


def _tree_of(view: FeatureView, known: _Known) -> Path | None:
    if view.source == "branch":
        return None
    return Path(view.tree) if view.tree else known.trees.get(feature_branch(view.slug), known.main)


def _branches(repo: Repo) -> dict[str, Branch]:
    """Return the branches of features, and what origin has of them as last seen."""
    words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(committerdate:unix)")
    said = repo.git(*words, f"refs/heads/{BRANCH_PREFIX}", f"{_ORIGIN}{BRANCH_PREFIX}")
    fields = [line.split(b"\0") for line in said.split(b"\n") if line]
    refs = {os.fsdecode(name): (tip.decode(), int(when or 0)) for name, tip, when in fields}
    found = {}
    for ref, (tip, when) in refs.items():
        if ref.startswith("refs/heads/"):
            name = ref.removeprefix("refs/heads/")
            there = refs.get(_ORIGIN + name)
            found[name] = Branch(name, tip, when, bool(there), _ahead(repo, tip, there[0]) if there else None)
    return found


def _ahead(repo: Repo, tip: str, there: str) -> int | None:
    if tip == there:
        return 0
    return None if repo.is_shallow() else repo.count(f"{there}..{tip}")


def _last(view: FeatureView, branch: Branch | None, changed: Uncommitted | None, live: Sequence[Claim]) -> str | None:
    """Return when anything was done last: to the record, in a commit, in a file, or by a session."""
    times = [read_time(text) for text in (view.updated_at, *(claim.heartbeat for claim in live))]
    moments = [time.timestamp() for time in times if time]
    moments += [float(branch.committed_at)] if branch and branch.committed_at else []
    moments += [changed.newest] if changed and changed.newest else []
    if not moments:
        return None
    return datetime.fromtimestamp(max(moments), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def as_json(fleet: Fleet) -> dict[str, Any]:
    """Return the document that `fleet --json` prints."""
    known = not fleet.registry.problem
    return {
        "ok": True,
        "features": [_post(post, fleet.pulls) for post in fleet.posts],
        "prs": fleet.pulls.as_json(),
        "claims": {"known": known, "reason": fleet.registry.problem or None},
    }


def _post(post: Post, pulls: Pulls) -> dict[str, Any]:
    view, branch = post.view, post.branch
    return {
        "feature": view.slug,
        "name": view.name,
        "description": view.description,
        "workType": view.work_type,
        "status": view.status,
        "phase": view.phase,
        "pendingGates": post.pending_gates,
        "slices": post.slices.as_json() if post.slices else None,
        "where": view.where,
        "source": view.source,
        "tree": str(post.tree) if post.tree else None,
        "branch": branch.name if branch else None,
        "remote": post.remote,
        "remoteVerified": pulls.verified,
        "ahead": branch.ahead if branch else None,
        "pr": post.pull.as_json() if post.pull else None,
        "claim": post.claims[0].session if post.claims else None,
        "claims": None if post.claims is None else [claim.as_json() for claim in post.claims],
        "ports": {"base": post.ports.base, "range": SIZE} if post.ports else None,
        "handoff": str(post.handoff) if post.handoff else None,
        "lastActivity": post.last_activity,
        "dirty": post.changed.count if post.changed else None,
        "flags": list(view.flags),
        "problem": view.problem or None,
    }
