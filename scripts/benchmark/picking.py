"""Run one verify of a slice; print how long choosing took, and from the fingerprint to the first command.

Needs the interpreter that morph-spec is installed in: it takes the time between functions of the package.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from morph_tasks.repo import fingerprint
from morph_tasks.repo.git import open_repo
from morph_tasks.verify import measure, service
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run

narrowed: list[float] = []
looked: list[float] = []
started: list[float] = []


def _timed_choice(run: Any, slice_id: str) -> None:
    began = time.perf_counter()
    plain_choice(run, slice_id)
    narrowed.append(time.perf_counter() - began)


def _noted_look(*args: Any) -> Any:
    state = plain_look(*args)
    looked.append(time.perf_counter())
    return state


def _noted_start(*args: Any, **named: Any) -> Any:
    started.append(time.perf_counter())
    return plain_launch(*args, **named)


plain_choice, plain_look, plain_launch = Run._narrow, fingerprint.tree_state, measure.launch
Run._narrow, fingerprint.tree_state, measure.launch = _timed_choice, _noted_look, _noted_start  # type: ignore[method-assign]
service.verify(open_repo(), sys.argv[1], Request(slice=sys.argv[2], fresh=True))
print(json.dumps({"seconds": sum(narrowed) + started[0] - looked[0], "started": len(started)}))
