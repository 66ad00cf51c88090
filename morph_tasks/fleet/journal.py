"""What a finish did, step by step, on disk before and after each: from it a run resumes, and `undo` goes back.

One file a finish: `<git-common-dir>/morph-spec/finish/<feature>/<stamp>.json`, private to the user.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import now
from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.fleet.walking import make_private
from morph_tasks.repo.files import read_json, write_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

STEPS = ("preflight", "archive", "integrate", "teardown", "retention")
OPEN, DONE, UNDOING, UNDONE = "open", "done", "undoing", "undone"
_STATES = (OPEN, DONE, UNDOING, UNDONE)
_PLANNED = frozenset(
    {"mode", "options", "branch", "branchTip", "default", "defaultTip", "ownerTree", "linked", "primary"}
    | {"portsKey", "portsBase", "links", "keepTree"}
)


@dataclass
class Journal:
    """One finish. `data["plan"]` holds what was decided before anything changed, `data["steps"]` what was done."""

    path: Path
    data: dict[str, Any]

    @property
    def stamp(self) -> str:
        return str(self.data["stamp"])

    @property
    def feature(self) -> str:
        return str(self.data["feature"])

    @property
    def state(self) -> str:
        return str(self.data["state"])

    @property
    def plan(self) -> dict[str, Any]:
        found: dict[str, Any] = self.data["plan"]
        return found

    def step(self, name: str) -> dict[str, Any]:
        """Return what is known of a step; {} before it began."""
        found: dict[str, Any] = self.data["steps"].get(name, {})
        return found

    def is_done(self, name: str) -> bool:
        return self.step(name).get("state") == DONE

    def begin(self, name: str, **facts: Any) -> None:
        """Write down that a step is about to change something, with what it will need when it is killed."""
        self._put(name, {"state": "begun", "begunAt": now()}, facts)

    def done(self, name: str, **facts: Any) -> None:
        """Write down that a step has done its work."""
        self._put(name, {"state": DONE, "doneAt": now()}, facts)

    def close(self, state: str) -> None:
        """Give the journal its state: `done`, `undoing` while an undo is under way, `undone`."""
        self.data["state"] = state
        self.save()

    def save(self) -> None:
        """Write the journal, whole or not at all; raises Refusal `write-failed`."""
        write_json(self.path, self.data, mode=0o600)

    def note(self, name: str, **facts: Any) -> None:
        """Keep facts of a step until the next write: what they tell can be found out again."""
        self.data["steps"][name] = {**self.step(name), **facts}

    def _put(self, name: str, state: dict[str, Any], facts: dict[str, Any]) -> None:
        self.note(name, **state, **facts)
        self.save()


def start(repo: Repo, feature: str, plan: dict[str, Any], *, write: bool = True) -> Journal:
    """Begin the journal of a finish; raises Refusal `write-failed`. `write`: at once, or with what comes next."""
    stamp = new_stamp()
    path = _folder(repo, feature) / f"{stamp}.json"
    make_private(path.parent)
    data = {"version": 1, "feature": feature, "stamp": stamp, "state": OPEN, "plan": plan, "steps": {}}
    journal = Journal(path, data)
    if write:
        journal.save()
    return journal


def latest(repo: Repo, feature: str) -> Journal | None:
    """Return the newest journal of a feature; raises Refusal `corrupt-file`, `unreadable-file`."""
    paths = sorted(_folder(repo, feature).glob("*.json"))
    if not paths:
        return None
    fix = f"mv {shlex.quote(str(paths[-1]))} <elsewhere>: a finish then tells by the branch how far it has come"
    try:
        data = read_json(paths[-1])
    except Refusal as refusal:
        if refusal.code != "corrupt-file":
            raise
        raise Refusal(refusal.code, refusal.what, fix=fix, **refusal.payload) from refusal
    if not _is_whole(data):
        raise Refusal("corrupt-file", f"{paths[-1]} is no journal of a finish that this version knows", fix=fix)
    return Journal(paths[-1], data)


def newest(repo: Repo) -> Iterator[Journal]:
    """Yield the newest journal of each feature, those that cannot be read left out."""
    top = repo.store / "finish"
    for feature in sorted(os.listdir(top)) if top.is_dir() else ():
        with suppress(Refusal):
            journal = latest(repo, feature)
            if journal:
                yield journal


def _is_whole(data: Any) -> bool:
    """Tell whether a journal says all that a run that takes it up goes by."""
    if not isinstance(data, dict) or data.get("version") != 1 or data.get("state") not in _STATES:
        return False
    plan, steps = data.get("plan"), data.get("steps")
    if not (isinstance(plan, dict) and isinstance(steps, dict) and plan.keys() >= _PLANNED):
        return False
    return {"feature", "stamp"} <= data.keys() and all(isinstance(step, dict) for step in steps.values())


def _folder(repo: Repo, feature: str) -> Path:
    return repo.store / "finish" / feature
