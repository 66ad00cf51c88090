"""The command behind `npm test` and its like: one script of a package, as it is written there."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.verify.narrowing.line import parse
from morph_tasks.verify.narrowing.program import base_name

_QUIET = frozenset({"-s", "--silent", "--if-present"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})


@dataclass(frozen=True)
class Spelled:
    """A command, the folder it runs in, and what its environment has on top."""

    command: str
    folder: Path
    env: dict[str, str] = field(default_factory=dict)


def spelled(folder: Path, command: str) -> Spelled | str:
    """Return the text of the script that a command runs, else the command itself; or why neither can be told."""
    line = parse(command)
    if isinstance(line, str):
        return line
    words = [word.text for word in line.words[line.first :]]
    name = _script_of(words)
    if name is None:
        return Spelled(command, folder)
    scripts = _scripts(folder)
    text = scripts.get(name)
    if not isinstance(text, str):
        # `pnpm vitest run` calls the program itself.
        return Spelled(command, folder)
    if len([word for word in words if word not in _QUIET]) > (3 if words[1] in ("run", "run-script") else 2):
        return f"the command hands words to the script {name}"
    inner = parse(text)
    if isinstance(inner, str):
        return f"the script {name}: {inner}"
    if _script_of([word.text for word in inner.words[inner.first :]]) in scripts:
        return f"the script {name} runs another script"
    assigned = "".join(f"{command[word.start : word.end]} " for word in line.words[: line.first])
    return Spelled(assigned + text, folder, {"PATH": _path(folder)})


def _script_of(words: list[str]) -> str | None:
    """Return the name of the script that a call of a package manager runs; None for another program."""
    if len(words) < 2 or base_name(words[0]) not in _MANAGERS:
        return None
    plain = [word for word in words[1:] if word not in _QUIET]
    if plain[:1] in (["run"], ["run-script"]):
        return plain[1] if len(plain) > 1 else None
    if base_name(words[0]) == "bun":
        return None  # `bun test` is its own runner
    if plain[:1] in (["test"], ["t"], ["tst"]):
        return "test"
    return plain[0] if plain and base_name(words[0]) in ("yarn", "pnpm") else None


def _scripts(folder: Path) -> dict[str, Any]:
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import read_json

    try:
        data = read_json(folder / "package.json")
    except (OSError, Refusal):
        return {}
    found = data.get("scripts") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _path(folder: Path) -> str:
    """Return the PATH that a script has: the programs of the packages of this folder and those above come first."""
    places = [str(above / "node_modules" / ".bin") for above in (folder, *folder.parents)]
    return os.pathsep.join([*places, os.environ.get("PATH", os.defpath)])
