"""Whose scenario a bare `[C3]` is, in a repository where several features have a C3."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.scenarios.owed import Owed

_ID = re.compile(r"\bC\d+\b")


def belonging(repo: Repo, feature: str, plan: Owed) -> Callable[[str, str | None], str | None]:
    """Return the judge of bare ids: why a test of a file does not speak for a feature, None when it does.

    An id that no other feature has is this feature's. Otherwise the file decides: the plan names it, or the feature
    changed it. What this costs is paid when the first such id is asked for.
    """
    others: dict[str, str] | None = None
    own: frozenset[str] | None = None

    def judge(name: str, file: str | None) -> str | None:
        nonlocal others, own
        if others is None:
            others = ids_of_others(repo.root, feature)
        if name not in others:
            return None
        if own is None:
            own = plan.files | changed_files(repo)
        if file and any(file == path or file.startswith(f"{path}/") for path in own):
            return None
        return f"{others[name]} has it too, and neither the plan nor the changes of {feature} touch this file"

    return judge


def ids_of_others(root: Path, feature: str) -> dict[str, str]:
    """Return the scenario ids of all other features of a tree, active and archived, with one that has it."""
    found: dict[str, str] = {}
    for place in ("features", "archive"):
        folder = root / ".morph" / place
        ask("file", str(folder))
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            if name != feature:
                found |= dict.fromkeys(_ids(folder / name / "2-plan"), name)
    return found


def _ids(folder: Path) -> set[str]:
    """Return the scenario ids of a feature: by its `checks.json`, and by its plan where that says more."""
    from morph_tasks.repo.files import read_json

    checks, plan = folder / "checks.json", folder / "plan.md"
    found: set[str] = set()
    for path in (checks, plan):
        ask("file", str(path))
    with suppress(OSError, Refusal, KeyError, TypeError):
        found |= {str(one["id"]) for one in read_json(checks)["scenarios"]}
    try:
        text = plan.read_text("utf-8", "replace")
    except OSError:
        return found
    named = set(_ID.findall(text)) - found
    # Nearly every plan was checked: the parser is for the one that was not, or that has changed since.
    return found | _planned(text, named) if named else found


def _planned(text: str, named: set[str]) -> set[str]:
    """Return the scenarios of a plan; all ids that it names when it cannot be parsed."""
    from morph_tasks.plan.grammar import parse

    try:
        return {one.id for one in parse(text).scenarios}
    except Refusal:
        return named


def changed_files(repo: Repo) -> frozenset[str]:
    """Return the files that differ from where the work of this tree began, as far as that can be told."""
    from morph_tasks.verify.validators.base import find_base

    try:
        base = find_base(repo).tree
        if base is None:
            return frozenset()
        said = repo.git("diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", base, "--")
        said += repo.git("ls-files", "-z", "-o", "--exclude-standard")
    except Refusal:
        return frozenset()
    return frozenset(os.fsdecode(path) for path in said.split(b"\0") if path)
