"""The runners that are known, in the order in which `auto` prefers them on a tie."""

from __future__ import annotations

from typing import Any, cast

from morph_tasks.verify.runners import node_test, none, pytest, vitest
from morph_tasks.verify.runners.model import Runner

_MODULES: dict[str, Any] = {
    "pytest": pytest,
    "vitest": vitest,
    "node-test": node_test,
    "none": none,
}

RUNNERS: dict[str, Runner] = {name: cast("Runner", module) for name, module in _MODULES.items()}
NAMES: dict[str, str] = {alias: name for name, runner in RUNNERS.items() for alias in (name, *runner.ALIASES)}
