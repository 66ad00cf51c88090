"""Finishes that were begun and not ended, read from their journals without a refusal: boards show what they can."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet.github import Pull
from morph_tasks.fleet.journal import OPEN, UNDOING, Journal
from morph_tasks.repo.files import read_json
from morph_tasks.repo.trees import feature_branch

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def unfinished(repo: Repo) -> dict[str, Journal]:
    """Return the newest journal of each feature whose finish, or the undo of it, was begun and not ended.

    One that cannot be read is not among them. A journal is only parsed when its bytes promise something: there is one
    for every feature that was ever finished.
    """
    found = {}
    top = repo.store / "finish"
    for feature in sorted(os.listdir(top)) if top.is_dir() else ():
        with suppress(OSError, Refusal, ValueError, KeyError, TypeError):
            last = _last(top / feature)
            told = last.read_bytes()
            if any(f'"{state}"'.encode() in told for state in (OPEN, UNDOING)):
                journal = Journal(last, read_json(last))
                if journal.state in (OPEN, UNDOING) and isinstance(journal.plan, dict):
                    found[feature] = journal
    return found


def noted_pull(repo: Repo, feature: str) -> Pull | None:
    """Return the pull request that the last finish of a feature noted, without a state; None when none can be read."""
    with suppress(OSError, Refusal, KeyError, TypeError, ValueError):
        data: Any = read_json(_last(repo.store / "finish" / feature))
        told, base = data["steps"]["integrate"]["pr"], str(data["plan"]["default"])
        return Pull(int(told["number"]), "", str(told["url"]), feature_branch(feature), base)
    return None


def _last(folder: Path) -> Path:
    """Return the newest journal in a folder; raises OSError, ValueError where there is none."""
    return folder / max(name for name in os.listdir(folder) if name.endswith(".json"))


def again(journal: Journal) -> str:
    """Return the command that goes on with a finish, or with the undo of one, with what was asked for."""
    from morph_tasks.fleet.finish.wish import of_journal

    if journal.state != OPEN:
        return f"morph-spec undo {shlex.quote(journal.feature)}"
    return of_journal(journal.plan).command(journal.feature)
