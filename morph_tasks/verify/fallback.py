"""Which suites a tree has when the project declares none: the first match wins."""

from __future__ import annotations

import configparser
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.nodes import TEST_TIMEOUT_MS, Node, links

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

NO_SUITE = "no test suite found"
# npm writes this line into a new package.json
_NPM_PLACEHOLDER = "no test specified"


def test_nodes(root: Path, config: Config) -> list[Node]:
    """Return the inferred test nodes of a tree, or one that says that there is no suite."""
    command = config.project.get("testCommand")
    if command:
        return [_node("default", command, config, declared=True)]
    for find in (_pytest, _package_json):
        found = find(root, config)
        if found:
            return found
    return [
        Node(
            "tests",
            "none",
            skip=NO_SUITE,
            warnings=("no test suite found: declare project.tests in .morph/config/config.json, or [] for none",),
        )
    ]


def _node(name: str, command: str, config: Config, *, cwd: str = ".", declared: bool = False, **more: Any) -> Node:
    from morph_tasks.verify.runners.infer import infer_runner

    ceiling = config.project.get("testTimeoutMs") or TEST_TIMEOUT_MS * links(command)
    runner = more.pop("runner", None) or infer_runner(command, Path(cwd)) or "none"
    return Node("tests", name, command, cwd, runner, timeout_ms=ceiling, needs=("*",), declared=declared, **more)


def _pytest(root: Path, config: Config) -> list[Node]:
    if not has_pytest_suite(root):
        return []
    python = python_command(root)
    # Bytecode and pytest's cache go to a folder of our own: an inferred suite leaves nothing in the tree.
    command = f'{python} -m pytest -o cache_dir="$MORPH_CACHE_DIR/pytest"'
    return [_node("pytest", command, config, runner="pytest", set_env=(("PYTHONDONTWRITEBYTECODE", "1"),))]


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
    import shutil

    for folder in (".venv", "venv"):
        if (root / folder / "bin" / "python").exists():
            return f"{folder}/bin/python"
    return "python" if shutil.which("python") else "python3"


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


def package_json(folder: Path) -> dict[str, Any]:
    """Return package.json; {} when it is missing or is no JSON object."""
    try:
        data = json.loads((folder / "package.json").read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _package_json(root: Path, config: Config) -> list[Node]:
    nodes = []
    script = (package_json(root).get("scripts") or {}).get("test")
    if isinstance(script, str) and script.strip() and _NPM_PLACEHOLDER not in script:
        nodes.append(_node("default", "npm test", config))
    for folder in _frontends(root, config):
        data = package_json(root / folder)
        named = {**(data.get("dependencies") or {}), **(data.get("devDependencies") or {})}
        for runner, command in (("vitest", "npx vitest run"), ("jest", "npx jest --ci")):
            if runner in named and not (folder == "." and nodes):
                name = runner if folder == "." else f"{runner}-{folder.replace('/', '-')}"
                nodes.append(_node(name.lower(), command, config, cwd=folder, runner=runner))
    return nodes


def _frontends(root: Path, config: Config) -> list[str]:
    known = [".", "src/frontend", "src/web", "frontend", "apps/web", "packages/app"]
    declared = (config.project.get("frontendPath") or "").strip("/")
    if declared and declared not in known and ".." not in declared.split("/"):
        known.append(declared)
    return [folder for folder in known if (root / folder / "package.json").is_file()]
