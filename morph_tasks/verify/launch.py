"""Run the command of a node: its environment, its log, its end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.machine.processes import Ended
    from morph_tasks.repo.git import Repo

SCRIPTS = Path(__file__).with_name("builds")
PLUGIN_FOLDER = Path(__file__).parents[1] / "pytest_plugin"
VERIFYING = "MORPH_VERIFYING"  # the trees whose locks the verifies around a command hold
# Set by a test runner around us; inherited, it would change what a nested runner prints.
_SHED = {"MORPH_TEST_REPORT", "NODE_TEST_CONTEXT", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"}


def launch(
    repo: Repo,
    node: Node,
    log: Path,
    *,
    feature: str,
    run_id: str,
    timeout_ms: int,
    env: Mapping[str, str] = MappingProxyType({}),
) -> Ended:
    """Run a node's command to its end, or to the end of its time; the log holds all that it said.

    `env` is added to the environment of nodes.
    """
    from morph_tasks.machine.processes import supervise

    ended = supervise(
        node.command,
        cwd=repo.root / node.cwd,
        env=environment(repo, node, feature) | _naming(node, log) | dict(env),
        log=log,
        timeout_s=timeout_ms / 1000,
        run_id=run_id,
        live_dir=repo.tree_state / "live",
    )
    redact(log)
    return ended


def environment(repo: Repo, node: Node, feature: str) -> dict[str, str]:
    """Return the environment of a node: the caller's, without what names another repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _SHED and not (name.startswith("GIT_") and name.removeprefix("GIT_") in _REPOSITORY)
    }
    held = os.environ.get(VERIFYING)
    ours = {
        VERIFYING: f"{held}{os.pathsep}{repo.tree_state}" if held else str(repo.tree_state),
        "MORPH_FEATURE": feature,
        "MORPH_CACHE_DIR": str(repo.tree_state / "cache"),
        "MORPH_SCRIPTS": str(SCRIPTS),
    }
    return {**kept, **ours, **dict(node.set_env)}


def report_of(log: Path) -> Path:
    """Return where the pytest plugin writes the tests of a run, beside its log."""
    return log.with_name(f"{log.name}.tests")


def _naming(node: Node, log: Path) -> dict[str, str]:
    """Return what lets pytest find our plugin and name its tests, also where the package is not installed.

    Found by its folder alone, it is only missing where a command sets a path of its own; a name in PYTEST_PLUGINS
    would break that run.
    """
    if node.runner != "pytest" or node.family != "tests":
        return {}
    paths = [*filter(None, [os.environ.get("PYTHONPATH")]), str(PLUGIN_FOLDER)]
    return {"MORPH_TEST_REPORT": str(report_of(log)), "PYTHONPATH": os.pathsep.join(paths)}


_REPOSITORY = {
    "DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "PREFIX", "NAMESPACE",
    "ALTERNATE_OBJECT_DIRECTORIES", "QUARANTINE_PATH", "INTERNAL_SUPER_PREFIX",
}  # fmt: skip
_SECRET_WORDS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
)
_SHORTEST_SECRET = 8


def redact(log: Path) -> None:
    """Replace the values of secret environment variables in a log by their names."""
    secrets = {
        value.encode("utf-8", "surrogateescape"): name
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST_SECRET and any(word in name.upper() for word in _SECRET_WORDS)
    }
    if not secrets or not log.is_file():
        return
    data = log.read_bytes()
    clean = data
    for value, name in sorted(secrets.items(), key=lambda item: -len(item[0])):
        clean = clean.replace(value, f"[{name}]".encode())
    if clean != data:
        log.write_bytes(clean)
