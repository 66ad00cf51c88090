"""The family `finish`: one task a step, chained, and a last one that tells. The command runs the same steps."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.journal import STEPS
from morph_tasks.repo.git import open_repo
from morph_tasks.tasks.actions import guarded
from morph_tasks.tasks.names import id_of, task_name

Task = dict[str, Any]


def finish_tasks(features: Iterable[str], variables: Mapping[str, str]) -> Iterator[Task]:
    """Yield the tasks of the features of this tree, and of those that are asked for, wherever they are."""
    asked = [id_of(word.split(":")[1]) for word in sys.argv[1:] if word.startswith("finish:")]
    for feature in dict.fromkeys([*features, *asked]):
        yield from _of(feature, dict(variables))


def _of(feature: str, variables: dict[str, str]) -> Iterator[Task]:
    root, before = str(Path.cwd()), ""
    for step in STEPS:
        yield _task(feature, step, run_step, (root, feature, variables, step), before)
        before = task_name("finish", feature, step)
    yield _task(feature, "", tell, (root, feature, variables), before)


def _task(feature: str, step: str, action: Any, args: tuple[Any, ...], before: str) -> Task:
    return {
        "name": task_name("finish", feature, *([step] if step else [])),
        "actions": [(action, list(args))],
        "uptodate": [False],
        "verbosity": 2,
        "io": {"capture": False},
        "task_dep": [before] if before else [],
    }


@guarded
def run_step(root: str, feature: str, variables: dict[str, str], step: str) -> Any:
    """Do one step of a finish; its journal says what the others did."""
    from morph_tasks.features.store import lock_wait
    from morph_tasks.fleet.finish.service import step as do
    from morph_tasks.fleet.finish.wish import from_variables, wait_of

    wish = from_variables(feature, variables)
    wait_s = wait_of(variables)
    before = lock_wait.set(lock_wait.get() if wait_s is None else wait_s)
    try:
        foretold = do(open_repo(Path(root)), feature, wish, step)
    finally:
        lock_wait.reset(before)
    if foretold is not None:
        _print([*(f"warning: {line}" for line in foretold.warnings), *foretold.lines])
    return True


@guarded
def tell(root: str, feature: str, variables: dict[str, str]) -> Any:
    """Tell what a finish came to."""
    from morph_tasks.fleet.finish.service import ended
    from morph_tasks.fleet.finish.wish import from_variables

    if from_variables(feature, variables).dry_run:
        return True
    told = ended(open_repo(Path(root)), feature)
    _print([*(f"warning: {line}" for line in told.warnings), *told.lines])
    made = told.as_json()
    if not made["ok"]:
        what = f"the merge stays, and was not pushed: {made['pushError']}"
        raise Refusal("push-failed", what, fix=made["nextStep"] or "")
    return True


def _print(lines: list[str]) -> None:
    print("\n".join(lines))  # noqa: T201
