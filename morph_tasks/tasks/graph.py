"""The graph of one feature: measures that never fail, and judges that always run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from morph_tasks.tasks import actions
from morph_tasks.tasks.names import task_name
from morph_tasks.verify.evidence import view_path
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.run import Run

Task = dict[str, Any]


def feature_graph(run: Run, *, held: bool = False) -> Iterator[Task]:
    """Yield the tasks of a feature: the lock, a measure and a judge for each node, the verdict.

    `held`: the caller has the lock of the tree already.
    """
    first = [] if held else [f"_begin:{task_name(run.feature)}"]
    where: actions.Where = (str(run.repo.root), run.feature, run.request.as_dict(), run.run_id)
    if not held:
        yield _task("_begin", (run.feature,), actions.begin, where)
    # An id that is declared twice is one invalid node, said twice.
    for node in {node.ref: node for node in run.measured}.values():
        yield _measure(run, node, where, first)
        yield _judge(run, node, where)
    yield _task(
        "verify",
        (run.feature,),
        actions.judge_verify,
        where,
        doc=f"measure and judge {run.feature}, stamp the proof",
        task_dep=list(dict.fromkeys(_name("_measure", run, node) for node in run.measured)),
        file_dep=list(dict.fromkeys(_view(run, node) for node in run.measured)),
    )


def _measure(run: Run, node: Node, where: actions.Where, first: list[str]) -> Task:
    task = _task(
        "_measure",
        (run.feature, node.ref),
        actions.measure_node,
        (*where, node.ref),
        task_dep=[_name("_measure", run, run.node(ref)) for ref in _behind(run, node)],
        # Only what is going to run waits for the lock: a no-op takes none.
        setup=first if node.runs else [],
        targets=[_view(run, node)],
    )
    return {**task, "uptodate": [actions.Fresh(where, node.ref)]}


def _behind(run: Run, node: Node) -> list[str]:
    left = {other.ref for other in run.measured}
    return [ref for ref in node.needs if ref in left]


def _judge(run: Run, node: Node, where: actions.Where) -> Task:
    parts = (run.feature,) if node.family == "e2e" else (run.feature, node.id)
    return _task(
        node.family,
        parts,
        actions.judge_node,
        (*where, node.ref),
        doc=f"measure and judge {node.ref} of {run.feature}",
        task_dep=[_name("_measure", run, node)],
        file_dep=[_view(run, node)],
    )


def _task(family: str, parts: tuple[str, ...], action: Any, args: tuple[Any, ...], **more: Any) -> Task:
    return {
        "basename": task_name(family, *parts) if family[0] != "_" else f"{family}:{task_name(*parts)}",
        "actions": [(action, list(args))],
        "uptodate": [False],
        "verbosity": 2,
        # To capture, doit swaps the streams of the whole process: two threads at once leave the wrong one behind.
        "io": {"capture": False},
        **more,
    }


def _name(family: str, run: Run, node: Node) -> str:
    return f"{family}:{task_name(run.feature, node.ref)}"


def _view(run: Run, node: Node) -> str:
    return str(view_path(run.repo.root, run.feature, node))
