"""The runners that are known, in the order in which `auto` prefers them on a tie. Each is loaded when it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import cast

from morph_tasks.verify.runners.model import Runner

# name: module of this folder
_MODULES = {
    "pytest": "pytest",
    "vitest": "vitest",
    "jest": "jest",
    "node-test": "node_test",
    "mocha": "mocha",
    "playwright": "playwright",
    "dotnet": "dotnet",
    "go": "go",
    "cargo": "cargo",
    "rspec": "rspec",
    "phpunit": "phpunit",
    "ctest": "ctest",
    "bun": "bun",
    "deno": "deno",
    "karma": "karma",
    "surefire": "surefire",
    "gradle": "gradle",
    "unittest": "unittest",
    "none": "none",
}


class _Runners(Mapping[str, Runner]):
    """The table itself: asking what there is loads nothing."""

    def __getitem__(self, name: str) -> Runner:
        return _load(_MODULES[name])

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


RUNNERS: Mapping[str, Runner] = _Runners()


def full_name(alias: str) -> str | None:
    """Return the name of a runner that is called by its name or by another word for it; None for no runner."""
    if alias in RUNNERS:
        return alias
    return next((name for name, runner in RUNNERS.items() if alias in runner.ALIASES), None)


@cache
def _load(module: str) -> Runner:
    return cast("Runner", import_module(f"morph_tasks.verify.runners.{module}"))
