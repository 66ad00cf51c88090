"""A feature that is born in a work tree of its own: the main tree does not move, and holds nothing of it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from morph_tasks.features import birth
from morph_tasks.features.store import FEATURES, read_feature, state_lock, sweep_leftovers, write_index
from morph_tasks.fleet.bases import start_of_default
from morph_tasks.fleet.layout import primary_of
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.making import TreePlan, make_tree, plan_tree
from morph_tasks.fleet.setup import begin, furnish, settled
from morph_tasks.repo.branching import refuse_taken
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import feature_branch

if TYPE_CHECKING:
    from morph_tasks.features.birth import Born, Wish
    from morph_tasks.repo.git import Repo


def create_in_tree(repo: Repo, wish: Wish) -> Born:
    """Make branch, work tree and feature; all of it, or nothing. A run that was killed half-way is completed.

    Raises Refusal `feature-exists`, `feature-archived`, `branch-exists`, `feature-in-use` (3) and what its parts raise.
    """
    work_type, data = birth.first_record(wish)
    slug, branch = wish.slug, feature_branch(wish.slug)
    primary = primary_of(repo)
    with fleet_lock(primary):
        config, place, notes = begin(primary)
        plan = plan_tree(
            primary,
            key=slug,
            path=place.path / slug,
            branch=branch,
            top=place.path,
            start=lambda: start_of_default(primary),
        )
        resumed = bool(plan.half and plan.half.get("born"))
        if not resumed:
            refuse_taken(primary, branch)
        birth.refuse_taken(primary, slug, "" if resumed else plan.commit)
        text = birth.plan_skeleton(primary, data)
        with ExitStack() as undo:
            notes += make_tree(primary, plan, undo, born=True)
            tree = open_repo(plan.path).lightly()
            further, problems = _put(tree, slug, data, text)
            furnished = furnish(primary, tree, config, slug, slug, undo)
            undo.pop_all()
        notes += [*problems, *birth.hidden_warning(tree, f"{FEATURES}/{slug}/{birth.WRITTEN[0]}")]
        made = settled(primary, config, place, plan, tree, slug, furnished, notes)
    return birth.Born(
        slug,
        work_type,
        plan.path / FEATURES / slug,
        _branch_payload(primary, plan),
        (*(f"{FEATURES}/{slug}/{name}" for name in birth.WRITTEN), *further),
        read_feature(plan.path, slug),
        (*([made.root_warning] if made.root_warning else []), *made.warnings),
        made,
    )


def _put(tree: Repo, slug: str, data: dict[str, Any], text: str) -> tuple[list[str], list[str]]:
    """Write the feature into its tree, unless a run that was killed had; return further files, and problems."""
    with state_lock(tree.root):
        sweep_leftovers(tree.root)
        if not (tree.root / FEATURES / slug).exists():
            with birth.unborn(tree.root, slug, data, text) as put:
                put()
        found = birth.seed_ignores(tree, slug)
        write_index(tree.root)
    return found


def _branch_payload(primary: Repo, plan: TreePlan) -> dict[str, Any]:
    return {"name": plan.branch, "checkedOut": False, "stayedOn": primary.branch() or primary.head()}
