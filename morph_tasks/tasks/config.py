"""doit's configuration: ours, with the project's own winning key by key."""

from __future__ import annotations

import sys
from typing import Any

OURS: dict[str, Any] = {"backend": "null", "default_tasks": ["list-features"], "verbosity": 2}


def merge_into_doit() -> None:
    """Make a project's `DOIT_CONFIG` extend ours.

    doit takes the one dict it finds in the task file and has no way to merge two: its loader is told to.
    """
    from doit.cmd_base import NamespaceTaskLoader

    if getattr(NamespaceTaskLoader, "morph_spec", False):
        return
    plain = NamespaceTaskLoader.load_doit_config

    def load(loader: Any) -> dict[str, Any]:
        theirs = plain(loader)
        if "task_verify" not in (loader.namespace or {}):
            return dict(theirs)
        # doit holds on to the stdout it started with, even when that was closed.
        return {**OURS, "outfile": sys.stdout, **theirs}

    NamespaceTaskLoader.load_doit_config = load
    NamespaceTaskLoader.morph_spec = True
    _watch_workers()


def _watch_workers() -> None:
    """Let a worker of `doit -n` end with a doit that was killed outright: it would wait for a task for ever."""
    from doit.runner import MRunner

    plain = MRunner.execute_task_subprocess

    def watched(runner: Any, *args: Any) -> None:
        from morph_tasks.machine.signals import watch_parent

        watch_parent()
        plain(runner, *args)

    MRunner.execute_task_subprocess = watched
