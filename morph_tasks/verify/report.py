"""What a verify says: one document for machines, lines for people, one event for the log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.eventlog import stamped, write_event
from morph_tasks.verify.judge import Outcome, Verdict, could_not_look, feedback
from morph_tasks.verify.nodes import FAMILIES
from morph_tasks.verify.run import Run
from morph_tasks.verify.scenarios.proof import Matrix, table_lines

if TYPE_CHECKING:
    from morph_tasks.repo.fingerprint import TreeState
    from morph_tasks.verify.narrowing.slices import SliceFiles

_ID_WIDTH = 26


@dataclass(frozen=True)
class Result:
    """A concluded verify: the document, the lines, the exit code.

    `settled`: the state of the tree that it speaks of, when it was green and nothing was run or written.
    """

    payload: dict[str, Any]
    lines: tuple[str, ...]
    exit_code: int
    outcomes: tuple[Outcome, ...] = ()
    settled: TreeState | None = None


def payload(run: Run, verdict: Verdict, found: Matrix, stamp: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Return the document of `verify --json`: the stamp, with each family as an object and each scenario in full.

    `said` holds `persisted`, `reason` and `repeatOf`.
    """
    families = {}
    for name in FAMILIES:
        members = [outcome for outcome in verdict.outcomes if outcome.node.family == name]
        families[name] = {
            "status": verdict.nodes[name],
            "durationMs": sum(_duration(outcome) for outcome in members),
            "runs": [_entry(outcome) for outcome in members],
        }
    families["validators"]["skipped"] = [
        {"validator": one.node.id, "reason": one.reason or one.message, "unavailable": could_not_look(one)}
        for one in verdict.outcomes
        if one.node.family == "validators" and one.status == "skip"
    ]
    if stamp["environment"]:
        families["tests"]["environment"] = stamp["environment"]
    if run.slice_files:
        families["tests"]["scope"] = {"scope": stamp["scope"], **_about(run.slice_files)}
    e2e = families["e2e"]
    record = next((o.record or {} for o in verdict.outcomes if o.node.family == "e2e" and not o.reused), {})
    e2e |= {"count": record.get("count"), "reason": stamp["e2eReason"], "stack": record.get("stack")}
    return {
        "ok": verdict.status == "pass",
        "feature": run.feature,
        **stamp,
        "nodes": families,
        "scenarios": [one.as_json() for one in found.scenarios] if found.known else None,
        "feedback": [*(f"warning: {line}" for line in found.warnings), *_feedback(run, verdict)],
        **said,
    }


def _about(files: SliceFiles) -> dict[str, Any]:
    return {
        "slice": files.slice_id,
        "planned": list(files.planned),
        "files": list(files.files),
        "folders": list(files.folders),
        "missing": list(files.missing),
        "deleted": list(files.deleted),
        "unknown": files.unknown,
    }


def _feedback(run: Run, verdict: Verdict) -> list[str]:
    lines = feedback(verdict.outcomes)
    tests = [outcome for outcome in verdict.outcomes if outcome.node.family == "tests"]
    if run.slice_files and run.slice_files.empty:
        said = ", ".join(run.slice_files.missing) or "it names no file"
        lines.append(f"slice {run.slice_files.slice_id} has no file on disk yet ({said}): nothing of it was verified")
    elif run.slice_files and all(outcome.status == "skip" for outcome in tests):
        lines.append(f"warning: no suite owns a file of slice {run.slice_files.slice_id}: nothing of it was tested")
    elif verdict.reason == "nothing-verified":
        lines.append(
            "nothing was verified: no node ran; declare project.build or project.tests in .morph/config/config.json"
        )
    return lines


def _entry(outcome: Outcome) -> dict[str, Any]:
    node, record = outcome.node, outcome.record or {}
    reused = {"ts": record.get("ts"), "sha": record.get("sha"), "tree": record.get("tree")}
    return {
        "id": node.id,
        "node": node.ref,
        "command": node.command or None,
        "cwd": node.cwd,
        "runner": node.runner if node.family == "tests" else None,
        "status": outcome.status,
        "reason": outcome.reason or (outcome.message if outcome.status == "skip" else None) or None,
        "message": outcome.message,
        "durationMs": _duration(outcome),
        "exitCode": record.get("exitCode"),
        "count": outcome.count,
        "counts": record.get("counts"),
        "expectedCount": node.expected_count,
        "selection": node.selection.as_json() if node.selection else None,
        **({"cache": record.get("cache")} if node.evals else {}),
        **({"environment": record.get("environment")} if node.image else {}),
        **({"artifacts": record["artifacts"]} if record.get("artifacts") else {}),
        "key": record.get("key"),
        "reused": reused if outcome.reused and record.get("key") else None,
        "afterFailures": record.get("afterFailures") or 0,
        "attempts": record.get("attempts") or [],
        "warnings": list(outcome.warnings),
        "log": record.get("log"),
    }


def _duration(outcome: Outcome) -> int:
    return 0 if outcome.reused or not outcome.record else int(outcome.record.get("durationMs") or 0)


def lines(verdict: Verdict, found: Matrix, document: dict[str, Any], *, settled: bool = False) -> list[str]:
    """Return what people read: a line a node, the scenarios, what needs doing, the verdict last."""
    said = [node_line(outcome) for outcome in verdict.outcomes]
    said += table_lines(found)
    said += document["feedback"]
    repeat = document["repeatOf"]
    if repeat:
        said.append(f"the last verify of exactly this code was {repeat['status']} ({repeat['ts']})")
    return [*said, _last_line(verdict, document, settled)]


def node_line(outcome: Outcome) -> str:
    """Return one line on a node, and below it what a slice took of it."""
    record = outcome.record or {}
    parts = []
    if outcome.status == "skip" or (outcome.reason and outcome.status != "pass"):
        parts.append(outcome.message if outcome.status == "skip" else str(outcome.reason))
    if outcome.count is not None:
        parts.append(f"{outcome.count} tests" if outcome.count != 1 else "1 test")
    if outcome.reused and record.get("key"):
        parts.append(f"reused: {record.get('ts')}, {(record.get('sha') or 'no commit')[:12]}, {record.get('tree')}")
    elif record.get("key"):
        parts.append(f"{record.get('durationMs', 0) / 1000:.1f} s")
    if record.get("afterFailures"):
        parts.append(f"after {record['afterFailures']} failed on the same inputs")
    line = f"{outcome.node.ref:<{_ID_WIDTH}} {outcome.status:<5} {'  '.join(parts)}".rstrip()
    selection = outcome.node.selection
    if selection is None or outcome.node.family != "tests":
        return line
    return f"{line}\n  ↳ {outcome.node.id} {selection.mode} {' '.join(selection.selectors) or selection.reason}"


def _last_line(verdict: Verdict, document: dict[str, Any], settled: bool) -> str:
    bad = sum(not outcome.green for outcome in verdict.outcomes)
    proved = sum(outcome.status in ("pass", "flaky") for outcome in verdict.outcomes)
    word = "GREEN" if verdict.status == "pass" else "RED"
    said = (
        f"{proved} of {len(verdict.outcomes)} nodes proved"
        if not bad
        else f"{bad} of {len(verdict.outcomes)} nodes red"
    )
    kept = "stamped" if document["persisted"] else f"not stamped ({document['reason']})"
    kept = "the stamp holds" if document["persisted"] and settled else kept
    return f"{word} {document['feature']}: {said}; {kept}"


def append_event(run: Run, document: dict[str, Any]) -> None:
    """Add the `Verify` event to the tree's log."""
    write_event(str(run.repo.root), stamped(event(run, document)))


def event(run: Run, document: dict[str, Any]) -> str:
    """Return the event of a verify as JSON text, without its time and id."""
    nodes: dict[str, Any] = {
        name: {"status": about["status"], "durationMs": about["durationMs"]}
        for name, about in document["nodes"].items()
    }
    from morph_tasks.features.store import feature_dir, read_feature
    from morph_tasks.features.view import phase_of

    checks = document["nodes"]["validators"]["runs"]
    nodes["validators"]["ran"] = [entry["id"] for entry in checks if entry["status"] != "skip"]
    nodes["validators"]["skipped"] = [entry["id"] for entry in checks if entry["status"] == "skip"]
    said = {
        "event": "Verify",
        "feature": run.feature,
        "phase": phase_of(feature_dir(run.repo.root, run.feature), read_feature(run.repo.root, run.feature)),
        "status": document["status"],
        "sha": document["sha"],
        "fingerprint": document["fingerprint"],
        "tree": "worktree" if run.repo.git_dir != run.repo.common_dir else "root",
        "persisted": document["persisted"],
        "reason": document["reason"],
        "source": document["source"],
        "nodes": nodes,
    }
    return json.dumps(said, ensure_ascii=True, separators=(",", ":"))
