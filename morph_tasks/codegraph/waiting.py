"""A refresh for those who need the graph to be up to date: one that is under way is waited for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from morph_tasks.codegraph import program, runlock
from morph_tasks.codegraph.freshness import FRESH, freshness
from morph_tasks.codegraph.running import REFRESH, Ran, run
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from morph_tasks.repo.git import Repo

_AGAIN_S = 0.2


def refreshed(repo: Repo, stage: Callable[[str], None]) -> Ran | None:
    """Bring the graph up to date; None when another run did so meanwhile.

    Raises Refusal `graph-busy` (3) when the other run goes on for longer than one may, and what `run` raises.
    """
    limit = program.limit_s()
    end = time.monotonic() + limit
    while True:
        ran = run(repo, REFRESH, stage=stage)
        if ran.holder is None:
            return ran
        pid = ran.holder.get("pid")
        who = f"process {pid}" if pid else "a process that did not say its number"
        stage(f"waiting for another run of graphify, {who}")
        while runlock.holder(str(repo.git_dir)) is not None:
            if time.monotonic() > end:
                what = f"another run of graphify ({who}) did not end within {limit:g} s"
                raise Refusal("graph-busy", what, fix="morph-spec graph status", exit_code=3)
            time.sleep(_AGAIN_S)
        if freshness(repo.lightly()).state == FRESH:
            return None
