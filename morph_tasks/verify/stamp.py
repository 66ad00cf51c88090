"""The stamp: the roll-up of a verify in `feature.json`, and why it no longer speaks of this code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.verify.digests import text_digest
from morph_tasks.verify.evidence import now
from morph_tasks.verify.judge import Outcome, Verdict

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.run import Run
    from morph_tasks.verify.scenarios.proof import Matrix

VERSION = 1
_HISTORY = 20


def fingerprint(run: Run) -> str:
    """Return what identifies the code under proof: the tree outside `.morph/` and what the configuration says."""
    answers = [run.observer.answers(node.evals) for node in run.nodes if node.evals]
    return text_digest(" ".join([run.observer.tree().sum, run.config.meaning(), *answers]))


def make_stamp(run: Run, verdict: Verdict, found: Matrix, duration_ms: int) -> dict[str, Any]:
    """Return the stamp of a finished run."""
    outcomes = verdict.outcomes
    return {
        "version": VERSION,
        "status": verdict.status,
        "scope": f"slice:{run.request.slice}" if run.request.slice else "feature",
        "sha": run.observer.tree().head,
        "fingerprint": fingerprint(run),
        "ts": now(),
        "source": "local",
        "ciRun": None,
        "durationMs": duration_ms,
        "nodes": verdict.nodes,
        "e2eReason": next((o.reason or o.message or None for o in outcomes if o.node.family == "e2e"), None),
        "environment": _environment(run),
        "nodeIds": node_ids(run),
        "runs": [run_entry(outcome) for outcome in outcomes],
        "scenarios": [{"id": one.id, "proof": one.proof, "state": one.state} for one in found.scenarios]
        if found.known
        else None,
        "warnings": [*(f"[{o.node.ref}] {line}" for o in outcomes for line in o.warnings), *found.warnings],
    }


def _environment(run: Run) -> dict[str, str] | None:
    """Return where the suites ran when that was not this machine: a green of a container is told apart."""
    images = {node.image.name: node.image for node in run.nodes if node.image}
    if not run.request.linux:
        return None
    found = {"kind": "linux-container", "image": ", ".join(sorted(images))}
    return found if len(images) != 1 else next(iter(images.values())).environment()


def node_ids(run: Run) -> list[str]:
    """Return the names of the nodes that a stamp of this tree has to speak of."""
    return [node.ref for node in run.nodes]


def run_entry(outcome: Outcome) -> dict[str, Any]:
    """Return what a stamp says of one node."""
    record = outcome.record or {}
    reused = {"ts": record.get("ts"), "sha": record.get("sha"), "tree": record.get("tree")}
    return {
        "id": outcome.node.ref,
        "status": outcome.status,
        "reason": outcome.reason or (outcome.message if outcome.status == "skip" else None) or None,
        "count": outcome.count,
        "expectedCount": outcome.node.expected_count,
        "key": record.get("key"),
        "reused": reused if outcome.reused and record.get("key") else None,
        "afterFailures": record.get("afterFailures") or 0,
    }


def holds(stamp: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Tell whether a stamp already says what a new one would: same code, same nodes, same verdict."""
    if not stamp:
        return False
    same = ("fingerprint", "nodeIds", "status", "nodes", "e2eReason", "scenarios", "environment")
    if any(stamp.get(name) != new[name] for name in same):
        return False
    runs = stamp.get("runs")
    return isinstance(runs, list) and [_essence(run) for run in runs] == [_essence(run) for run in new["runs"]]


def _essence(entry: Any) -> tuple[Any, ...]:
    if not isinstance(entry, dict):  # written by hand
        return ()
    return tuple(entry.get(name) for name in ("id", "status", "reason", "count", "expectedCount", "key"))


def write_stamp(run: Run, stamp: dict[str, Any]) -> None:
    """Put a stamp into `feature.json` and into its history."""
    from morph_tasks.features.store import update_feature

    def change(data: dict[str, Any]) -> None:
        data["verification"] = stamp
        short = {name: value for name, value in stamp.items() if name not in ("runs", "scenarios")}
        data["verifications"] = [*(data.get("verifications") or []), short][-_HISTORY:]

    update_feature(run.repo.root, run.feature, change)


def stamp_staleness(repo: Repo, feature: dict[str, Any]) -> str | None:
    """Return why a stamp does not speak of the code in this tree; None when it does, or when there is none."""
    from morph_tasks.verify.request import Request
    from morph_tasks.verify.run import Run, new_run_id

    stamp = feature.get("verification")
    if not stamp:
        return None
    run = Run(repo, str(feature.get("feature") or feature.get("name") or ""), Request(), new_run_id(), quiet=True)
    wanted = node_ids(run)
    if stamp.get("nodeIds") != wanted:
        missing = sorted(set(wanted) - set(stamp.get("nodeIds") or ()))
        gone = sorted(set(stamp.get("nodeIds") or ()) - set(wanted))
        said = [f"new: {', '.join(missing)}"] * bool(missing) + [f"gone: {', '.join(gone)}"] * bool(gone)
        return f"the nodes are not the ones it proved ({'; '.join(said) or 'their order changed'})"
    if stamp.get("fingerprint") != fingerprint(run):
        return "the code changed after it"
    return None
