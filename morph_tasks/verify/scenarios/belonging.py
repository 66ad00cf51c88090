"""Whose scenario a bare `[C3]` is, in a repository where several features have a C3."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.scenarios.owed import Owed


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
                found |= dict.fromkeys(_ids(folder / name / "2-plan" / "checks.json"), name)
    return found


def _ids(path: Path) -> list[str]:
    from morph_tasks.repo.files import read_json

    ask("file", str(path))
    try:
        return [str(one["id"]) for one in read_json(path)["scenarios"]]
    except (OSError, Refusal, KeyError, TypeError):
        return []


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
