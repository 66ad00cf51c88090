"""Measure one node: reuse a proof, or run the thing and write evidence, whatever the colour."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.verify import snapshots
from morph_tasks.verify.evidence import Record, now, write_view
from morph_tasks.verify.facts import Facts
from morph_tasks.verify.judge import Outcome, judge, settles, times
from morph_tasks.verify.launch import launch
from morph_tasks.verify.nodes import Node, links
from morph_tasks.verify.run import Run

if TYPE_CHECKING:
    from morph_tasks.machine.processes import Ended

_SKIP = ("key", "status", "message", "warnings", "detail")  # what makes one skip the same as another
ELSEWHERE = "proved in another tree or on another branch"


def measure(run: Run, node: Node) -> Outcome:
    """Bring a node's view up to date and return what it came to. Never fails: a judge decides about colours."""
    if not node.runs:
        return _settle(run, node)
    facts = run.facts(node)
    reusable = node.reuse and not _must_run(run, node)
    proof = run.proof(node, facts.key) if reusable else None
    if proof and not _products_missing(run, node, proof):
        return _reuse(run, node, proof)
    record = _measure_now(run, node, facts)
    return judge(node, record, reused=record.get("runId") != run.run_id)


def fresh_view(run: Run, node: Node) -> str | None:
    """Return why a node's view is not up to date; None when it is and nothing needs to be done."""
    from morph_tasks.verify.why import why_stale

    view = run.view(node)
    if not node.runs:
        same = view and (view.get("status"), view.get("message")) == _unrun(node)[::2]
        return None if same else "the reason it is not run changed"
    if _must_run(run, node):
        if run.request.fresh:
            return "--fresh"
        return "--refresh-cache" if node.evals else "--record-baseline measures every suite"
    if not node.reuse:
        return "it is measured at every verify"
    facts = run.facts(node)
    record = run.store.newest(node.ref, facts.key)
    settled = record is not None and settles(node, record)
    stale = None if settled else why_stale(record, facts.key, judge(node, record).status if record else None)
    if stale:
        return stale
    if record is None or not _shows(view, record):
        return ELSEWHERE
    if run.proof(node, facts.key) is None:
        return "its outputs are not the ones it made"
    return "its products are not in this tree" if record and _products_missing(run, node, record) else None


def _must_run(run: Run, node: Node) -> bool:
    asked = run.request
    return (
        asked.fresh
        or (asked.record_baseline and node.family == "tests")
        or (asked.refresh_cache and node.evals is not None)
    )


def _unrun(node: Node) -> tuple[str, str | None, str]:
    if node.invalid:
        return "fail", node.reason, node.invalid
    return "skip", None, node.skip or ""


def _settle(run: Run, node: Node) -> Outcome:
    """Write the view of a node that is not run; the same answer as before writes nothing."""
    status, reason, message = _unrun(node)
    view = run.view(node)
    if view and (view["status"], view.get("message")) == (status, message):
        return judge(node, view, reused=status == "skip")
    record: Record = {
        "version": 1, "node": node.ref, "status": status, "reason": reason, "message": message,
        "key": None, "count": None, "ts": now(), "durationMs": 0, "runId": run.run_id, "log": None,
    }  # fmt: skip
    write_view(run.repo.root, run.feature, node, record)
    return judge(node, record)


def _reuse(run: Run, node: Node, proof: Record) -> Outcome:
    view = run.view(node)
    if not _shows(view, proof):
        write_view(run.repo.root, run.feature, node, {**proof, "here": False})
    return judge(node, proof, reused=True)


def _shows(view: Record | None, proof: Record) -> bool:
    """Tell whether a view is what the store holds; whatever else it says, somebody else wrote it."""
    return view is not None and {**view, "here": None} == {**proof, "here": None}


def _products_missing(run: Run, node: Node, proof: Record) -> bool:
    """Tell whether a build must run for what it leaves behind, though its result is known.

    A declared build that names no outputs may leave files that git ignores. They are known to be here only when
    this tree ran it last; otherwise it runs again as soon as a node behind it has something to run.
    """
    if node.family != "build" or not node.declared or node.outputs:
        return False
    view = run.view(node)
    if view and view.get("key") == proof["key"] and view.get("here"):
        return False
    behind = [other for other in run.measured if node.ref in other.needs and other.runs]
    return not all(_proved_behind(run, other, node, proof) for other in behind)


def _proved_behind(run: Run, other: Node, node: Node, proof: Record) -> bool:
    needs = {
        ref: str(((proof if ref == node.ref else run.view(run.node(ref))) or {}).get("output") or "")
        for ref in other.needs
    }
    key = run.observer.facts(other, needs).key
    return other.reuse and not _must_run(run, other) and run.proof(other, key) is not None


def _measure_now(run: Run, node: Node, facts: Facts) -> Record:
    failures = run.store.failures(node.ref, facts.key)
    if failures:
        run.progress.note(f"{node.ref:<26} failed {times(failures)} on identical inputs, measuring again")
    if node.family in ("build", "tests"):
        run.slot(node.ref)  # the wait for it belongs to no node
    started = time.time_ns()
    checked = _validated(run, node) if node.validator else None
    if checked and checked["status"] == "skip":
        kept = run.view(node) or {}
        if _same_skip(kept, facts.key, checked):
            return kept  # decided once more, and the same again: nothing to write
    name = run.store.new_name(node.ref, facts.key)
    recorded = snapshots.keep(run.repo.store, facts.tree)
    result = checked or _tried(run, node, Path(f"{name}.log"), started)
    if result["status"] == "skip" and _same_skip(run.view(node) or {}, facts.key, result):
        Path(f"{name}.log").unlink(missing_ok=True)
        return run.view(node) or {}
    if node.inputs is not None and run.observer.reads_nothing(facts):
        said = "its `inputs` match no file: no edit will ever make it run again"
        result = {**result, "warnings": [*result["warnings"], said]}
    run.observer.forget()
    after = run.facts(node)
    # A node may install packages or tools for itself: then the next verify has another key and measures again.
    if any(after.manifest[name] != facts.manifest[name] for name in ("inputs", "ignored", "locks")):
        result = {**result, **_changed(run, node, facts, recorded, after)}
    if node.evals and after.key != facts.key and result["reason"] != "inputs-changed":
        # The answers that the run recorded are what it proves from now on.
        facts, name = after, _moved(run, node, name, after.key)
    record: Record = {
        "version": 1,
        "node": node.ref,
        "key": facts.key,
        **result,
        "ts": now(),
        "startedAt": started // 1_000_000,
        "durationMs": (time.time_ns() - started) // 1_000_000,
        "sha": facts.tree.head,
        "tree": run.repo.root.name,
        "feature": run.feature,
        "scope": f"slice:{run.request.slice}" if run.request.slice else "feature",
        "selection": node.selection.as_json() if node.selection else None,
        "environment": node.image.environment() if node.image else None,
        "runId": run.run_id,
        "afterFailures": failures,
        "log": None if node.validator else f"{name}.log",
        "output": run.observer.output_digest(node, result["status"], facts.manifest)
        if node.family == "build"
        else None,
        "manifest": facts.manifest,
        "snapshot": recorded,
    }
    run.store.add(name, record)
    run.store.trim(node.ref, facts.key)
    run.store.prune(node.ref)
    write_view(run.repo.root, run.feature, node, {**record, "here": True})
    return record


def _same_skip(kept: Record, key: str, found: dict[str, Any]) -> bool:
    return [kept.get(name) for name in _SKIP] == [key, *(found[name] for name in _SKIP[1:])]


def _moved(run: Run, node: Node, name: Path, key: str) -> Path:
    """Return the name of a measurement under another key, its log brought along."""
    new = run.store.new_name(node.ref, key)
    Path(f"{name}.log").replace(f"{new}.log")
    return new


def _tried(run: Run, node: Node, log: Path, started: int) -> dict[str, Any]:
    from morph_tasks.verify.reading import not_started

    try:
        return _attempts(run, node, log, started)
    except Refusal as refusal:
        if refusal.code != "command-not-started":
            raise
        return not_started(refusal)


def _attempts(run: Run, node: Node, log: Path, started: int) -> dict[str, Any]:
    """Run a node, again after a failure as often as it allows; a pass after a fail is `flaky`."""
    from morph_tasks.verify.reach.digest import kept, watched
    from morph_tasks.verify.reading import read_result

    ceiling = (
        run.request.timeout_ms if run.request.timeout_ms and node.family in ("build", "tests") else node.timeout_ms
    )
    if node.family == "e2e":
        from morph_tasks.verify.e2e import measure_application

        return measure_application(run, log)
    if node.evals:
        from morph_tasks.verify.evals.attempts import attempts

        return attempts(run, node, node.evals, log, ceiling)
    unbuilt = None if node.image else _prebuild(run, node, log, ceiling)
    if unbuilt:
        return unbuilt
    env: dict[str, str] = {}
    if node.e2e:
        from morph_tasks.verify.e2e import environment_for

        found = environment_for(run)
        if isinstance(found, str):
            return _skip(found)
        env = found
    tries = []
    for attempt in range(node.retries + 1):
        place = log if attempt == 0 else log.with_suffix(f".{attempt}.log")
        with watched(run.repo.root, node) as seen:
            ended = _launched(run, node, place, ceiling, env)
            result = read_result(run.repo.root, node, place, ended, ceiling, links(node.command), started)
            result |= kept(run.repo.root, node, seen, result, log)
        if node.image:
            from morph_tasks.verify.linux.reading import of_container

            result = of_container(node, result, ended)
        if node.scope and node.selection:
            from morph_tasks.verify.narrowing.verdict import narrowed_verdict

            result = narrowed_verdict(node.selection, node.runner, result, place)
        tries.append(result["status"])
        if result["status"] == "pass":
            break
    if result["status"] == "pass" and len(tries) > 1:
        result["status"], result["reason"] = "flaky", "passed-on-retry"
    return {**result, "attempts": tries}


def _skip(why: str) -> dict[str, Any]:
    """Return the fields of a record for a suite that could not be run: no failure of it, and no silence either."""
    return {
        "status": "skip", "reason": None, "message": why, "warnings": [f"not run: {why}"], "detail": [],
        "exitCode": None, "count": None, "counts": None, "attempts": ["skip"],
    }  # fmt: skip


def _launched(run: Run, node: Node, log: Path, ceiling: int, env: dict[str, str]) -> Ended:
    if node.image is None:
        more = {**run.slot.env, **env}
        return launch(run.repo, node, log, feature=run.feature, run_id=run.run_id, timeout_ms=ceiling, env=more)
    from morph_tasks.verify.linux.run import launch_in_container

    return launch_in_container(
        run.repo, node, log, feature=run.feature, run_id=run.run_id, timeout_ms=ceiling, image=node.image
    )


def _prebuild(run: Run, node: Node, log: Path, ceiling: int) -> dict[str, Any] | None:
    """Build what a suite needs; returns the red result of one that cannot be built, and then nothing is tested."""
    from morph_tasks.verify.reading import read_result

    for command in node.prebuild:
        step = replace(node, family="build", command=command)
        ended = _launched(run, step, log, ceiling, {})
        result = read_result(run.repo.root, step, log, ended, ceiling, 1, 0)
        if result["status"] != "pass":
            message = f"`{command}` failed, so no test was run: {result['message']}"
            return {**result, "reason": "prebuild-failed", "message": message, "attempts": ["fail"]}
    return None


def _validated(run: Run, node: Node) -> dict[str, Any]:
    """Run a validator of ours; one that could not check is a skip with its reason, never green."""
    from morph_tasks.verify.validators.table import run as check

    found = check(run.repo, run.config, node.validator or "", run.feature)
    return {
        "status": found.status, "reason": found.reason, "message": found.message, "warnings": list(found.warnings),
        "detail": list(found.detail), "count": None, "counts": None, "exitCode": None, "attempts": [found.status],
        **({"unavailable": True} if found.unavailable else {}),
    }  # fmt: skip


def _changed(run: Run, node: Node, before: Facts, recorded: dict[str, Any], after: Facts) -> dict[str, Any]:
    """Return the red result of a node whose inputs changed while it ran: nobody knows what it proved."""
    from morph_tasks.verify.explain import differences

    lines = differences(run, node, before.manifest, recorded, after)
    return {
        "status": "fail",
        "reason": "inputs-changed",
        "message": "its inputs changed while it ran; ignore the files in .gitignore, or narrow the node's `inputs`",
        "detail": lines,
    }
