"""Say for every node whether it would run, and exactly why: the difference to the nearest earlier manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.repo.byproducts import is_byproduct
from morph_tasks.verify import snapshots
from morph_tasks.verify.facts import Facts, Manifest, made_by
from morph_tasks.verify.measure import ELSEWHERE, fresh_view
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.run import Run
from morph_tasks.verify.why import NEVER, changes

if TYPE_CHECKING:
    from morph_tasks.repo.fingerprint import TreeState


@dataclass(frozen=True)
class Explanation:
    """What one node would do. `why` holds one line a cause; empty for a proof that stands."""

    node: Node
    would_run: bool
    summary: str
    why: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"node": self.node.ref, "wouldRun": self.would_run, "summary": self.summary, "why": list(self.why)}


def explain(run: Run) -> list[Explanation]:
    """Return an explanation for every node, in their order. Runs nothing."""
    found: dict[str, Explanation] = {}
    for node in run.nodes:
        found[node.ref] = _explain(run, node, found)
    run.observer.save()
    return list(found.values())


def _explain(run: Run, node: Node, before: Mapping[str, Explanation]) -> Explanation:
    left_out = run.request.left_out(node)
    if left_out:
        return Explanation(node, False, f"left out: {left_out}")
    if node.invalid:
        return Explanation(node, False, f"cannot run: {node.invalid}")
    if node.skip:
        return Explanation(node, False, f"skip: {node.skip}")
    stale = fresh_view(run, node)
    waits = [ref for ref in node.needs if before[ref].would_run]
    if stale is None or stale == ELSEWHERE:
        proof = run.store.newest(node.ref, run.facts(node).key) or {}
        since = f"proved {proof.get('ts')} at {(proof.get('sha') or 'no commit')[:12]} in {proof.get('tree')}"
        if waits:
            return Explanation(node, False, f"{since}, if {', '.join(waits)} makes the same again")
        return Explanation(node, False, since)
    if stale != NEVER:
        return Explanation(node, True, stale)
    measured, causes = _causes(run, node)
    summary = f"changed since it was measured {measured}" if measured else NEVER
    return Explanation(node, True, summary, tuple(causes))


def _causes(run: Run, node: Node) -> tuple[str | None, list[str]]:
    """Return when the nearest earlier measurement was made, and what differs from it; None when there is none."""
    facts = run.facts(node)
    view = run.view(node)
    if not view or not view.get("manifest") or view.get("key") == facts.key:
        view = run.store.earlier(node.ref, facts.key, bool(node.scope))
    if not view or not view.get("manifest"):
        return None, []
    return view.get("ts"), differences(run, node, view["manifest"], view.get("snapshot") or {}, facts)


def differences(run: Run, node: Node, manifest: Manifest, snapshot: Mapping[str, Any], facts: Facts) -> list[str]:
    """Return what differs between an earlier manifest of a node and its facts, a line each."""
    return changes(manifest, facts.manifest, changed_files(run, node, snapshot, facts.tree), run.repo.store)


def changed_files(run: Run, node: Node, recorded: Mapping[str, Any], tree: TreeState) -> list[tuple[str, str]] | None:
    """Return the inputs of a node that differ from a recorded snapshot; None when that cannot be told."""
    from morph_tasks.repo.fingerprint import changed_paths
    from morph_tasks.repo.globs import compile_globs

    old = snapshots.load(run.repo.store, recorded)
    found = changed_paths(str(run.repo.root), old, snapshots.of(tree)) if old else None
    if found is None:
        return None
    matches = compile_globs(node.inputs) if node.inputs is not None else None
    made = compile_globs([glob for other in run.nodes for glob in made_by(other)])
    return [
        (os.fsdecode(path), how)
        for path, how in found
        if not path.startswith(b".morph/")
        and not is_byproduct(path, True)
        and not made(path)
        and (matches is None or matches(path))
    ]
