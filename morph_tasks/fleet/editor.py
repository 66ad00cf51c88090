"""`.vscode/settings.json`: keep an editor that has the main tree open from watching all the others.

Nothing but missing keys is ever added, and only to a file in which no character can be lost by it.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import parse_json, write_atomic

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

SETTINGS = ".vscode/settings.json"
VARIABLE = "MORPH_EDITOR_SETTINGS"
_TREES = ("**/worktrees/**", "**/.worktrees/**", "**/node_modules/**")
_BUILT = ("**/bin/**", "**/obj/**")
_SECTIONS = ("files.watcherExclude", "search.exclude", "files.exclude")
_BOM = b"\xef\xbb\xbf"
_PROJECTS = (".sln", ".slnx", ".csproj")
_TRAILING = r",(\s*[}\]])"
_IN_STRING = r'"(?:[^"\\]|\\.)*"'


@dataclass(frozen=True)
class EditorSettings:
    """What became of the file: `created`, `updated`, `unchanged`, `off`, or `suggest` with what a person can paste."""

    status: str
    reason: str = ""
    snippet: str = ""

    def as_json(self) -> dict[str, Any]:
        said = {"status": self.status, "path": SETTINGS}
        return said | ({"reason": self.reason, "snippet": self.snippet} if self.status == "suggest" else {})


def settle_editor(primary: Repo, config: Config) -> EditorSettings:
    """Add what is missing to the settings of the main tree; raises nothing that is expected."""
    block = config.data.get("worktree")
    said_no = isinstance(block, dict) and block.get("editorSettings") is False
    if said_no or os.environ.get(VARIABLE) == "0":
        return EditorSettings("off")
    wanted = {section: dict.fromkeys(_globs(section, primary.root, config), True) for section in _SECTIONS}
    path = primary.root / SETTINGS
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if os.path.lexists(path):
            return _suggest("unreadable", wanted)
        return _create(primary, path, wanted)
    except OSError:
        return _suggest("unreadable", wanted)
    try:
        return _update(primary, path, raw, wanted)
    except Refusal:
        return _suggest("unreadable", wanted)


def _globs(section: str, root: Path, config: Config) -> tuple[str, ...]:
    # Where there is no .NET, `bin` may hold source code, which must not vanish from the explorer.
    hides = section == "files.exclude"
    return _TREES if hides and not _is_dotnet(root, config) else (*_TREES, *_BUILT)


def _is_dotnet(root: Path, config: Config) -> bool:
    stack = config.project.get("stack") or ""
    declared = "dotnet" in [tag.strip().lower() for tag in stack.split("+")]
    return declared or any(name.endswith(_PROJECTS) for name in os.listdir(root))


def _create(primary: Repo, path: Path, wanted: dict[str, dict[str, bool]]) -> EditorSettings:
    from morph_tasks.fleet.excludes import exclude

    if os.path.islink(path.parent):
        return _suggest("link", wanted)
    try:
        # Before the file is there: a new file would make the main tree dirty.
        exclude(primary, [SETTINGS])
        write_atomic(path, (json.dumps(wanted, indent=2) + "\n").encode())
    except Refusal:
        return _suggest("unwritable", wanted)
    return EditorSettings("created")


def _update(primary: Repo, path: Path, raw: bytes, wanted: dict[str, dict[str, bool]]) -> EditorSettings:
    from morph_tasks.model.jsonedit import add_members

    bom = raw.startswith(_BOM)
    try:
        text = raw.removeprefix(_BOM).decode("utf-8")
        said = parse_json(raw, path, unique=True) if text.strip() else None
    except UnicodeDecodeError:
        return _suggest("unreadable", wanted)
    except Refusal:
        return _suggest(_why_unreadable(text), wanted)
    if not isinstance(said, dict) or not all(isinstance(said.get(section, {}), dict) for section in wanted):
        return _suggest("not-an-object", wanted)
    missing = {
        section: {glob: True for glob in globs if glob not in said.get(section, {})}
        for section, globs in wanted.items()
    }
    missing = {section: globs for section, globs in missing.items() if globs}
    if not missing:
        return EditorSettings("unchanged")
    if os.path.islink(path) or os.path.islink(path.parent):
        return _suggest("link", missing)
    if primary.git("ls-files", "-z", "--", f":(top,literal){SETTINGS}"):
        return _suggest("tracked", missing)
    for section, globs in missing.items():
        text = add_members(text, [section], globs)
    write_atomic(path, (_BOM if bom else b"") + text.encode("utf-8"))
    return EditorSettings("updated")


def _why_unreadable(text: str) -> str:
    plain = re.sub(_IN_STRING, '""', text)
    if "//" in plain or "/*" in plain:
        return "comments"
    repaired = re.sub(_TRAILING, r"\1", plain)
    with suppress(ValueError):
        json.loads(repaired)
        return "trailing-comma" if repaired != plain else "unreadable"
    return "unreadable"


def _suggest(reason: str, missing: dict[str, dict[str, bool]]) -> EditorSettings:
    return EditorSettings("suggest", reason, json.dumps(missing, indent=2))
