"""How far a feature has come: not there, without a branch, without a tree, archived, integrated already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES, feature_dir, read_feature
from morph_tasks.fleet.branches import contained
from morph_tasks.fleet.finish.place import shown
from morph_tasks.fleet.finish.wish import MERGE, PR

if TYPE_CHECKING:
    from morph_tasks.fleet.finish.place import Place
    from morph_tasks.fleet.finish.wish import Wish
    from morph_tasks.fleet.journal import Journal


def refuse_standing(place: Place, wish: Wish, journal: Journal | None, unfinished: Journal | None) -> None:
    """Refuse where there is nothing to finish, or nothing left of it.

    Raises Refusal `feature-not-found` (2), `no-feature-branch`, `branch-not-checked-out`, `already-finished`,
    `resume-undecidable`.
    """
    if unfinished and unfinished.is_done("integrate"):
        return  # what is left needs neither the branch nor a tree
    if place.tip is None:
        _refuse_without_branch(place, journal, unfinished)
        return
    if place.archived:
        _refuse_integrated(place, wish, journal, unfinished)
        return
    if place.tree is None:
        raise _without_tree(place)


def _without_tree(place: Place) -> Refusal:
    from morph_tasks.features.whereabouts import branch_holds, empty_branch, switch_back, switched_tree

    on_disk = (feature_dir(place.primary.root, place.slug) / "feature.json").exists()
    if not on_disk and branch_holds(place.primary, place.slug) is None:
        what, fix = empty_branch(place.primary, place.slug)
        return Refusal("feature-not-found", what, fix=fix, exit_code=2, feature=place.slug)
    what = f"no work tree has {place.branch} checked out, so the feature cannot be archived"
    fix = f"morph-spec worktree setup {place.slug}"
    if (switched := switched_tree(place.primary, place.slug)) is not None:
        told, fix = switch_back(switched, place.slug)
        what = f"{told}: so the feature cannot be archived"
    return Refusal("branch-not-checked-out", what, fix=fix, feature=place.slug, branch=place.branch)


def _refuse_without_branch(place: Place, journal: Journal | None, unfinished: Journal | None) -> None:
    slug = place.slug
    if unfinished and unfinished.step("integrate"):
        return
    if journal and journal.state == "done":
        raise _finished(place, _how(journal))
    if (feature_dir(place.primary.root, slug) / "feature.json").exists():
        what = f"feature {slug!r} has no branch {place.branch}: there is nothing to integrate"
        raise Refusal("no-feature-branch", what, fix=f"morph-spec archive {slug}", feature=slug)
    if place.default_tip and _in_archive(place, place.default_tip):
        raise _finished(place, f"{place.default} has it in its archive")
    read_feature(place.primary.root, slug)


def _refuse_integrated(place: Place, wish: Wish, journal: Journal | None, unfinished: Journal | None) -> None:
    """Refuse when the work of an archived branch is integrated, or when that cannot be told."""
    if place.default_tip is not None:
        held = contained(place.primary, str(place.tip), place.default_tip)
        if held and not unfinished:
            raise _finished(place, f"{place.default} holds the work of {place.branch}")
        if held is None and wish.mode == MERGE:
            what = f"this clone is shallow: whether {place.default} holds {place.branch} already cannot be told"
            raise Refusal("resume-undecidable", what, fix="git fetch --unshallow", feature=place.slug)
    opened = _opened_pull(journal)
    if wish.mode == MERGE and opened:
        _refuse_pulled(place, opened)


def _opened_pull(journal: Journal | None) -> dict[str, Any] | None:
    """Return the pull request that the newest finish made; None when it made none."""
    done = journal and journal.state != "undone" and journal.plan.get("mode") == PR and journal.is_done("integrate")
    found = journal.step("integrate").get("pr") if journal and done else None
    return found if isinstance(found, dict) else None


def _refuse_pulled(place: Place, opened: dict[str, Any]) -> None:
    """Refuse a local merge beside a pull request, unless that is known to have been closed without a merge."""
    from morph_tasks.fleet.github import ask_pulls

    said = ask_pulls(place.primary, head=place.branch)
    pull = next((one for one in said.of(place.branch) if one.number == opened.get("number")), None)
    number, url = opened.get("number"), opened.get("url")
    if not said.verified or (pull is None and not said.whole):
        what = f"{place.branch} was finished by pull request #{number}, and how that stands is not known: {said.reason}"
        raise Refusal("resume-undecidable", what, fix=f"gh pr view {number}", feature=place.slug, pr=opened)
    told = {"number": number, "url": url}
    if pull is not None and pull.state == "MERGED":
        raise _finished(place, f"pull request #{number} ({url}) is merged", pr=told)
    if pull is not None and pull.state == "OPEN":
        fix = f"gh pr merge {number}, or gh pr close {number} and run this again"
        raise _finished(place, f"pull request #{number} ({url}) is open: merge it, or close it", fix=fix, pr=told)


def finished_by_pull(place: Place, number: int, url: str, *, archived: bool, tree: str) -> Refusal:
    """Return the refusal of a second pull request for a branch."""
    if archived:
        fix = f"gh pr merge {number}"
    else:
        fix = f"cd {shown(tree)} && morph-spec archive {place.slug} && git push origin {place.branch}"
    what = f"pull request #{number} ({url}) is open for {place.branch} already"
    return _refused(place, what, fix=fix, pr={"number": number, "url": url})


def finished_by_merge(place: Place, number: int, url: str) -> Refusal:
    """Return the refusal of a pull request for work that one has brought in already."""
    return _finished(place, f"pull request #{number} ({url}) is merged", pr={"number": number, "url": url})


def _finished(place: Place, why: str, *, fix: str = "", **payload: Any) -> Refusal:
    if place.tree is not None and place.linked:
        fix = fix or f"morph-spec worktree remove {place.slug}"
    fix = fix or ("morph-spec branch prune" if place.tip else "morph-spec list --all")
    return _refused(place, f"feature {place.slug!r} is finished already: {why}", fix=fix, **payload)


def _refused(place: Place, what: str, *, fix: str, **payload: Any) -> Refusal:
    return Refusal("already-finished", what, fix=fix, feature=place.slug, **payload)


def _how(journal: Journal) -> str:
    step = journal.step("integrate")
    if journal.plan.get("mode") == PR:
        pull = step.get("pr") or {}
        return f"pull request #{pull.get('number')} was made ({pull.get('url')})"
    return f"merged into {journal.plan.get('default')} as {str(step.get('mergeCommit'))[:10]}"


def _in_archive(place: Place, commit: str) -> bool:
    path = f"{ARCHIVE}/{place.slug}/feature.json"
    return bool(place.primary.git("ls-tree", "-z", "--name-only", "--full-tree", commit, path))


def ports(place: Place) -> dict[str, Any]:
    """Return the block of ports that the feature has, as the journal keeps it."""
    from morph_tasks.stack.ports import known_block

    block = known_block(place.primary, place.slug)
    return {"portsKey": place.slug, "portsBase": block.base if block else None}


def base_advanced(place: Place) -> dict[str, Any] | None:
    """Return how many commits of `origin/<default>` the branch has not; `commits` is None where that is unknown."""
    if place.default is None:
        return None
    count = None
    if place.origin_tip and place.tip and not place.primary.is_shallow():
        count = place.primary.count(place.origin_tip, f"^{place.tip}")
    return {"ref": f"origin/{place.default}", "commits": count}


def verification(place: Place) -> dict[str, Any]:
    """Return whether the last verify was green for exactly this code; `current` is None where that cannot be told."""
    if place.tree is None:
        return {"current": None, "reason": "no work tree has the branch checked out"}
    try:
        data = _record(place)
    except (Refusal, OSError) as error:
        return {"current": None, "reason": str(error)}
    stamp = data.get("verification")
    if not isinstance(stamp, dict):
        return {"current": False, "reason": "nothing was verified"}
    if stamp.get("status") != "pass":
        return {"current": False, "reason": f"it ended with {stamp.get('status')}"}
    try:
        from morph_tasks.verify.stamp import stamp_staleness

        why = stamp_staleness(place.tree, {**data, "feature": place.slug})
    except Exception as error:  # whatever went wrong: a warning must not stop a finish
        return {"current": None, "reason": f"not verified: {error}"}
    return {"current": why is None, "reason": why}


def _record(place: Place) -> dict[str, Any]:
    from morph_tasks.repo.files import read_json

    root = place.tree.root if place.tree else place.primary.root
    for top in (FEATURES, ARCHIVE):
        path = root / top / place.slug / "feature.json"
        if path.exists():
            found = read_json(path)
            return found if isinstance(found, dict) else {}
    return {}
