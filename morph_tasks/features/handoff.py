"""The page with which the next session takes up a feature: short, derived, pointing to files, not copying them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.outputs import outputs_of
from morph_tasks.features.reports import slice_reports
from morph_tasks.features.shape import GATES
from morph_tasks.features.store import FEATURES, feature_dir, read_feature
from morph_tasks.features.view import phase_of
from morph_tasks.features.whereabouts import branch_holds, switch_back, switched_tree
from morph_tasks.repo.files import write_atomic
from morph_tasks.repo.trees import feature_branch, owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

NAME = "handoff.md"


@dataclass(frozen=True)
class Handoff:
    """Where the page was written, and the command it ends with."""

    path: Path
    next_command: str


def write_handoff(root: Path, slug: str) -> Handoff:
    """Write the page anew in a tree; raises what reading the feature raises."""
    data = read_feature(root, slug)
    folder = feature_dir(root, slug)
    step = next_step(folder, data)
    page = "\n".join(_lines(folder, data, step)) + "\n"
    path = folder / NAME
    with suppress(OSError):
        if path.read_text("utf-8") == page:
            return Handoff(path, step)
    write_atomic(path, page.encode("utf-8", "surrogateescape"))
    return Handoff(path, step)


def handoff(repo: Repo, slug: str, *, here: bool = False) -> Handoff:
    """Write the page in the tree that owns the feature, or in this one.

    Raises Refusal `feature-not-in-tree` when the feature exists only on its branch.
    """
    root = repo.root if here else owner_tree(repo, slug)
    branch = feature_branch(slug)
    if not (feature_dir(root, slug) / "feature.json").exists() and branch_holds(repo, slug) == FEATURES:
        what, fix = (
            f"feature {slug!r} is not in {root}: it exists only on branch {branch}",
            f"morph-spec worktree setup {slug}",
        )
        if (switched := switched_tree(repo, slug)) is not None:
            what, fix = switch_back(switched, slug)
        raise Refusal("feature-not-in-tree", what, fix=fix, branch=branch)
    return write_handoff(root, slug)


def next_step(folder: Path, data: dict[str, Any]) -> str:
    """Return the command, or the work, that comes next."""
    slug, phase = folder.name, phase_of(folder, data)
    if phase == "plan":
        checked = (folder / "2-plan" / "checks.json").exists()
        return f"morph-spec advance {slug}" if checked else f"morph-spec plan-check {slug}"
    if phase == "implement":
        owed = _owed(folder)
        if owed:
            return f"work on {owed[0]} and write its report"
    if phase in ("implement", "review") and (data.get("verification") or {}).get("status") != "pass":
        return f"morph-spec verify {slug}"
    if phase == "review":
        return f"morph-spec gate-check {slug} review"
    return {"aguardando-merge": f"morph-spec finish {slug} --merge, or --pr", "archived": "nothing"}.get(
        phase, f"morph-spec advance {slug}"
    )


def _owed(folder: Path) -> list[str]:
    try:
        return [f"{one.slice_id} ({one.path}: {one.problem})" for one in slice_reports(folder) if one.problem]
    except Refusal:
        return []


def _lines(folder: Path, data: dict[str, Any], step: str) -> list[str]:
    slug, stamp = folder.name, data.get("verification")
    name = data.get("name") or slug
    lines = [f"# {slug}" + (f" — {name}" if name != slug else ""), ""]
    lines += ["<!-- derived by morph-spec; written anew at every step -->", ""]
    lines += [" ".join((data.get("description") or "no description").split()), ""]
    state = f"{data.get('workType', 'feature')}, {data.get('status', 'draft')}, phase `{phase_of(folder, data)}`"
    lines.append(f"- {state}")
    lines.append(f"- branch `{data.get('branch') or feature_branch(slug)}`")
    lines += [f"- gate `{gate}`: {_gate(data, gate)}" for gate in GATES]
    verified = f"{stamp['status']}, {stamp.get('ts') or 'no time'}, {str(stamp.get('sha'))[:10]}" if stamp else "never"
    lines += [f"- last verify: {verified}"]
    lines += [f"- slice owes a report: {one}" for one in _owed(folder)]
    files = [f"`{FEATURES}/{slug}/{path}`" for paths in outputs_of(folder).values() for path in paths]
    lines += ["", "Files: " + (", ".join(files) or "none yet"), "", f"Next: `{step}`"]
    return lines


def _gate(data: dict[str, Any], gate: str) -> str:
    record = (data.get("approvalGates") or {}).get(gate) or {}
    if record.get("approved"):
        by = record.get("approver") or record.get("approvedBy") or "nobody known"
        return f"approved by {by}, {record.get('timestamp') or 'no time'}"
    decision = (data.get("gateDecisions") or {}).get(gate) or {}
    return f"open; paused: {decision.get('reason') or 'no reason'}" if decision.get("pause") else "open"
