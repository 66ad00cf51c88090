"""Integrate by a pull request: push the branch, open the request or adopt the one that an earlier run opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.finish import publish, standing
from morph_tasks.fleet.finish.wish import PR, of_journal
from morph_tasks.fleet.github import ask_pulls, create_pull, require

if TYPE_CHECKING:
    from morph_tasks.fleet.finish.place import Place
    from morph_tasks.fleet.github import Pull
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo

_LONGEST = 4000  # characters of a description that go into the request


def refuse_pull(place: Place, unfinished: Journal | None) -> None:
    """Refuse where no pull request can be made, or where one is open already.

    Raises Refusal `no-origin`, `gh-missing`, `gh-not-authenticated`, `gh-failed`, `already-finished`,
    `resume-undecidable`.
    """
    require(place.primary)
    said = ask_pulls(place.primary, head=place.branch)
    pull = said.current(place.branch)
    if not said.verified or (pull is None and not said.whole):
        code = "resume-undecidable" if place.archived else "gh-failed"
        reason = said.reason or "GitHub has more of them than it listed"
        what = f"whether a pull request of {place.branch} is open already is not known: {reason}"
        raise Refusal(code, what, fix=f"gh pr list --state all --head {place.branch}", feature=place.slug)
    if pull is None or (unfinished and unfinished.plan.get("mode") == PR and unfinished.step("integrate")):
        return
    if pull.state == "OPEN":
        tree = str(place.tree.root) if place.tree else ""
        raise standing.finished_by_pull(place, pull.number, pull.url, archived=place.archived, tree=tree)
    if pull.state == "MERGED" and place.archived and pull.head_oid == place.tip:
        raise standing.finished_by_merge(place, pull.number, pull.url)


def integrate_pull(repo: Repo, journal: Journal, data: dict[str, Any]) -> None:
    """Push the branch and open the pull request; `data`: the feature's record.

    Raises Refusal `push-failed`, `pr-failed`, `resume-undecidable`, or what `gh` is refused for.
    """
    plan = journal.plan
    branch, base, slug = str(plan["branch"]), str(plan["default"]), journal.feature
    tip = repo.text("rev-parse", "--verify", f"refs/heads/{branch}^{{commit}}")
    begun = bool(journal.step("integrate"))
    journal.begin("integrate", pushedTip=tip)
    found = _adopted(repo, branch, base, tip) if begun else None
    # What is merged is not pushed again: its branch may be gone for good.
    problem = None if found and found.state == "MERGED" else publish.push(repo, branch)
    if problem and found is None:
        raise Refusal(
            "push-failed",
            f"{branch} could not be pushed: {' '.join(problem.split())[:400]}",
            fix=f"git push origin {branch}, then {of_journal(plan).command(slug)}",
            feature=slug,
        )
    title = " ".join(str(data.get("name") or slug).split())
    made = found or create_pull(repo, head=branch, base=base, title=title, body=_body(data, slug))
    told = {"number": made.number, "url": made.url, "state": made.state, "adopted": found is not None}
    warnings = [f"pull request #{made.number} is open, but {branch} could not be pushed: {problem}"] if problem else []
    journal.done("integrate", pr=told, pushedTip=tip, warnings=warnings)


def _adopted(repo: Repo, branch: str, base: str, tip: str) -> Pull | None:
    """Return the pull request that a killed run made, be it merged by now; raises Refusal `resume-undecidable`."""
    said = ask_pulls(repo, head=branch)
    if not said.verified:
        what = f"whether the pull request of {branch} was made already is not known: {said.reason}"
        raise Refusal("resume-undecidable", what, fix=f"gh pr list --head {branch}")
    pull = said.current(branch)
    counts = pull and (pull.state == "OPEN" or (pull.state == "MERGED" and pull.head_oid == tip))
    return pull if pull and counts and pull.base == base else None


def _body(data: dict[str, Any], slug: str) -> str:
    text = str(data.get("description") or "").strip()[:_LONGEST]
    return "\n\n".join(part for part in (text, f"Feature `{slug}`; its plan is in `.morph/archive/{slug}/`.") if part)
