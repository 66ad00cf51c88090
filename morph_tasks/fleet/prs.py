"""Features that are finished but for the merge of their pull request: they have no copy in any tree, only a branch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from morph_tasks.features.onbranch import feature_tips, read_branches
from morph_tasks.features.overview import row_of
from morph_tasks.repo.trees import BRANCH_PREFIX, primary_root

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView
    from morph_tasks.fleet.github import Pull, Pulls
    from morph_tasks.repo.git import Repo

PHASE, FLAG = "aguardando-merge", "pr-pending"
_HEADS, _ORIGIN = "refs/heads/", "refs/remotes/origin/"


@dataclass(frozen=True)
class PendingPull:
    """One feature that waits. `row`: how boards show it; `days`: how long, None when GitHub did not say since when."""

    slug: str
    branch: str
    tip: str
    pull: Pull
    days: int | None
    row: FeatureView


def pending(repo: Repo, pulls: Pulls, *, tips: dict[str, str] | None = None) -> list[PendingPull]:
    """Return the features that are archived on `morph/<feature>`, not in the default branch, with an open pull request.

    `tips`: the commits of those branches, for whoever knows them. Empty also when GitHub could not be asked: the
    caller shows `pulls.reason`.
    """
    waiting = {pull.head: pull for pull in pulls.items if pull.state == "OPEN" and not pull.cross_repository}
    if not waiting:
        return []
    repo = repo.lightly()
    known = feature_tips(repo) if tips is None else tips
    meant = {slug: tip for slug, tip in known.items() if BRANCH_PREFIX + slug in waiting}
    held = read_branches(repo, meant)
    merged = _in_default(repo) if held else set()
    found = []
    for slug, one in sorted(held.items()):
        if one.archive is None or one.record is not None or one.tip in merged:
            continue
        pull = waiting[one.branch]
        days = _days(pull.created_at)
        view = row_of(one, primary_root(repo), archived=True)
        row = replace(view, phase=PHASE, flags=(*view.flags, FLAG), description=_told(days))
        found.append(PendingPull(slug, one.branch, one.tip, pull, days, row))
    return found


def _in_default(repo: Repo) -> set[str]:
    """Return the tips of local branches that the default branch has, here or at origin as last fetched."""
    name = repo.default_branch()
    found: set[str] = set()
    for ref in (f"{_HEADS}{name}", f"{_ORIGIN}{name}") if name else ():
        said = repo.run("for-each-ref", "--format=%(objectname)", f"--merged={ref}", "refs/heads/morph/", ok=range(256))
        found.update(said.text.split() if said.code == 0 else ())
    return found


def _days(since: str | None) -> int | None:
    try:
        began = datetime.fromisoformat(since or "")
    except ValueError:
        return None
    passed = datetime.now(UTC) - (began if began.tzinfo else began.replace(tzinfo=UTC))
    return max(0, passed.days)


def _told(days: int | None) -> str:
    waited = f" for {days}d" if days is not None else ""
    return f"waiting for its merge{waited} — no local copy"
