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
