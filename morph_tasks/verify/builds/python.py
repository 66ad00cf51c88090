"""Builds of a Python tree: every file compiles, and the type checker that the project configures is content."""

from __future__ import annotations

from pathlib import Path

from morph_tasks.verify.builds.detect import inferred
from morph_tasks.verify.fallback import has_pytest_suite, ini_sections, pyproject, python_command
from morph_tasks.verify.nodes import Node

_QUIET = (("PYTHONDONTWRITEBYTECODE", "1"),)


def python_builds(root: Path) -> list[Node]:
    """Return the builds of a Python tree; none when it is not one."""
    project = pyproject(root)
    marks = ("setup.py", "setup.cfg", "requirements.txt", "Pipfile")
    if not (project or has_pytest_suite(root) or any((root / mark).is_file() for mark in marks)):
        return []
    python = python_command(root)
    compiled = inferred(
        "python",
        f'{python} "$MORPH_SCRIPTS/bytecompile.py"',
        inputs=("**/*.py",),
        set_env=_QUIET,
    )
    return [compiled, *_type_checkers(root, python, project.get("tool") or {})]


def _type_checkers(root: Path, python: str, tool: dict[str, object]) -> list[Node]:
    nodes = []
    mypy = tool.get("mypy")
    if (
        mypy is not None
        or any((root / name).is_file() for name in ("mypy.ini", ".mypy.ini"))
        or ("mypy" in ini_sections(root / "setup.cfg"))
    ):
        chosen = isinstance(mypy, dict) and any(key in mypy for key in ("files", "packages", "modules"))
        target = "" if chosen or _ini_has_files(root) else " " + _packages(root)
        nodes.append(_checker(root, "mypy", f'{python} -m mypy --cache-dir "$MORPH_CACHE_DIR/mypy"{target}', python))
    if "pyright" in tool or (root / "pyrightconfig.json").is_file():
        nodes.append(_checker(root, "pyright", "pyright", "pyright"))
    return nodes


def _checker(root: Path, name: str, command: str, program: str) -> Node:
    if _installed(root, name, program):
        return inferred(name, command, set_env=_QUIET)
    why = f"the project configures {name}, which is not installed"
    return inferred(name, command, skip=why, warnings=(f"{why}: types were not checked",))


def _installed(root: Path, name: str, program: str) -> bool:
    from morph_tasks.verify.packages import site_folders
    from morph_tasks.verify.probe import ask

    if program == name:
        return bool(ask("which", name))
    return any(ask("file", str(folder / name)) for folder in site_folders(root, program))


def _ini_has_files(root: Path) -> bool:
    import configparser

    for name in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string((root / name).read_text("utf-8-sig"))
        except (OSError, ValueError, configparser.Error):
            continue
        if parser.has_section("mypy"):
            return any(parser.has_option("mypy", key) for key in ("files", "packages", "modules"))
    return False


def _packages(root: Path) -> str:
    if (root / "src").is_dir():
        return "src"
    found = sorted(
        path.parent.name
        for path in root.glob("*/__init__.py")
        if path.parent.name.isidentifier() and "test" not in path.parent.name
    )
    return " ".join(found) or "."
