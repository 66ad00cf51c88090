"""Change the type of work of a feature under way: policies follow the type, what people signed stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.birth import policy_gates
from morph_tasks.features.store import feature_dir, now, read_feature, update_feature
from morph_tasks.features.view import approved, by_policy, phase_of
from morph_tasks.repo.trees import require_owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Retyped:
    """What changed. `undone`, `stamped`: gates that lost or got the approval of a policy; `kept`: signed ones."""

    before: str
    after: str
    phase: str
    undone: tuple[str, ...]
    stamped: tuple[str, ...]
    kept: tuple[str, ...]


def retype(repo: Repo, slug: str, work_type: str, *, command: str = "") -> Retyped:
    """Give a feature another type; raises Refusal `owner-tree-elsewhere`, `review-approved` or `feature-not-active`."""
    require_owner_tree(repo, slug, command=command)
    before = read_feature(repo.root, slug)
    old = before.get("workType", "feature")
    told: dict[str, tuple[str, ...]] = {"undone": (), "stamped": (), "kept": ()}

    def change(data: dict[str, Any]) -> None:
        _refuse(data, slug)
        gates = data.setdefault("approvalGates", {})
        told["kept"] = tuple(gate for gate in gates if approved(data, gate) and not by_policy(data, gate))
        if data.get("workType", "feature") == work_type:
            return
        old_policies = [gate for gate in gates if by_policy(data, gate)]
        for gate in old_policies:
            del gates[gate]
        stamps = {gate: stamp for gate, stamp in policy_gates(work_type, now()).items() if not approved(data, gate)}
        gates.update(stamps)
        data["workType"] = work_type
        told["undone"] = tuple(gate for gate in old_policies if gate not in stamps)
        told["stamped"] = tuple(stamps)

    _refuse(before, slug)
    after = before if old == work_type else update_feature(repo.root, slug, change)
    return Retyped(old, work_type, phase_of(feature_dir(repo.root, slug), after), **told)


def _refuse(data: dict[str, Any], slug: str) -> None:
    if data.get("status") in ("abandoned", "archived"):
        raise Refusal("feature-not-active", f"feature {slug!r} is {data['status']}")
    if approved(data, "review"):
        raise Refusal(
            "review-approved",
            f"the review of {slug!r} is approved: its type of work is settled",
            fix=f"morph-spec unapprove {slug} review",
        )
