"""Features that are finished, and whose work nothing shows to be in the default branch; and finishes that broke off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from morph_tasks.features.onbranch import read_branches, read_objects
from morph_tasks.features.overview import everywhere, row_of
from morph_tasks.features.store import ARCHIVE, read_view
from morph_tasks.fleet.github import NO_ORIGIN
from morph_tasks.fleet.journal import OPEN
from morph_tasks.fleet.stamps import read_time
from morph_tasks.fleet.unfinished import again, noted_pull, unfinished
from morph_tasks.repo.trees import BRANCH_PREFIX, feature_branch, primary_root

if TYPE_CHECKING:
    from morph_tasks.features.overview import Overview
    from morph_tasks.features.view import FeatureView
    from morph_tasks.fleet.github import Pull, Pulls
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo

PHASE, FLAG = "aguardando-merge", "pr-pending"
CLOSED, UNHEARD = "pr-closed", "pr-unverified"
BROKEN_OFF, UNDOING = "finish-unfinished", "undo-unfinished"
_HEADS, _ORIGIN = "refs/heads/", "refs/remotes/origin/"


@dataclass(frozen=True)
class PendingPull:
    """One feature that waits for a merge, or for the rest of its finish.

    `tip`: None without a branch; `pull`: None when none is known, without a state when only the journal of the finish
    tells of it; `days`: how long it waits, None when GitHub did not say since when; `row`: how boards show it;
    `flags`: those of the row that say why it is here.
    """

    slug: str
    branch: str
    tip: str | None
    pull: Pull | None
    days: int | None
    row: FeatureView
    flags: tuple[str, ...]


def pending(repo: Repo, pulls: Pulls, *, found: Overview | None = None) -> list[PendingPull]:
    """Return the finished features whose work nothing shows to be in the default branch, and broken-off finishes.

    A finished one is archived in its living tree or on its branch. It is shown while its pull request is open, after
    that was closed without a merge, and while GitHub was not heard. `found`: what `everywhere` said, for whoever knows.
    """
    repo = repo.lightly()
    main = primary_root(repo)
    seen = everywhere(repo, archived=False) if found is None else found
    rows = _finished(repo, pulls, seen)
    broken = unfinished(repo)
    tips = seen.tips or {}
    merged = _Merged(repo, {slug: tips[slug] for slug in rows if slug in tips})
    active = {view.slug: view for view in seen.rows}
    waiting = []
    for slug in sorted({*rows, *broken}):
        view = rows.get(slug) or active.get(slug)
        if view is None and (main / ARCHIVE / slug).is_dir():
            view = replace(read_view(main / ARCHIVE / slug, archived=True), where="root")
        pull = pulls.current(feature_branch(slug))
        why = _why(view, pull, pulls, merged) if view and slug in rows else None
        if view and (why or slug in broken):
            pull = pull or (noted_pull(repo, slug) if why == UNHEARD else None)
            waiting.append(_pending(view, tips.get(slug), pull, why, broken.get(slug)))
    return waiting


def _finished(repo: Repo, pulls: Pulls, seen: Overview) -> dict[str, FeatureView]:
    """Return the features that are archived where they belong, merged or not, as their row."""
    main, tips = primary_root(repo), seen.tips or {}
    held = {one.slug: one for one in seen.finished}
    ended = {view.slug: view for view in seen.ended}
    # A branch that this tree has merged was not read.
    asked = {pull.head for pull in pulls.items if pull.state == "OPEN" and not pull.cross_repository}
    heads = {slug: tip for slug, tip in tips.items() if BRANCH_PREFIX + slug in asked}
    rest = {slug: tip for slug, tip in heads.items() if slug not in held and slug not in ended}
    more = read_branches(repo, rest) if rest else {}
    held |= {slug: one for slug, one in more.items() if one.record is None and one.archive is not None}
    return {slug: row_of(one, main, archived=True) for slug, one in held.items()} | ended


def _why(view: FeatureView, pull: Pull | None, pulls: Pulls, merged: _Merged) -> str | None:
    """Return the flag of a finished feature; None when nothing is left to do for it."""
    if merged.by_commits(view.slug):
        return None
    if pull and pull.state == "OPEN":
        return FLAG
    if (pull and pull.state == "MERGED") or view.status == "abandoned":
        return None
    if not pull and ((pulls.verified and pulls.whole) or pulls.reason == NO_ORIGIN):
        return None
    if merged.by_content(view.slug):
        return None
    return CLOSED if pull else UNHEARD


@dataclass
class _Merged:
    """Which finished features the default branch has, here or at origin as last fetched; git is asked when needed."""

    repo: Repo
    tips: Mapping[str, str]
    _commits: set[str] | None = None
    _contents: set[str] | None = None
    _refs: list[str] = field(default_factory=list)

    def by_commits(self, slug: str) -> bool:
        """Tell whether the default branch has the commit of the branch."""
        if self._commits is None:
            name = self.repo.default_branch()
            self._refs = [f"{_HEADS}{name}", f"{_ORIGIN}{name}"] if name else []
            self._commits = set()
            for ref in self._refs:
                words = ("for-each-ref", "--format=%(objectname)", f"--merged={ref}", f"{_HEADS}{BRANCH_PREFIX}")
                said = self.repo.run(*words, ok=range(256))
                self._commits.update(said.text.split() if said.code == 0 else ())
        return self.tips.get(slug) in self._commits

    def by_content(self, slug: str) -> bool:
        """Tell whether the default branch has the very same archive of the feature: it came in under other commits."""
        if self._contents is None:
            asked = {name: f"{tip}:{ARCHIVE}/{name}" for name, tip in self.tips.items()}
            there = {name: [f"{ref}:{ARCHIVE}/{name}" for ref in self._refs] for name in asked}
            said = read_objects(self.repo, [*asked.values(), *(path for paths in there.values() for path in paths)])
            same = {name for name in asked if said[asked[name]] in [said[path] for path in there[name]]}
            self._contents = {name for name in same if said[asked[name]] is not None}
        return slug in self._contents


def _pending(
    view: FeatureView, tip: str | None, pull: Pull | None, why: str | None, broken: Journal | None
) -> PendingPull:
    days = _days(pull.created_at) if pull else None
    told = [_told(why, days, view)] if why else []
    flags = [why] if why else []
    if broken:
        flags.insert(0, BROKEN_OFF if broken.state == OPEN else UNDOING)
        told.insert(0, f"broken off, goes on with: {again(broken)}")
    row = replace(view, flags=(*view.flags, *flags), description="; ".join(told))
    row = replace(row, phase=PHASE) if why in (FLAG, UNHEARD) else row
    return PendingPull(view.slug, feature_branch(view.slug), tip, pull, days, row, tuple(flags))


def _days(since: str | None) -> int | None:
    began = read_time(since)
    return max(0, (datetime.now(UTC) - began).days) if began else None


def _told(why: str, days: int | None, view: FeatureView) -> str:
    if why == CLOSED:
        return "its pull request was closed without a merge: its work is only on its branch"
    if why == UNHEARD:
        return "finished; whether it is merged is not known"
    waited = f" for {days}d" if days is not None else ""
    return f"waiting for its merge{waited}{' — no local copy' if view.source == 'branch' else ''}"
