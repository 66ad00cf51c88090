"""Build folders of .NET, kept out of git before the first build fills them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.ignores import add_lines
from morph_tasks.features.store import FEATURES
from morph_tasks.repo.files import read_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

LINES = ("bin/", "obj/")
_PERSONAS = {"dotnet-senior", "ef-modeler", "maf-expert"}
_FILES = ("*.csproj", "*.sln", "*.slnx")
_NOT_OURS = {"worktrees", ".worktrees", "node_modules", "bin", "obj"}


def seed_build_ignores(repo: Repo, slug: str) -> list[str]:
    """Add `bin/` and `obj/` to the root's `.gitignore` in a .NET project; return the lines that were missing."""
    return add_lines(repo.root / ".gitignore", LINES) if is_dotnet(repo, slug) else []


def is_dotnet(repo: Repo, slug: str) -> bool:
    """Tell by the declared stack, by who works on the slices, or by project files in the tree."""
    return _declared(repo) or _planned(repo, slug) or _present(repo)


def _declared(repo: Repo) -> bool:
    from morph_tasks.model.load import load_config

    stack = load_config(repo).project.get("stack") or ""
    return "dotnet" in [tag.strip().lower() for tag in stack.split("+")]


def _planned(repo: Repo, slug: str) -> bool:
    checks: Any = None
    with suppress(OSError, Refusal):
        checks = read_json(repo.root / FEATURES / slug / "2-plan" / "checks.json")
    slices = checks.get("slices") if isinstance(checks, dict) else None
    return any(isinstance(one, dict) and one.get("persona") in _PERSONAS for one in slices or ())


def _present(repo: Repo) -> bool:
    listed = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_FILES)
    paths = [os.fsdecode(path) for path in listed.split(b"\0") if path]
    return any(not _NOT_OURS & set(path.split("/")[:-1]) for path in paths)
