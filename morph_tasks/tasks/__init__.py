"""The tasks of a project: `from morph_tasks.tasks import *` in its `dodo.py`."""

from __future__ import annotations

from collections.abc import Iterator as _Iterator
from typing import Any as _Any

DOIT_CONFIG: dict[str, _Any] = {}


def task_verify() -> _Iterator[_Any]:
    """Measure and judge a feature: doit verify:<feature>."""
    import sys

    from morph_tasks.tasks.noop import settled_task

    # Asked for one verify and nothing else: when its witness holds, that is all there is to do.
    task = settled_task(sys.argv[1:])
    if task:
        yield task
        return
    from morph_tasks.machine.signals import install
    from morph_tasks.tasks.families import all_tasks

    # doit leaves children behind when it is interrupted.
    install(lambda: None)
    yield from all_tasks()


def _prepare() -> None:
    import sys

    # Only doit needs this: the command imports single modules of this room.
    if "doit.cmd_base" in sys.modules:
        from morph_tasks import stdio
        from morph_tasks.tasks.config import merge_into_doit

        stdio.forgive()
        stdio.leave_quietly()
        merge_into_doit()


_prepare()
