"""The phases as shipped: their folders, and which of their files a feature has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.framework_files import framework_path
from morph_tasks.repo.files import read_json


def phases() -> list[dict[str, Any]]:
    """Return the phases of `phases.json`, in order."""
    found: list[dict[str, Any]] = read_json(framework_path("phases.json"))["phases"]
    return found


def outputs_of(folder: Path) -> dict[str, list[str]]:
    """Return, by phase, the outputs that exist in a feature's folder, relative to it."""
    found = {}
    for phase in phases():
        names = [*phase["requiredOutputs"], *phase["optionalOutputs"]]
        there = [name for name in names if _exists(folder / name)]
        if there:
            found[phase["id"]] = there
    return found


def _exists(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    return path.is_file()
