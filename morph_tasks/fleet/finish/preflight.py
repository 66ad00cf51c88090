"""The plan of a finish and every refusal of it, before the first change. A dry run is this and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.ignores import IGNORES
from morph_tasks.features.removal import Along
from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.fleet.adrs import Changes, plan_changes
from morph_tasks.fleet.branches import contained
from morph_tasks.fleet.finish import refusals, standing
from morph_tasks.fleet.finish.place import Place, find_place
from morph_tasks.fleet.finish.rehearsal import rehearse
from morph_tasks.fleet.finish.wish import MERGE, PR, Wish
from morph_tasks.fleet.journal import OPEN
from morph_tasks.repo.branching import no_default_branch
from morph_tasks.repo.commits import refuse_nobody

if TYPE_CHECKING:
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.fleet.look import Look
    from morph_tasks.repo.git import Repo

KEEP, ANCHORED = "keep", "session-anchored"
_FIRST = ("branchTip", "ownerTree", "linked", "links", "portsKey", "portsBase")


@dataclass
class Prepared:
    """What a finish is going to do. `plan`: as the journal keeps it; `seen`: the feature's tree, None without one.

    `unfinished`: the journal that is taken up; `resumed`: something of an earlier finish, or of `archive`, is.
    """

    place: Place
    wish: Wish
    plan: dict[str, Any]
    changes: Changes = field(default_factory=Changes)
    along: Along = field(default_factory=Along)
    seen: Look | None = None
    unfinished: Journal | None = None
    resumed: bool = False
    conflicts: tuple[str, ...] = ()
    signs: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def half(self) -> bool:
        """Tell whether the folder has moved to the archive, committed or not."""
        tree = self.place.tree
        return tree is not None and not (tree.root / FEATURES / self.place.slug).is_dir()

    def has_done(self, step: str) -> bool:
        """Tell whether an earlier run has ended a step."""
        return self.unfinished is not None and self.unfinished.is_done(step)


def prepare(repo: Repo, slug: str, wish: Wish, journal: Journal | None) -> Prepared:
    """Compute the plan of a finish; changes nothing.

    `journal`: the newest one of the feature. Raises every Refusal that a finish can know of before it begins.
    """
    wish.check(slug)
    place = find_place(repo, slug)
    unfinished = journal if journal and journal.state == OPEN and not _overtaken(journal, place) else None
    if unfinished and _lost_merge(unfinished, place):
        unfinished.note("integrate", state="begun")
    standing.refuse_standing(place, wish, journal, unfinished)
    made = _drawn(place, wish, unfinished)
    _look(made)
    if not made.has_done("integrate"):
        _refuse_integration(made)
    refusals.refuse_backup(place, place.tree)
    _read_settings(made)
    # Once the tree is gone only the first run can have told.
    known = unfinished.plan.get("verification") if unfinished and place.tree is None else None
    made.plan["verification"] = known or standing.verification(place)
    made.plan["baseAdvanced"] = standing.base_advanced(place)
    made.warnings += [*made.changes.warnings, *_told(made)]
    return made


def _overtaken(journal: Journal, place: Place) -> bool:
    """Tell whether the feature has begun anew since a journal was left open: nothing of it can be taken up."""
    return journal.is_done("archive") and place.tip is not None and not place.archived


def _lost_merge(journal: Journal, place: Place) -> bool:
    """Tell whether the default branch no longer holds what an earlier run merged: it has to be merged again."""
    if journal.plan["mode"] != MERGE or not journal.is_done("integrate") or place.tip is None:
        return False
    merged = str(journal.step("integrate")["branchTip"])
    return place.default_tip is not None and contained(place.primary, merged, place.default_tip) is False


def _drawn(place: Place, wish: Wish, unfinished: Journal | None) -> Prepared:
    """Return the plan without what only a look at the tree can tell."""
    keep = KEEP if wish.keep else ANCHORED if place.anchored else None
    plan = {
        "mode": wish.mode,
        "options": wish.options(),
        "branch": place.branch,
        "branchTip": place.tip,
        "default": place.default,
        "defaultTip": place.default_tip,
        "ownerTree": str(place.tree.root) if place.tree else None,
        "linked": place.linked,
        "primary": str(place.primary.root),
        **standing.ports(place),
        "links": [],
        "submodules": [],
        "keepTree": keep,
    }
    if unfinished and (unfinished.is_done("archive") or place.archived):
        # What was before the first change stays what undo goes back to.
        plan |= {name: unfinished.plan[name] for name in _FIRST}
        plan["submodules"] = unfinished.plan.get("submodules") or []
        if place.tree is not None and plan["ownerTree"] and not os.path.lexists(plan["ownerTree"]):
            plan["ownerTree"] = str(place.tree.root)  # moved since
    resumed = place.archived or bool(unfinished and unfinished.step("archive"))
    return Prepared(place, wish, plan, unfinished=unfinished, resumed=resumed)


def _look(made: Prepared) -> None:
    """Look at the feature and at its tree, and refuse what cannot be archived or taken down."""
    place, tree = made.place, made.place.tree
    if tree is None or made.has_done("teardown"):
        return
    own = [] if made.has_done("archive") else [f"{top}/{place.slug}" for top in (FEATURES, ARCHIVE)]
    if not place.archived:
        refusals.refuse_feature(place, made.wish, tree)
        made.changes = _changes(made, tree)
        if made.half:
            own += [*made.changes.write, *made.changes.remove]
    goes = place.linked and made.plan["keepTree"] is None
    made.seen, derived = refusals.refuse_tree(place, made.wish, tree, goes=goes, own=own)
    made.along = Along(made.changes.write, made.changes.remove, [IGNORES] if derived else [])
    if not made.plan["submodules"]:
        made.plan["submodules"] = [path for path, _ in made.seen.submodules]
    if not made.plan["links"]:
        made.plan["links"] = [link.as_json() for link in made.seen.links]


def _changes(made: Prepared, tree: Repo) -> Changes:
    """Return what goes into the record of decisions.

    Once the folder has moved, what was decided stands: what was done to the record would look like a mistake.
    """
    step = made.unfinished.step("archive") if made.unfinished else {}
    if made.half and "adrs" in step:
        index = step.get("adrIndex") or {}
        added, revoked, narrowed = (tuple(index.get(name, ())) for name in ("added", "revoked", "narrowed"))
        problems = tuple(step.get("revocationProblems") or ())
        write, remove = dict(step["adrs"]["write"]), tuple(step["adrs"]["remove"])
        return Changes(write, remove, added, revoked, narrowed, problems)
    top = ARCHIVE if made.half else FEATURES
    return plan_changes(tree.root, made.place.slug, tree.root / top / made.place.slug)


def _refuse_integration(made: Prepared) -> None:
    place, wish = made.place, made.wish
    if place.default is None:
        raise no_default_branch()
    if wish.mode == PR:
        from morph_tasks.fleet.finish.pull import refuse_pull

        refuse_pull(place, made.unfinished)
    elif place.default_tip is None:
        what = f"there is no local branch {place.default} to merge into"
        raise Refusal("no-local-default", what, fix=f"git branch {place.default} origin/{place.default}")
    if place.default_tip is None or place.tip is None:
        refuse_nobody(place.primary)
        return
    if place.archived and contained(place.primary, place.tip, place.default_tip):
        return  # an earlier run came as far as the merge
    try:
        with rehearse(place, made.along) as tried:
            made.conflicts = tried.conflicts
            if wish.mode == PR and tried.left:
                made.warnings.append(
                    f"{place.default} has a copy of {FEATURES}/{place.slug} that the pull request will leave there: "
                    f"merge {place.default} into {place.branch} first"
                )
            if wish.mode == MERGE:
                refusals.refuse_merge(place, wish, tried, stays=made.plan["keepTree"] is not None)
    except Refusal as refusal:
        if wish.mode == MERGE or refusal.code == "no-identity":
            raise
        made.warnings.append(f"whether the pull request can be merged is not known: {refusal.what}")


def _read_settings(made: Prepared) -> None:
    """Note the remote to publish to, the user's own folder of hooks, and whether commits are to be signed."""
    asked = ("config", "-z", "--get-regexp", r"^(commit\.gpgsign|remote\.origin\.url|core\.hookspath)$")
    entries = made.place.primary.run(*asked, ok=range(256)).text.split("\0")
    said = dict(entry.lower().partition("\n")[::2] for entry in entries if entry)
    made.signs = "commit.gpgsign" in said and said["commit.gpgsign"] not in ("false", "no", "off", "0")
    made.plan["remote"] = "origin" if "remote.origin.url" in said else None
    made.plan["hooksElsewhere"] = "core.hookspath" in said


def _told(made: Prepared) -> Iterator[str]:
    """Yield what a person should know and what is no reason to refuse."""
    place = made.place
    if made.wish.mode == PR and made.conflicts:
        yield f"the pull request will conflict with {place.default} in {', '.join(made.conflicts[:5])}"
    from morph_tasks.fleet import claims

    if made.signs:
        yield "commit.gpgsign is set, and the commits of a finish are unsigned all the same"
    claimed = claims.warning(place.tree or place.primary, place.slug)
    if claimed:
        yield claimed
    about = made.plan["verification"]
    if about["current"] is not True:
        yield f"the last verify does not speak for this code: {about['reason']}"
    if place.inside and made.plan["keepTree"] is None and made.wish.dry_run:
        where = made.plan["ownerTree"]
        yield f"the current folder is in {where}, which would be gone: without --dry-run this is refused"
