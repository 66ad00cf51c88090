"""The languages that are read: which files are theirs, who reads one, and how its files make a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from morph_tasks.codegraph.recovery.model import Facts
from morph_tasks.codegraph.recovery.program import Program

# suffix -> (module, language)
_BY_SUFFIX = {
    ".py": "python",
    ".pyi": "python",
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"), "script"),
    ".go": "golang",
    ".cs": "csharp",
}
_WORLDS = {
    "python": ("worlds_python", "PythonWorld"),
    "csharp": ("worlds_csharp", "CSharpWorld"),
    "go": ("worlds_go", "GoWorld"),
    "script": ("worlds_script", "ScriptWorld"),
}


def reader(path: str) -> Callable[..., Facts] | None:
    """Return the function that reads a file; None for a language that is not read."""
    language = _BY_SUFFIX.get("." + path.rpartition(".")[2])
    return _reader(language) if language else None


@cache
def _reader(language: str) -> Callable[..., Facts]:
    found: Callable[..., Facts] = import_module(f"morph_tasks.codegraph.recovery.{language}").read
    return found


def programs(root: Path, facts: list[Facts]) -> Iterator[tuple[Program, Callable[[Any], None] | None]]:
    """Yield a program a language, and what is to be noted of it beside its uses."""
    for language, (module, name) in _WORLDS.items():
        files = [one for one in facts if one.language == language]
        if files:
            program = Program(files)
            program.world = getattr(import_module(f"morph_tasks.codegraph.recovery.{module}"), name)(program, root)
            yield program, getattr(program.world, "extra", None)
