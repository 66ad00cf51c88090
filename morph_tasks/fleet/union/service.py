"""The union of all green features, as commands and tests call it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.fleet.union.candidates import Candidate, Default, candidates, default_branch
from morph_tasks.fleet.union.conflicts import Brought, Conflict, against_default, as_it_came, between
from morph_tasks.fleet.union.joining import Joined, Joiner
from morph_tasks.fleet.union.order import Placed, branches_below, suggest
from morph_tasks.fleet.union.scratch import Scratch, scratch
from morph_tasks.fleet.union.verifying import PASS, Verified

if TYPE_CHECKING:
    from morph_tasks.fleet.union.proof import Say
    from morph_tasks.repo.git import Repo

WAIT_S = 600.0


@dataclass(frozen=True)
class Union:
    """All that is known of a union. `verified`: None when nobody asked, or nothing could be merged."""

    default: Default
    found: tuple[Candidate, ...]
    conflicts: tuple[Conflict, ...]
    order: tuple[Placed, ...]
    joined: Joined | None
    verified: Verified | None
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Tell whether nothing stands in the way of merging all of it."""
        kept_out = bool(self.joined and self.joined.left_out)
        return not self.conflicts and not kept_out and (self.verified is None or self.verified.status == PASS)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "default": {"branch": self.default.name, "commit": self.default.commit},
            "features": [one.as_json() for one in self.found],
            "conflicts": [one.as_json() for one in self.conflicts],
            "order": [one.as_json() for one in self.order],
            "union": {
                "commit": self.joined.commit if self.joined else None,
                "tree": self.joined.tree if self.joined else None,
                "merged": list(self.joined.merged) if self.joined else [],
                "leftOut": self.left_out(),
            },
            "verify": self.verified.as_json() if self.verified else None,
            "warnings": list(self.warnings),
        }

    def left_out(self) -> list[dict[str, Any]]:
        """Return the green features that are not in the union, and why."""
        found = [_against(one) for one in self.conflicts if one.against]
        for name, paths in (self.joined.left_out if self.joined else {}).items():
            merged = self.joined.merged if self.joined else ()
            rivals = [one for pair in self.conflicts if name in pair.features for one in pair.features if one != name]
            rivals = [one for one in rivals if one in merged]
            why = f"conflicts with {', '.join(rivals) or 'the features merged before it, taken together'}"
            found.append({"feature": name, "why": why, "paths": list(paths)})
        return found


def union(repo: Repo, *, verify: bool, say: Say) -> Union:
    """Merge all green features in a suggested order, and prove the result when asked; changes nothing of the user's.

    Raises Refusal `no-default-branch`, `git-too-old`, `shallow-clone`, `no-room`, `busy` (exit 3), …
    """
    from morph_tasks.fleet.layout import primary_of
    from morph_tasks.fleet.union.proof import Prover
    from morph_tasks.fleet.union.verifying import verify as prove
    from morph_tasks.machine.signals import install

    primary = primary_of(repo)
    default = default_branch(primary)
    with ExitStack() as held:
        if verify:
            held.enter_context(_one_at_a_time(primary))
        room = held.enter_context(scratch(primary, default.name, default.commit))
        install(room.remove)
        found = candidates(primary, default, room)
        green = [one for one in found if one.included]
        brought, conflicts = against_default(room, default, green)
        found = _without_empty(room, default, found, brought)
        green = [one for one in found if one.feature in brought]
        conflicts += between(room, green, brought)
        below = branches_below(primary, [one for one in found if one.tip], default)
        sizes = {name: one.size for name, one in brought.items()}
        order = suggest(sizes, [pair.features for pair in conflicts], below)
        joiner = Joiner(room, default, green, brought)
        joined = joiner.join([one.feature for one in order]) if order else None
        conflicts += _unforeseen(room, joined, green, brought, conflicts) if joined else []
        trees = [one.tree for one in green if one.tree]
        ready = joined if verify and joined and joined.merged else None
        verified = prove(ready, joiner, Prover(room, primary, trees, say), say, default.name) if ready else None
    warnings = [*_warnings(found, below), *(verified.proof.warnings if verified else ())]
    if verify and verified is None:
        warnings.append("nothing was verified: no feature could be merged")
    return Union(default, tuple(found), tuple(conflicts), tuple(order), joined, verified, tuple(warnings))


def _unforeseen(
    room: Scratch,
    joined: Joined,
    green: Sequence[Candidate],
    brought: dict[str, Brought],
    known: Sequence[Conflict],
) -> list[Conflict]:
    """Return the conflicts of features that were kept out by one they are not known to conflict with."""
    found: list[Conflict] = []
    for one in green:
        rivals = {name for pair in known if one.feature in pair.features for name in pair.features}
        if one.feature in joined.left_out and not rivals & set(joined.merged):
            found += as_it_came(room, one, joined.merged, brought)
    return found


def _one_at_a_time(repo: Repo) -> Any:
    """Let a second proof of a union wait: it then reuses what the first one measured."""
    from morph_tasks.repo.files import locked

    return locked(repo.store / "union.lock", wait_s=WAIT_S, what="the proof of a union of this repository")


def _without_empty(
    room: Scratch, default: Default, found: Sequence[Candidate], brought: dict[str, Brought]
) -> list[Candidate]:
    """Leave out the features whose merge would change nothing: their work came in under other commits."""
    result = []
    for one in found:
        if one.feature in brought and not brought[one.feature].changes:
            del brought[one.feature]
            why = f"merging {one.branch} would change nothing in {default.name}"
            one = replace(one, code="nothing-new", why=why)
        result.append(one)
    return result


def _warnings(found: Sequence[Candidate], below: dict[str, frozenset[str]]) -> list[str]:
    included = {one.feature for one in found if one.included}
    said = []
    for one in found:
        if one.included and one.uncommitted:
            shown = ", ".join(one.uncommitted[:3]) + (" …" if len(one.uncommitted) > 3 else "")
            said.append(f"{one.feature}: uncommitted work in {one.tree} is not part of the union: {shown}")
        for other in sorted(below.get(one.feature, frozenset()) - included) if one.included else ():
            said.append(f"{one.feature} brings along the commits of {other}, which is left out by itself")
    return said


def _against(one: Conflict) -> dict[str, Any]:
    return {"feature": one.features[0], "why": f"conflicts with {one.against}", "paths": list(one.paths)}
