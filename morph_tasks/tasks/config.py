"""doit's configuration: ours, with the project's own winning key by key."""

from __future__ import annotations

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
        ours = OURS if "task_verify" in (loader.namespace or {}) else {}
        return {**ours, **theirs}

    NamespaceTaskLoader.load_doit_config = load
    NamespaceTaskLoader.morph_spec = True
