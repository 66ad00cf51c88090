"""The runners whose commands can be narrowed, each with its module of this folder, loaded when it is asked."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from morph_tasks.verify.narrowing.model import Narrower

# runner: module
NARROWERS: dict[str, str] = {
    "vitest": "vitest",
    "jest": "jest",
    "dotnet": "dotnet",
    "pytest": "pytest",
    "go": "go",
    "cargo": "cargo",
}
_PACKAGE = "morph_tasks.verify.narrowing"


def narrower(runner: str) -> Narrower | str:
    """Return the module that narrows a runner's commands, or why there is none."""
    module = NARROWERS.get(runner)
    if module is None:
        return (
            "what runs the tests is not known, so nothing of it can be chosen"
            if runner == "none"
            else f"commands of {runner} are not narrowed"
        )
    return cast("Narrower", import_module(f"{_PACKAGE}.{module}"))
