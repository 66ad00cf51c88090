"""The verify of a feature, as commands and tests call it."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo
from morph_tasks.verify.heavy import end_of_work
from morph_tasks.verify.progress import Progress, Silent
from morph_tasks.verify.report import Result
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run, check_filter, check_options, check_refresh, new_run_id


def verify(repo: Repo, feature: str, request: Request, progress: Progress | None = None) -> Result:
    """Measure and judge a feature in this tree; raises Refusal for what cannot be begun.

    Refusals: `feature-not-found`, `filter-matches-nothing` (exit 2), `busy` (exit 3), `invalid-config`, …
    """
    from morph_tasks.features.store import read_feature
    from morph_tasks.machine.signals import install
    from morph_tasks.tasks import actions
    from morph_tasks.verify.baseline import check_request
    from morph_tasks.verify.engine import run_graph

    _watch(repo, feature)
    read_feature(repo.root, feature)
    check_options(request)
    before = Run(repo, feature, replace(request, slice=None, linux=False), new_run_id())
    if request.slice:
        from morph_tasks.verify.narrowing.slices import require_slice

        require_slice(repo.root, feature, request.slice)
    check_filter(before)
    check_request(before, request)
    check_refresh(before, request)
    shown = progress or Silent()
    install(shown.close)
    with actions.tree_held(repo, request.wait_s):
        # Only now: another verify may have changed what there is to know.
        run = Run(repo, feature, request, new_run_id(), quiet=True, progress=shown)
        if request.linux:
            from morph_tasks.verify.linux.nodes import clean_up

            clean_up(repo)
        try:
            result = run_graph(run)
        except Refusal as refusal:
            if refusal.code == "busy":  # nothing was verified: neither green nor red
                refusal.payload.setdefault("status", "busy")
                refusal.payload["persisted"] = False
            raise
        finally:
            cleaned = end_of_run(run)
        if cleaned:
            result.payload["cleanup"] = cleaned
        if result.settled and request == Request(wait_s=request.wait_s, jobs=request.jobs):
            _witness(run, result)
        return result


def end_of_run(run: Run) -> dict[str, Any] | None:
    """End what heavy work leaves behind. A slice is followed by others: it leaves the compiler warm."""
    if "slot" not in run.__dict__:
        return None
    stack = str(run.config.project.get("stack") or "").lower().split("+")
    dotnet = "dotnet" in stack or any(node.runner == "dotnet" for node in run.nodes)
    return end_of_work(run.slot, run.config, run.repo.root, dotnet=dotnet and not run.request.slice)


def _watch(repo: Repo, feature: str) -> None:
    """Ask, before any of it is read, for the files of ours that decide what a verify says."""
    from morph_tasks.verify.probe import ask

    folder = repo.morph / "features" / feature
    asked = [repo.morph / "config" / "config.json", folder / "feature.json", folder / "1-design", folder / "4-review"]
    asked.append(repo.common_dir / "worktrees")
    trees = [repo.git_dir, repo.common_dir, *sorted(repo.common_dir.glob("worktrees/*"))]
    for tree in dict.fromkeys(trees):
        # Who owns a feature: what each tree has checked out or is rebasing, and whether it is still there.
        asked += [tree / name for name in ("HEAD", "gitdir", "rebase-merge/head-name", "rebase-apply/head-name")]
        with suppress(OSError):
            asked.append(tree / os.fsdecode((tree / "gitdir").read_bytes()).rstrip("\r\n"))
    for path in asked:
        ask("file", str(path))


def _witness(run: Run, result: Result) -> None:
    """Leave what a later call needs to give the same answer without the long way."""
    import json

    from morph_tasks.verify import witness
    from morph_tasks.verify.probe import answers
    from morph_tasks.verify.report import event

    repo = run.repo
    kept = {
        "answers": answers(),
        "sum": result.settled.sum if result.settled else "",
        "excluded": run.observer.excluded,
        "json": json.dumps(result.payload, indent=2, ensure_ascii=True),
        "text": "\n".join(result.lines),
        "event": event(run, result.payload),
    }
    witness.write(str(repo.root), str(repo.git_dir), run.feature, kept)
