"""Judge a whole verify: roll up, stamp, report."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from morph_tasks.verify import baseline, report
from morph_tasks.verify.judge import Verdict, roll_up, settles
from morph_tasks.verify.reach.answer import explain_changes
from morph_tasks.verify.reach.wording import summary_lines
from morph_tasks.verify.run import Run
from morph_tasks.verify.scenarios.proof import prove
from morph_tasks.verify.stamp import holds, make_stamp, write_stamp

if TYPE_CHECKING:
    from morph_tasks.repo.fingerprint import TreeState


def conclude(run: Run, started_ns: int) -> report.Result:
    """Judge every node of a finished run, stamp the verdict where it counts, and return what there is to say."""
    with run.observer.kept() as tree:
        return _conclude(run, started_ns, tree)


def _conclude(run: Run, started_ns: int, tree: TreeState) -> report.Result:
    from morph_tasks.features.store import read_feature
    from morph_tasks.repo.trees import persist_problem

    outcomes, refused = run.outcomes(), None
    recorded: dict[str, int] = {}
    if run.request.record_baseline:
        refused = baseline.obstacle(outcomes)
        if refused is None:
            recorded = baseline.record(run, outcomes)
            run.reload()
            outcomes = run.outcomes()
    verdict = _of_slice(run, roll_up(outcomes))
    found = prove(run, outcomes)
    stamp = make_stamp(run, verdict, found, (time.time_ns() - started_ns) // 1_000_000)
    old = read_feature(run.repo.root, run.feature).get("verification")
    reason = (
        (f"baseline-refused: {refused}" if refused else None)
        or run.request.not_persisted()
        or persist_problem(run.repo, run.feature)
    )
    held = reason is None and holds(old, stamp) and all(outcome.reused for outcome in outcomes if outcome.node.runs)
    if reason is None and not held:
        write_stamp(run, stamp)
    if held and old:
        stamp = {**stamp, **{name: old[name] for name in ("sha", "ts", "durationMs", "source", "ciRun") if name in old}}
    said = {"persisted": reason is None, "reason": reason, "repeatOf": _repeat(old, stamp)}
    changes = explain_changes(run, found, outcomes)
    document = report.payload(run, verdict, found, stamp, said) | changes.as_json()
    if run.request.record_baseline:
        document["baseline"] = {"recorded": recorded, "refused": refused}
    if refused:
        document |= {"ok": False, "code": "baseline-refused", "message": refused}
    report.append_event(run, document)
    run.observer.save()
    lines = (*summary_lines(changes, run.feature), *report.lines(verdict, found, document, settled=held))
    if recorded:
        lines += (f"baseline recorded: {', '.join(f'{name} {count}' for name, count in recorded.items())}",)
    green = verdict.status == "pass" and refused is None
    # What could not be looked at is looked at again the next time.
    final = held and green and all(settles(o.node, o.record) for o in outcomes if o.node.runs and o.record)
    return report.Result(document, lines, 0 if green else 1, verdict.outcomes, settled=tree if final else None)


def _of_slice(run: Run, verdict: Verdict) -> Verdict:
    """Return the verdict on a slice: validators alone say nothing of one that has no file yet."""
    if not (run.slice_files and run.slice_files.empty) or verdict.status != "pass":
        return verdict
    if any(outcome.node.family == "tests" and outcome.status in ("pass", "flaky") for outcome in verdict.outcomes):
        return verdict
    return replace(verdict, status="fail", reason="nothing-verified")


def _repeat(old: dict[str, Any] | None, stamp: dict[str, Any]) -> dict[str, Any] | None:
    """Return the last stamp in short when it was made for exactly this code."""
    if not old or old.get("fingerprint") != stamp["fingerprint"]:
        return None
    return {name: old.get(name) for name in ("ts", "status", "sha")}
