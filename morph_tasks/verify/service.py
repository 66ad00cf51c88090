"""The verify of a feature, as commands and tests call it."""

from __future__ import annotations

from morph_tasks.repo.git import Repo
from morph_tasks.verify.progress import Progress, Silent
from morph_tasks.verify.report import Result
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run, check_filter, new_run_id


def verify(repo: Repo, feature: str, request: Request, progress: Progress | None = None) -> Result:
    """Measure and judge a feature in this tree; raises Refusal for what cannot be begun.

    Refusals: `feature-not-found`, `filter-matches-nothing` (exit 2), `busy` (exit 3), `invalid-config`, …
    """
    from morph_tasks.features.store import read_feature
    from morph_tasks.machine.signals import install
    from morph_tasks.tasks import actions
    from morph_tasks.verify.baseline import check_request
    from morph_tasks.verify.engine import run_graph

    read_feature(repo.root, feature)
    before = Run(repo, feature, request, new_run_id())
    check_filter(before)
    check_request(before)
    shown = progress or Silent()
    install(shown.close)
    with actions.tree_held(repo, request.wait_s):
        # Only now: another verify may have changed what there is to know.
        run = Run(repo, feature, request, new_run_id(), quiet=True, progress=shown)
        result = run_graph(run)
        if result.settled and request == Request(wait_s=request.wait_s, jobs=request.jobs):
            _witness(run, result)
        return result


def _witness(run: Run, result: Result) -> None:
    """Leave what a later call needs to give the same answer without the long way."""
    import json

    from morph_tasks.verify import witness
    from morph_tasks.verify.evidence import view_path
    from morph_tasks.verify.probe import answers, ask
    from morph_tasks.verify.report import event

    repo = run.repo
    asked = [repo.morph / "config" / "config.json", repo.morph / "features" / run.feature / "feature.json"]
    asked += [repo.git_dir / "HEAD", repo.common_dir / "worktrees", *repo.common_dir.glob("worktrees/*/HEAD")]
    for outcome in result.outcomes:
        asked.append(view_path(repo.root, run.feature, outcome.node))
        if outcome.record and outcome.record.get("key"):
            asked.append(run.store.node(outcome.node.ref) / outcome.record["key"])
    for path in asked:
        ask("file", str(path))
    kept = {
        "answers": answers(),
        "sum": run.observer.tree().sum,
        "excluded": run.observer.excluded,
        "json": json.dumps(result.payload, indent=2, ensure_ascii=True),
        "text": "\n".join(result.lines),
        "event": event(run, result.payload),
    }
    witness.write(str(repo.root), str(repo.git_dir), run.feature, kept)
