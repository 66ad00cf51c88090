"""A refresh of the main tree that nobody waits for: whoever kicks it goes on at once."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.codegraph import graphify, record, runlock
from morph_tasks.codegraph.freshness import NO_GRAPH, STALE, Freshness, freshness
from morph_tasks.codegraph.layout import GRAPH, STARTED
from morph_tasks.codegraph.runlog import log

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

SWITCH = "MORPH_GRAPH_AUTO_REFRESH"
_ROUNDS = 3
_NICE = 10
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from morph_tasks.codegraph.background import main; main(sys.argv[2])"
)


class Kicked:
    """What came of a kick. `why`: a code that says why nothing was started; None when a refresh was."""

    __slots__ = ("pid", "why")

    def __init__(self, why: str | None, pid: int | None = None) -> None:
        self.why = why
        self.pid = pid

    @property
    def started(self) -> bool:
        return self.pid is not None


def kick(repo: Repo) -> Kicked:
    """Start a refresh of the main tree where its graph is old, and do not wait for it. Never raises.

    Not started: `off`, `no-main-tree`, `no-graph`, `fresh`, `unavailable`, `failed-here` (it failed on this very
    commit), `running`, `not-started`.
    """
    try:
        return _kick(repo)
    except Exception as error:  # whoever kicks has done something else, which stands
        log(repo, f"no refresh was started: {error}")
        return Kicked("not-started")


def _kick(repo: Repo) -> Kicked:
    if is_off():
        return Kicked("off")
    primary = main_tree(repo)
    if primary is None:
        return Kicked("no-main-tree")
    if not os.path.exists(primary.root / GRAPH):
        return Kicked("no-graph")
    why = reason_to_rest(primary, freshness(primary))
    if why is not None:
        return Kicked(why)
    if runlock.holder(str(primary.git_dir)) is not None:
        return Kicked("running")
    return Kicked(None, _start(primary))


def is_off() -> bool:
    """Tell whether the user does not want refreshes that nobody asked for."""
    return os.environ.get(SWITCH) == "0"


def main_tree(repo: Repo) -> Repo | None:
    """Return the main work tree; None in a bare repository, whose trees are refreshed by hand."""
    if repo.git_dir == repo.common_dir:
        return repo.lightly()
    from morph_tasks.repo.git import open_repo
    from morph_tasks.repo.trees import primary_root

    found = primary_root(repo)
    return None if found == repo.root else open_repo(found).lightly()


def reason_to_rest(primary: Repo, found: Freshness) -> str | None:
    """Return why a refresh is not called for; None when it is."""
    if found.state != STALE:
        return NO_GRAPH if found.state == NO_GRAPH else "fresh"
    last = record.read(str(primary.git_dir))["last"] or {}
    if graphify.find() is None:
        if last.get("status") != "unavailable":
            from morph_tasks.codegraph.running import note_absent

            note_absent(primary, "refresh", background=True)
        return "unavailable"
    same = (last.get("head"), last.get("rules")) == (found.head, found.rules)
    return "failed-here" if last.get("status") == "failed" and same else None


def _start(primary: Repo) -> int:
    import subprocess

    import morph_tasks

    where = str(Path(morph_tasks.__file__).resolve().parents[1])
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _BOOT, where, str(primary.root)],
        # The one folder that no removal of a work tree wants gone.
        cwd=primary.common_dir,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(OSError):  # only for `graph status`, until the lock tells
        (primary.tree_state / STARTED).write_text(str(child.pid), "ascii")
    child.returncode = 0  # whoever started it does not wait for it
    return child.pid


def main(root: str) -> None:
    """Be the process that a kick starts: refresh until the graph is that of HEAD, with low priority."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.git import open_repo

    os.nice(_NICE)
    primary = open_repo(Path(root)).lightly()
    try:
        refresh_until_fresh(primary)
    except Refusal as refusal:
        log(primary, f"refresh of {root}: {refusal.code}: {refusal.what}")
    except Exception as error:
        log(primary, f"refresh of {root}: a fault of morph-spec itself: {type(error).__name__}: {error}")


def refresh_until_fresh(primary: Repo) -> None:
    """Refresh, and look again once the lock is given back: HEAD may have moved meanwhile. Raises what a run raises."""
    from morph_tasks.codegraph.running import REFRESH, run

    for _ in range(_ROUNDS):
        found = freshness(primary)
        why = reason_to_rest(primary, found)
        if why is not None:
            log(primary, f"refresh of {primary.root}: nothing to do ({why})")
            return
        log(primary, f"refresh of {primary.root}: {found.detail}")
        ran = run(primary, REFRESH, background=True)
        if ran.holder is not None:
            log(primary, f"refresh of {primary.root}: another run has the lock")
            return
        log(primary, f"refresh of {primary.root}: done in {ran.duration_ms} ms{_told(ran.warnings)}")


def _told(warnings: list[str]) -> str:
    return "".join(f"; {line}" for line in warnings)
