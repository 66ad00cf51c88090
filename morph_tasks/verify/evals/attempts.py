"""Run an evals node, again after a failure as often as it allows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.evals.after import after, not_run
from morph_tasks.verify.evals.before import NotReady, again, before
from morph_tasks.verify.evals.declared import Evals
from morph_tasks.verify.launch import launch

if TYPE_CHECKING:
    from morph_tasks.verify.nodes import Node
    from morph_tasks.verify.run import Run


def attempts(run: Run, node: Node, declared: Evals, log: Path, ceiling_ms: int) -> dict[str, Any]:
    """Return the fields of a record; a pass after a fail is `flaky`. Nothing is started while something is missing."""
    from morph_tasks.verify.reading import left_behind

    ready = before(run.repo, node.id, declared, refresh=run.request.refresh_cache)
    tries: list[str] = []
    result: dict[str, Any] = {}
    for attempt in range(node.retries + 1):
        if attempt and not isinstance(ready, NotReady):
            ready = again(run.repo, ready)
        if isinstance(ready, NotReady):
            return not_run(ready)
        place = log if attempt == 0 else log.with_suffix(f".{attempt}.log")
        ended = launch(
            run.repo,
            node,
            place,
            feature=run.feature,
            run_id=run.run_id,
            timeout_ms=ceiling_ms,
            env={**run.slot.env, **ready.env},
        )
        result = after(run.repo, ready, ended.exit_code, place, cut_off=ended.timed_out or ended.interrupted)
        result["warnings"] = [*left_behind(ended), *result["warnings"]]
        if ended.timed_out:
            said = f"timeout after {ceiling_ms} ms: how many scenarios would have failed is not known"
            result |= {"status": "fail", "reason": "timeout", "message": said}
        tries.append(result["status"])
        if result["status"] == "pass":
            break
    if result["status"] == "pass" and len(tries) > 1:
        result |= {"status": "flaky", "reason": "passed-on-retry"}
    return {**result, "attempts": tries}
