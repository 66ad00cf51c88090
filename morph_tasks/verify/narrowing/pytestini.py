"""The configuration that pytest finds for some paths, as far as it decides which tests run."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.verify.narrowing.thresholds import ini

_FILES = (
    "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
)  # fmt: skip
_SECTIONS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
PYTHON_FILES = ("test_*.py", "*_test.py")
NO_RECURSE = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")


@dataclass(frozen=True)
class Ini:
    """What a configuration file says; `folder` is the one it stands in, None for no file at all."""

    file: Path | None = None
    folder: Path | None = None
    addopts: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()
    python_files: tuple[str, ...] = PYTHON_FILES
    no_recurse: tuple[str, ...] = NO_RECURSE
    marks: tuple[Path, ...] = ()  # what else decides the root folder of a run without configuration


def find_ini(root: Path, ancestor: str, named: str | None) -> Ini | str:
    """Return the configuration of a run whose paths have this ancestor, or why it cannot be read.

    `named` is the file that the command names, relative to the root. Looks above the root too, as pytest does.
    """
    if named is not None:
        path = root / named
        return _read(path, always=True) or f"the configuration {named} cannot be read"
    marks = []
    top = root / ancestor
    for folder in (top, *top.parents):
        for name in _FILES:
            path = folder / name
            if path.is_file():
                found = _read(path, always=name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))
                if found is not None:
                    return found
                if name == "pyproject.toml":
                    marks.append(path)
        if (folder / "setup.py").is_file():
            marks.append(folder / "setup.py")
    return Ini(marks=tuple(marks))


def ancestor_of(root: Path, paths: Sequence[str]) -> str:
    """Return the common folder of files and folders relative to the root."""
    folders = [path if (root / path).is_dir() else posixpath.dirname(path) or "." for path in paths]
    split = [[] if folder == "." else folder.split("/") for folder in folders]
    shared = []
    for steps in zip(*split, strict=False):
        if len(set(steps)) > 1:
            break
        shared.append(steps[0])
    return "/".join(shared) or "."


def _read(path: Path, *, always: bool) -> Ini | str | None:
    """Return what a file says; None when it says nothing to pytest; a reason when it cannot be read."""
    table = _toml(path) if path.suffix == ".toml" else _ini(path)
    if isinstance(table, str):
        return table
    if table is None:
        return Ini(path, path.parent) if always else None
    try:
        addopts = _listed(table.get("addopts"), split=True)
    except ValueError:
        return f"`addopts` of {path.name} cannot be read"
    return Ini(
        path,
        path.parent,
        addopts,
        _listed(table.get("testpaths"), split=True),
        _listed(table.get("python_files")) or PYTHON_FILES,
        _listed(table.get("norecursedirs")) if "norecursedirs" in table else NO_RECURSE,
    )


def _toml(path: Path) -> dict[str, Any] | str | None:
    import tomllib

    try:
        data: Any = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return f"{path.name} cannot be read"
    if path.name == "pyproject.toml":
        data = data.get("tool")
        data = data.get("pytest") if isinstance(data, dict) else None
        if not isinstance(data, dict):
            return None
        old = data.get("ini_options")
        return old if isinstance(old, dict) else data
    found = data.get("pytest")
    return found if isinstance(found, dict) else {}


def _ini(path: Path) -> dict[str, Any] | str | None:
    parser = ini(path)
    if parser is None:
        return f"{path.name} cannot be read"
    section = _SECTIONS.get(path.name, "pytest")
    if not parser.has_section(section):
        section = "tool:pytest"
    return dict(parser.items(section)) if parser.has_section(section) else None


def _listed(value: Any, *, split: bool = False) -> tuple[str, ...]:
    """Return a setting as words; raises ValueError for a quote without its end."""
    if isinstance(value, list):
        return tuple(str(one) for one in value)
    if not isinstance(value, str):
        return ()
    return tuple(shlex.split(value) if split else value.split())
