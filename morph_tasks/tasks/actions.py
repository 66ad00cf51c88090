"""What the tasks do. Module-level functions of plain values: an action must pickle."""

from __future__ import annotations

import atexit
import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal, unexpected
from morph_tasks.verify.measure import fresh_view, measure
from morph_tasks.verify.report import Result, node_line
from morph_tasks.verify.run import current_run

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

Where = tuple[str, str, dict[str, Any], str]  # root, feature, request, run id

_locks: set[str] = set()
_started: dict[str, int] = {}
results: dict[str, Result] = {}


class Fresh:
    """doit's `uptodate`: true when a node's view holds a proof; shows the reason when it does not."""

    def __init__(self, where: Where, ref: str) -> None:
        self._where = where
        self._ref = ref

    def __call__(self) -> bool:
        return self._reason() is None

    def __repr__(self) -> str:
        try:
            return self._reason() or "proved"
        except Refusal as refusal:
            return f"{refusal.code}: {refusal.what}"

    def _reason(self) -> str | None:
        run = current_run(*self._where)
        return fresh_view(run, run.node(self._ref))


def guarded(action: Callable[..., Any]) -> Callable[..., Any]:
    """Make an action fail in our words, whatever happens in it."""

    @functools.wraps(action)
    def run(*args: Any) -> Any:
        try:
            return action(*args)
        except Refusal as refusal:
            return refused(refusal)
        except Exception as error:
            return refused(unexpected(error))

    return run


@guarded
def begin(root: str, feature: str, request: dict[str, Any], run_id: str) -> Any:
    """Wait for the lock of the tree, and end what a killed run left behind. Held until the process ends."""
    if root in _locks:
        return True
    from morph_tasks.verify.baseline import check_request

    check_request(current_run(root, feature, request, run_id))
    repo = current_run(root, feature, request, run_id).repo
    holder = tree_held(repo, float(request["wait_s"]))
    holder.__enter__()
    # Not left to the interpreter: at its end the names that giving the lock back needs are gone.
    atexit.register(holder.__exit__, None, None, None)
    atexit.register(_release_slot, root, feature, request, run_id)
    if request.get("linux"):
        from morph_tasks.verify.linux.nodes import clean_up

        clean_up(repo)
    return True


def _release_slot(root: str, feature: str, request: dict[str, Any], run_id: str) -> None:
    run = current_run(root, feature, request, run_id)
    if "slot" in run.__dict__:
        run.slot.release()


@contextmanager
def tree_held(repo: Repo, wait_s: float) -> Iterator[None]:
    """Hold the lock of a tree; raises Refusal `busy` (exit 3) after the wait, `verify-inside-verify` at once."""
    from morph_tasks.machine.live import reap
    from morph_tasks.repo.files import locked
    from morph_tasks.verify.launch import VERIFYING

    inside = str(repo.tree_state) in os.environ.get(VERIFYING, "").split(os.pathsep)
    with ExitStack() as stack:
        try:
            stack.enter_context(
                locked(repo.tree_state / "verify.lock", wait_s=0 if inside else wait_s, what="this tree")
            )
        except Refusal as refusal:
            if inside and refusal.code == "busy":
                what = "a node of a verify started this verify of the same tree: each would wait for the other"
                raise Refusal("verify-inside-verify", what, fix="take it out of the node's command") from None
            raise
        _locks.add(str(repo.root))
        try:
            reap(repo.tree_state / "live")
            yield
        finally:
            _locks.discard(str(repo.root))


@guarded
def measure_node(root: str, feature: str, request: dict[str, Any], run_id: str, ref: str) -> Any:
    """Measure one node; only what could not even be tried is a failure of the task."""
    run = current_run(root, feature, request, run_id)
    node = run.node(ref)
    if not node.runs:
        measure(run, node)
        return True
    with run.pools.slot(node.pool):
        run.progress.started(node)
        outcome = measure(run, node)
    run.progress.ended(outcome)
    return True


@guarded
def judge_node(root: str, feature: str, request: dict[str, Any], run_id: str, ref: str) -> Any:
    """Judge one node by its view."""
    run = current_run(root, feature, request, run_id)
    outcome = next(outcome for outcome in run.outcomes() if outcome.node.ref == ref)
    from morph_tasks.verify.judge import feedback

    print("\n".join([node_line(outcome), *feedback([outcome])]))  # noqa: T201
    return True if outcome.green else failed(f"{ref} is {outcome.status}")


@guarded
def judge_verify(root: str, feature: str, request: dict[str, Any], run_id: str) -> Any:
    """Judge a whole verify, stamp it, and say what there is to say."""
    from morph_tasks.verify.conclude import conclude

    run = current_run(root, feature, request, run_id)
    result = conclude(run, _started.get(run_id, time.time_ns()))
    results[run_id] = result
    if not run.quiet:
        print("\n".join(result.lines))  # noqa: T201
    return True if result.exit_code == 0 else failed(f"verify of {feature} is red")


def note_start(run_id: str) -> None:
    """Remember when a run began."""
    _started[run_id] = time.time_ns()


def refused(refusal: Refusal) -> Any:
    """Return a failure of doit that says what a refusal says."""
    fix = f"\nfix: {refusal.fix}" if refusal.fix else ""
    refusals.append(refusal)
    return failed(f"error {refusal.code}: {refusal.what}{fix}")


refusals: list[Refusal] = []


def failed(message: str) -> Any:
    """Return a task failure without a traceback."""
    from doit.exceptions import TaskFailed

    return TaskFailed(message)
