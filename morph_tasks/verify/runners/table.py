"""The runners that are known, in the order in which `auto` prefers them on a tie."""

from __future__ import annotations

from typing import Any, cast

from morph_tasks.verify.runners import (
    bun,
    cargo,
    ctest,
    deno,
    dotnet,
    go,
    gradle,
    jest,
    karma,
    mocha,
    node_test,
    none,
    phpunit,
    playwright,
    pytest,
    rspec,
    surefire,
    unittest,
    vitest,
)
from morph_tasks.verify.runners.model import Runner

_MODULES: dict[str, Any] = {
    "pytest": pytest,
    "vitest": vitest,
    "jest": jest,
    "node-test": node_test,
    "mocha": mocha,
    "playwright": playwright,
    "dotnet": dotnet,
    "go": go,
    "cargo": cargo,
    "rspec": rspec,
    "phpunit": phpunit,
    "ctest": ctest,
    "bun": bun,
    "deno": deno,
    "karma": karma,
    "surefire": surefire,
    "gradle": gradle,
    "unittest": unittest,
    "none": none,
}

# mypy does not see a module as a Protocol once it comes out of a dict literal of modules.
RUNNERS: dict[str, Runner] = {name: cast("Runner", module) for name, module in _MODULES.items()}
NAMES: dict[str, str] = {alias: name for name, runner in RUNNERS.items() for alias in (name, *runner.ALIASES)}
