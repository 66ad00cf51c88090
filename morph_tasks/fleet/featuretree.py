"""What tree a feature gets, and which feature gets none: unknown, integrated, or in use elsewhere."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES, feature_dir
from morph_tasks.features.whereabouts import holds
from morph_tasks.fleet.handover import LEAVING
from morph_tasks.fleet.making import plan_tree
from morph_tasks.repo.trees import feature_branch

if TYPE_CHECKING:
    from morph_tasks.fleet.handover import Handover
    from morph_tasks.fleet.layout import Container
    from morph_tasks.fleet.making import TreePlan
    from morph_tasks.repo.git import Repo


def plan_feature(primary: Repo, place: Container, slug: str) -> TreePlan:
    """Plan the tree of a feature; what is in its way is told with the command that helps this feature."""
    from morph_tasks.features.whereabouts import alike, switch_back, switched_tree
    from morph_tasks.fleet.bases import start_of_default

    branch = feature_branch(slug)
    try:
        return plan_tree(
            primary,
            key=slug,
            path=place.path / slug,
            branch=branch,
            top=place.path,
            start=lambda: start_of_default(primary),
        )
    except Refusal as refusal:
        if refusal.code == "path-taken" and (switched := switched_tree(primary, slug)) is not None:
            what, fix = switch_back(switched, slug)
            raise Refusal("path-taken", what, fix=fix, path=str(switched), branch=branch) from refusal
        if refusal.code == "branch-exists" and not (feature_dir(primary.root, slug) / "feature.json").exists():
            other = alike(primary, slug)
            what = f"there is no feature {slug!r}" + (f"; there is {other!r}" if other else "")
            fix = f"morph-spec worktree setup {shlex.quote(other)}" if other else "morph-spec list"
            raise Refusal("feature-not-found", what, fix=fix, exit_code=2, feature=slug) from refusal
        raise


def refuse_absent(primary: Repo, slug: str, plan: TreePlan, moving: Handover | None) -> bool:
    """Refuse a feature that is neither in the main tree nor on its branch; tell whether its branch has it archived."""
    folders = [moving.source, moving.source.with_name(LEAVING + slug)] if moving else []
    if plan.whole:  # the run that was killed may have moved it already
        folders.append(plan.path / FEATURES / slug)
    here = any((folder / "feature.json").is_file() for folder in folders)
    there = holds(primary, plan.commit, slug)
    if here or there == FEATURES:
        return False
    if there == ARCHIVE and (plan.track or not plan.start):
        _refuse_integrated(primary, slug, plan)
        return True
    if plan.half and plan.half.get("born"):
        what, fix = (
            f"feature {slug!r} was never born: its creation was killed",
            f"morph-spec create {slug} --worktree …",
        )
        raise Refusal("feature-not-found", what, fix=fix, exit_code=2, feature=slug)
    from morph_tasks.features.store import read_feature

    read_feature(primary.root, slug)  # words the refusal: archived, or unknown
    return False


def _refuse_integrated(primary: Repo, slug: str, plan: TreePlan) -> None:
    """Refuse an archived feature whose work is in the default branch: there is nothing left to follow it."""
    from morph_tasks.fleet.branches import UNMERGED, Survey
    from morph_tasks.fleet.github import ask_pulls

    default = primary.default_branch()
    pulls = ask_pulls(primary, head=plan.branch)
    survey = Survey(primary, default, pulls)
    state, why = survey.proof(plan.commit, plan.branch, survey.targets)
    if state == UNMERGED:
        return
    # Not `-d`, which asks whether the branch is in what happens to be checked out, and knows nothing of a squash.
    fix = "morph-spec list --all" if plan.start else f"git branch -D {shlex.quote(plan.branch)}"
    raise Refusal("already-finished", f"feature {slug!r} is finished already: {why}", fix=fix, feature=slug)
