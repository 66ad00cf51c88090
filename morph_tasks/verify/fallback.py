"""Which suites a tree has when the project declares none: the first match wins."""

from __future__ import annotations

import configparser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.builds.scan import one_look
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask
from morph_tasks.verify.suites import (
    cargo_suites,
    dotnet_suites,
    go_suites,
    has_go_tests,
    has_rust_tests,
    node_suites,
    other_node_suites,
    suite,
)

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

NO_SUITE = "no test suite found"


def test_nodes(root: Path, config: Config) -> list[Node]:
    """Return the inferred test nodes of a tree, or one that says that there is no suite.

    A declared `project.testCommand` speaks for everything; a guess names what it leaves out.
    """
    command = config.project.get("testCommand")
    if command:
        return [_declared(root, command, config)]
    with one_look():
        for place, find in enumerate(_FINDERS):
            found = find(root, config)
            if found:
                return _with_left_out(root, config, found, place + 1)
    return [
        Node(
            "tests",
            "none",
            skip=NO_SUITE,
            warnings=("no test suite found: declare project.tests in .morph/config/config.json, or [] for none",),
        )
    ]


def _declared(root: Path, command: str, config: Config) -> Node:
    from morph_tasks.verify.prebuild import plan
    from morph_tasks.verify.runners.infer import infer_runner

    node = suite("default", command, config, declared=True, runner=infer_runner(command, root))
    refusal = plan(command, (), node.runner).refusal
    return replace(node, reason=refusal[0], invalid=refusal[1]) if refusal else node


def _pytest(root: Path, config: Config) -> list[Node]:
    if not has_pytest_suite(root):
        return []
    python = python_command(root)
    # Bytecode and pytest's cache go to a folder of our own: an inferred suite leaves nothing in the tree.
    command = f'{python} -m pytest -o cache_dir="$MORPH_CACHE_DIR/pytest"'
    return [suite("pytest", command, config, runner="pytest", set_env=(("PYTHONDONTWRITEBYTECODE", "1"),))]


_FINDERS = (dotnet_suites, _pytest, node_suites, go_suites, cargo_suites)


def _with_left_out(root: Path, config: Config, chosen: Sequence[Node], later: int) -> list[Node]:
    """Name on the first node the suites that no chosen node covers."""
    covered = {node.runner for node in chosen} - {"none"}
    missed = []
    for find in _FINDERS[later:]:
        nodes = [node for node in find(root, config) if node.runner not in covered]
        if nodes and _HAS_TESTS.get(find, _certain)(root):
            missed += [f"`{_plain(node)}`{'' if node.cwd == '.' else f' in {node.cwd}'}" for node in nodes]
    others = other_node_suites(root, config, chosen)
    missed += [f"`{_plain(node)}` in {node.cwd}" for node in others]
    if not missed:
        return list(chosen)
    said = f"suites that nothing runs: {', '.join(missed)}; declare them all in project.tests"
    return [replace(chosen[0], warnings=(*chosen[0].warnings, said)), *chosen[1:]]


def _certain(root: Path) -> bool:
    return True


# A manifest alone is reason enough to run a suite, and not to warn of one.
_HAS_TESTS = {go_suites: has_go_tests, cargo_suites: has_rust_tests}


def _plain(node: Node) -> str:
    """Return a command as somebody would type it."""
    return {"go": "go test ./...", "cargo": "cargo test"}.get(node.runner, node.command)


def has_pytest_suite(root: Path) -> bool:
    """Tell whether the tree is set up for pytest: its configuration, or a `tests/` folder with test modules."""
    if (root / "pytest.ini").is_file() or (root / ".pytest.ini").is_file() or (root / "pytest.toml").is_file():
        return True
    if "pytest" in (pyproject(root).get("tool") or {}):
        return True
    if ini_sections(root / "setup.cfg") & {"tool:pytest"} or ini_sections(root / "tox.ini") & {"pytest"}:
        return True
    folders = [root / "tests", root / "test"]
    return any(next(folder.rglob(name), None) for folder in folders for name in ("test_*.py", "*_test.py"))


def python_command(root: Path) -> str:
    """Return the Python of the project: its own environment first, then the PATH."""
    for folder in (".venv", "venv"):
        if ask("file", str(root / folder / "bin" / "python")):
            return f"{folder}/bin/python"
    return "python" if ask("which", "python") else "python3"


def pyproject(root: Path) -> dict[str, Any]:
    """Return pyproject.toml; {} when it is missing or cannot be read (its own tools say why)."""
    import tomllib

    try:
        return tomllib.loads((root / "pyproject.toml").read_text("utf-8-sig"))
    except (OSError, ValueError):
        return {}


def ini_sections(path: Path) -> set[str]:
    """Return the section names of an ini file; none when it is missing or cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text("utf-8-sig"))
    except (OSError, ValueError, configparser.Error):
        return set()
    return set(parser.sections())
