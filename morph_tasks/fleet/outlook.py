"""`plan-check` with a look around: the plan itself, the open plans that it collides with, and what landed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.outdated import STALE, UNKNOWN, Landed, Outdated
from morph_tasks.errors import Refusal
from morph_tasks.fleet.colliding import Comparison, compare
from morph_tasks.plan.source import Finding, Place

if TYPE_CHECKING:
    from morph_tasks.codegraph.collisions import Collision
    from morph_tasks.plan.check import Report
    from morph_tasks.plan.values import Plan
    from morph_tasks.repo.git import Repo

_MOST = 3
_TOP = Place(1, 1)


@dataclass(frozen=True)
class Outlook:
    """`report` has the warnings `collides-with` and `stale-by-merge` among its own."""

    report: Report
    comparison: Comparison
    outdated: Outdated

    def as_json(self) -> dict[str, Any]:
        """Return the keys that come beside those of the report."""
        return {**self.comparison.as_json(), "staleByMerge": self.outdated.as_json()}


def plan_check(repo: Repo, feature: str, *, accept: bool = False) -> Outlook:
    """Check a plan as `plan.service.plan_check` does, and look around; nothing around it makes an error.

    `accept`: the plan holds in view of all that this tree has merged; raises Refusal `merge-not-taken` when there is
    something that touches the plan and that the tree does not have yet.
    """
    from morph_tasks.plan import service

    repo = repo.lightly()
    if accept:
        _refuse_not_taken(repo, feature)
    report = service.plan_check(repo.root, feature, accept=accept)
    comparison = _others(repo, feature, report.plan)
    outdated = _since(repo, feature, report.plan)
    own = [*_collides(report.plan, feature, comparison), *_stale(repo, feature, outdated)]
    warnings = sorted((*report.warnings, *own), key=lambda one: (one.place, one.code))
    return Outlook(replace(report, warnings=tuple(warnings)), comparison, outdated)


def _others(repo: Repo, feature: str, plan: Plan) -> Comparison:
    from morph_tasks.fleet.openplans import OpenPlan, open_plans
    from morph_tasks.plan.files import planned_in

    own = OpenPlan(feature, "", planned_in(plan))
    try:
        others = open_plans(repo, without=feature)
        return compare(repo, [own, *others], own=feature)
    except (Refusal, OSError) as error:
        what = error.what if isinstance(error, Refusal) else str(error)
        return Comparison((), (), None, f"the plans of the others could not be listed: {what}")


def _since(repo: Repo, feature: str, plan: Plan) -> Outdated:
    from morph_tasks.codegraph.outdated import outdated, recorded_bases
    from morph_tasks.plan.files import planned_in
    from morph_tasks.plan.service import read_checks

    try:
        bases = recorded_bases(repo.root, feature, read_checks(repo.root, feature))
        return outdated(repo, feature, planned_in(plan), bases)
    except (Refusal, OSError) as error:
        return Outdated(UNKNOWN, error.what if isinstance(error, Refusal) else str(error))


def _refuse_not_taken(repo: Repo, feature: str) -> None:
    from morph_tasks.codegraph.outdated import of_feature

    found = of_feature(repo, feature)
    missing = [one for one in found.landed if not one.held]
    if missing:
        raise Refusal(
            "merge-not-taken",
            f"this tree does not have what touches the plan yet: {_named(missing[0])}",
            fix=f"git merge {found.bases[0].branch}, then morph-spec plan-check {feature} --accept",
            feature=feature,
            staleByMerge=found.as_json(),
        )


def _collides(plan: Plan, feature: str, comparison: Comparison) -> Iterator[Finding]:
    """Yield a warning for each own file, other feature and direction; for a feature, one of what is farther away."""
    places = {path: word.place for one in reversed(plan.slices) for word, path in _words(one)}
    groups: dict[tuple[object, ...], list[Collision]] = {}
    for one in comparison.found:
        mine, other = one.sides(feature)
        near = (one.distance, mine.file, mine is one.one) if one.distance < 2 else ()
        groups.setdefault((other.feature, *near), []).append(one)
    for several in groups.values():
        first = several[0]
        mine, other = first.sides(feature)
        far = "over a third file, " if first.distance > 1 else ""
        more = f", and {len(several) - 1} more such" if len(several) > 1 else ""
        text = f"{other.feature} {','.join(other.slices)}: {far}{_why(first, mine is first.one)}{more}"
        yield Finding("collides-with", places.get(mine.file, _TOP), text)


def _words(one: Any) -> Iterator[tuple[Any, str]]:
    from morph_tasks.plan.paths import normal_path

    for word in reversed(one.paths):
        yield word, normal_path(word.text)


def _why(one: Collision, changes: bool) -> str:
    from morph_tasks.fleet.colliding import path_lines

    changed, depends = f"`{one.one.file}`", f"`{one.other.file}`"
    if one.distance == 0:
        return f"its plan changes {depends if changes else changed} as well"
    said = "; ".join(path_lines(one, " at "))
    if changes:
        return f"{depends} of its plan depends on {changed}: {said}"
    return f"its plan changes {changed}, on which {depends} depends: {said}"


def _stale(repo: Repo, feature: str, outdated: Outdated) -> Iterator[Finding]:
    if outdated.state != STALE:
        return
    for one in outdated.landed[:_MOST]:
        yield Finding("stale-by-merge", _TOP, f"{_named(one)} came in after this plan: {_touched(one)}")
    if len(outdated.landed) > _MOST:
        yield Finding("stale-by-merge", _TOP, f"{len(outdated.landed) - _MOST} more commits touch this plan")
    taken = all(one.held for one in outdated.landed)
    merge = "" if taken else f"git merge {outdated.bases[0].branch}, "
    then = f"look whether the plan still holds, then morph-spec plan-check {feature} --accept"
    yield Finding("stale-by-merge", _TOP, f"to settle it: {merge}{then}")


def _named(one: Landed) -> str:
    kind = "the merge" if one.merge else "the commit"
    return f"{kind} {one.commit[:10]} of morph/{one.feature}" if one.feature else f"{kind} {one.commit[:10]}"


def _touched(one: Landed) -> str:
    said = []
    for hit in one.touched[:_MOST]:
        slices = ",".join(hit.slices)
        if hit.how == "planned":
            said.append(f"`{hit.file}` of {slices}")
            continue
        step = hit.path[-1]
        which = "depends on" if hit.how == "dependent" else "is needed by"
        said.append(
            f"`{hit.file}`, which {which} `{hit.planned}` of {slices} ({step.symbol} {step.relation} "
            f"{step.uses} at {step.at or 'no known line'})"
        )
    more = f" and {len(one.touched) - _MOST} more" if len(one.touched) > _MOST else ""
    return "; ".join(said) + more
