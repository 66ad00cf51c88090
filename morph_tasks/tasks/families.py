"""The task creators of a project: one documented line a family, the features of this tree below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.tasks import services
from morph_tasks.tasks.codegraph import graph_refresh
from morph_tasks.tasks.finishing import finish_tasks
from morph_tasks.tasks.graph import feature_graph
from morph_tasks.tasks.names import task_name
from morph_tasks.verify.request import Request, from_variables
from morph_tasks.verify.run import Run, adopt, check_filter, new_run_id

FAMILIES = {
    "verify": "measure and judge a feature, stamp the proof: doit verify:<feature>",
    "verify-slice": "measure what one slice touches, narrowed to its tests: doit verify-slice:<feature>:<slice>",
    "build": "one build node: doit build:<feature>:<id>",
    "tests": "one test node: doit tests:<feature>:<id>",
    "validators": "one validator: doit validators:<feature>:<id>",
    "e2e": "the running application: doit e2e:<feature>",
    "e2e-up": "bring the application of a feature up: doit e2e-up:<feature>",
    "e2e-status": "say whether it is up, healthy and current: doit e2e-status:<feature>",
    "e2e-down": "take the application of a feature down: doit e2e-down:<feature>",
    "explain": "say which nodes would run, and why: doit explain:<feature>",
    "plan-check": "check a plan, write its checks.json: doit plan-check:<feature>",
    "gate-check": "decide whether a gate pauses: doit gate-check:<feature>:<gate>",
    "finish": "archive, integrate and take down a feature: doit finish:<feature> mode=merge",
}
_UNBOUNDED = 64
GATES = ("plan", "uiux", "review")


def all_tasks() -> Iterator[Any]:
    """Yield every task of this tree as doit's own Task objects."""
    yield _plain(
        "list-features",
        services.show_features,
        (str(Path.cwd()), _variables()),
        "list the features of this tree (read-only)",
    )
    yield _from_dict(graph_refresh(), None)
    for family, doc in FAMILIES.items():
        yield _plain(family, services.refuse_family, (family, tuple(_features())), doc)
    for feature in _features():
        yield from _of_feature(feature)
    for task in finish_tasks(_features(), _variables()):
        yield _from_dict(task, "finish")


def _of_feature(feature: str) -> Iterator[Any]:
    root = str(Path.cwd())
    try:
        run = _run(feature)
        check_filter(run)
        tasks = list(feature_graph(run))
    except Refusal as refusal:
        # A creator that raises would break `doit list`: the refusal is what the task does.
        said = (refusal.code, refusal.what, refusal.fix)
        names: list[tuple[str, tuple[str, ...]]] = [("verify", (feature,)), ("explain", (feature,))]
        names += [("verify-slice", (feature, slice_id)) for slice_id in _slices(root, feature)]
        for family, parts in names:
            yield _sub(family, task_name(family, *parts), services.refuse, said, [])
        return
    for task in tasks:
        name = task.pop("basename")
        family = name.partition(":")[0]
        yield _from_dict({**task, "name": name}, None if family.startswith("_") else family)
    where = (root, feature, run.request.as_dict(), run.run_id)
    yield _sub("explain", task_name("explain", feature), services.show_explanation, where, [])
    for verb in ("up", "status", "down"):
        yield _sub(f"e2e-{verb}", task_name(f"e2e-{verb}", feature), services.application, (feature, verb), [])
    for slice_id in _slices(root, feature):
        name = task_name("verify-slice", feature, slice_id)
        yield _sub("verify-slice", name, services.verify_slice, (root, feature, slice_id, _variables()), [])
    yield _plan_check(root, feature)
    for gate in GATES:
        yield _sub("gate-check", task_name("gate-check", feature, gate), services.check_gate, (root, feature, gate), [])


def _slices(root: str, feature: str) -> list[str]:
    """Return the slices of a checked plan, and those that are asked for: whether they exist, their task will say."""
    import json
    import sys

    asked = [word.split(":")[2] for word in sys.argv[1:] if word.startswith(f"verify-slice:{task_name(feature)}:")]
    path = Path(root) / ".morph" / "features" / feature / "2-plan" / "checks.json"
    try:
        listed = [str(one["id"]) for one in json.loads(path.read_bytes())["slices"]]
    except (OSError, ValueError, KeyError, TypeError):
        listed = []
    return list(dict.fromkeys([*listed, *asked]))


def _plan_check(root: str, feature: str) -> Any:
    folder = Path(root) / ".morph" / "features" / feature / "2-plan"
    wanted = [folder / "plan.md", services.agents_file(Path(root))]
    # A file_dep that is missing is an error of doit's own; without it the action refuses in our words.
    files = [str(path) for path in wanted if path.is_file()]
    task = _sub("plan-check", task_name("plan-check", feature), services.check_plan, (root, feature), files)
    task.targets.append(str(folder / "checks.json"))
    return task


@cache
def _shared(root: str) -> Run:
    return Run(services.here(), "", Request(), new_run_id())


def _run(feature: str) -> Run:
    """Return the run of a feature; a bad variable is kept for the judge's action to refuse."""
    request, problem = _request()
    if problem:
        raise problem
    run = _shared(str(Path.cwd())).for_feature(feature, request)
    adopt(run)
    return run


def _request() -> tuple[Request, Refusal | None]:
    try:
        # doit itself bounds how many tasks run at once.
        return replace(from_variables(_variables()), jobs=_UNBOUNDED), None
    except Refusal as refusal:
        return Request(), refusal


def _variables() -> dict[str, str]:
    from doit import doit_cmd

    # doit offers no public way to list them, and unknown names must be refused.
    return dict(getattr(doit_cmd, "_CMDLINE_VARS", None) or {})


@cache
def _features() -> list[str]:
    from morph_tasks.features.store import list_features

    try:
        root = services.here().root
    except Refusal:
        return []
    return [view.slug for view in list_features(root)]


def _plain(name: str, action: Any, args: tuple[Any, ...], doc: str) -> Any:
    return _from_dict(
        {"name": name, "actions": [(action, list(args))], "uptodate": [False], "doc": doc, "verbosity": 2}, None
    )


def _sub(family: str, name: str, action: Any, args: tuple[Any, ...], files: list[str]) -> Any:
    task = {"name": name, "actions": [(action, list(args))], "uptodate": [False], "verbosity": 2, "file_dep": files}
    # What a command prints goes to the real streams.
    return _from_dict({**task, "io": {"capture": False}}, family)


def _from_dict(task: dict[str, Any], family: str | None) -> Any:
    from doit.task import dict_to_task

    made = dict_to_task(task)
    made.subtask_of = family
    return made
