"""A union as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.fleet.union.service import Union
    from morph_tasks.fleet.union.verifying import Verified

_PATHS = 6
_TESTS = _LINES = 5


def lines(made: Union) -> list[str]:
    """Return what the command prints: who is in, who is not, conflicts, an order, the verdict last."""
    included = [one for one in made.found if one.included]
    counted = f"{len(included)} green feature{'s' if len(included) != 1 else ''}"
    said = [f"{counted} against {made.default.name} ({made.default.commit[:10]})"]
    others = [one for one in made.found if not one.included]
    width = max((len(one.feature) for one in (*included, *others)), default=0)
    said += [f"  left out  {one.feature:<{width}}  {one.why}" for one in others]
    for pair in made.conflicts:
        both = " × ".join((*pair.features, *([pair.against] if pair.against else [])))
        said.append(f"  conflict  {both}: {_some(pair.paths)}")
    if made.order:
        said.append("order")
        said += [f"  {at}. {one.feature:<{width}}  {one.why}" for at, one in enumerate(made.order, 1)]
    if made.joined:
        merged = len(made.joined.merged)
        said.append(f"union: {merged} merged, tree {made.joined.tree[:10]}")
        said += [f"  not merged: {one['feature']} {one['why']}" for one in made.left_out()]
    if made.verified:
        said += _verified(made.verified)
    return said


def _verified(found: Verified) -> list[str]:
    proof = found.proof
    nodes = len(proof.verdict.outcomes)
    counts = f"{nodes} node{'s' * (nodes != 1)}, {proof.measured} measured, {proof.reused} reused"
    if found.status == "pass":
        return [f"GREEN together: {counts}"]
    said = []
    for node in found.red:
        reason = f" ({node['reason']})" if node["reason"] else ""
        said.append(f"  {node['node']} {node['status']}{reason}: {node['message']}")
        told = [one for one in node["failures"] if (one["message"] or "").strip()]
        said += [f"    {one['id']}: {_first(one['message'])}" for one in told[:_TESTS]]
        said += [f"    | {line}" for line in node["tail"][-_LINES:]] if not told else []
        said += [f"    log: {node['log']}"] if node["log"] else []
    word = "FLAKY" if found.status == "flaky" else "RED"
    return [
        *said,
        f"{word} together: {counts}",
        f"guilty: {', '.join(found.guilty) if found.guilty else '—'}: {found.why}",
    ]


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    return ", ".join(paths[:_PATHS]) + more


def _first(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0][:160]
