"""Run the graph of one feature with doit's own scheduler, in this process."""

from __future__ import annotations

import io
import threading
from contextlib import suppress
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.report import Result
from morph_tasks.verify.run import Run, adopt


def run_graph(run: Run) -> Result:
    """Measure and judge a feature; raises the Refusal that stopped it."""
    # Git looks at the tree while doit is loaded: neither needs the other.
    ahead = threading.Thread(target=_look_ahead, args=(run,), daemon=True)
    ahead.start()
    from doit.control import TaskControl
    from doit.dependency import Dependency, MD5Checker
    from doit.reporter import ZeroReporter
    from doit.runner import MThreadRunner, Runner
    from doit.task import Stream, dict_to_task

    from morph_tasks.tasks import actions
    from morph_tasks.tasks.backend import NullDB
    from morph_tasks.tasks.graph import feature_graph
    from morph_tasks.verify.validators.table import warm

    adopt(run)
    actions.note_start(run.run_id)
    tasks = []
    for task in feature_graph(run, held=True):
        task["name"] = task.pop("basename")
        tasks.append(dict_to_task(task))
    control = TaskControl(tasks)
    control.process([f"verify:{_quoted(run.feature)}"])
    state = Dependency(NullDB, "none", MD5Checker)
    options: list[Any] = [state, ZeroReporter(io.StringIO(), {}), True, False, Stream(0)]
    busy = [node for node in run.measured if node.runs and not node.validator]
    # Threads wait for the slots of pools; more of them than jobs keep a narrow pool from blocking the others.
    runner = Runner(*options) if run.request.jobs == 1 else MThreadRunner(*options, num_process=_threads(busy))
    if busy and any(node.validator for node in run.measured):
        threading.Thread(target=warm, daemon=True).start()
    ahead.join()
    actions.refusals.clear()
    runner.run_all(control.task_dispatcher())
    if actions.refusals:
        raise actions.refusals[0]
    result = actions.results.pop(run.run_id, None)
    if result is None:
        raise Refusal("graph-failed", "the tasks ended without a verdict", fix=f"doit verify:{run.feature}")
    return result


def _look_ahead(run: Run) -> None:
    with suppress(Refusal):  # the first node that asks says it
        run.observer.tree()


def _threads(nodes: list[Node]) -> int:
    return max(2, min(32, len(nodes)))


def _quoted(feature: str) -> str:
    from morph_tasks.tasks.names import task_name

    return task_name(feature)
