"""The personas that a slice may name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.framework_files import framework_path
from morph_tasks.repo.files import read_json

if TYPE_CHECKING:
    from pathlib import Path

OWN = ".morph/framework/agents.json"
DESIGNER = "ui-designer"


@dataclass(frozen=True)
class Agents:
    """The ids of the personas, and the surfaces that the designer of interfaces knows."""

    ids: tuple[str, ...]
    surfaces: tuple[str, ...] = ()
    where: str = "agents.json"


def read_agents(root: Path) -> Agents:
    """Read the project's `agents.json`, or the one that comes with the package.

    Raises Refusal `corrupt-file`, `unreadable-file` or `invalid-agents`, each naming the file.
    """
    try:
        return agents_of(read_json(root / OWN), OWN)
    except (FileNotFoundError, NotADirectoryError):
        path = framework_path("agents.json")
        return agents_of(read_json(path), "agents.json of the package")


def agents_of(data: Any, where: str) -> Agents:
    """Return the personas in parsed JSON; raises Refusal `invalid-agents` naming what is wrong."""
    rows = data.get("agents") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise _invalid(where, 'it is `{"agents": [{"id": …}]}`')
    ids: dict[str, None] = {}
    surfaces: list[str] = []
    for at, row in enumerate(rows):
        place = f"agents[{at}]"
        name = row.get("id") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name.strip() or name != name.strip():
            raise _invalid(where, f"{place} needs an `id`, a text without blanks around it")
        if name in ids:
            raise _invalid(where, f"{place}.id repeats {name!r}")
        ids[name] = None
        known = row.get("surfaces", {})
        if not isinstance(known, dict):
            raise _invalid(where, f"{place}.surfaces is an object, one key a surface")
        surfaces += known if name == DESIGNER else ()
    return Agents(tuple(ids), tuple(surfaces), where)


def _invalid(where: str, what: str) -> Refusal:
    return Refusal("invalid-agents", f"{where}: {what}", fix=f"repair {where}, or restore it from git")
