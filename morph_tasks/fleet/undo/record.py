"""What an undo has done, step by step, in the journal of the finish that it takes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import now
from morph_tasks.fleet.journal import DONE, UNDOING, UNDONE

if TYPE_CHECKING:
    from morph_tasks.fleet.journal import Journal

STEPS = ("branch", "default", "tree", "folder", "files", "root", "ports")


@dataclass
class Record:
    """The key `undo` of a journal: `{state, begunAt, doneAt, withoutIgnored, steps}`."""

    journal: Journal

    @property
    def begun(self) -> bool:
        return self.journal.state == UNDOING

    def begin(self, *, without_ignored: bool) -> None:
        """Write down that the way back begins; nothing has changed before. Raises Refusal `write-failed`."""
        old = self._data() if self.begun else {}
        self.journal.data["undo"] = {
            "state": "begun",
            "begunAt": old.get("begunAt") or now(),
            "withoutIgnored": without_ignored,
            "steps": old.get("steps", {}),
        }
        self.journal.close(UNDOING)

    def step(self, name: str) -> dict[str, Any]:
        """Return what is known of a step; {} before it began."""
        found: dict[str, Any] = self._data().get("steps", {}).get(name, {}) if self.begun else {}
        return found

    def was_begun(self, name: str) -> bool:
        return bool(self.step(name))

    def is_done(self, name: str) -> bool:
        return self.step(name).get("state") == DONE

    def begin_step(self, name: str) -> None:
        self._put(name, {"state": "begun", "begunAt": now()})

    def end_step(self, name: str, **facts: Any) -> None:
        self._put(name, {"state": DONE, "doneAt": now(), **facts})

    def end(self) -> None:
        """Write down that everything is as it was before the finish."""
        self._data().update(state=DONE, doneAt=now())
        self.journal.close(UNDONE)

    def _data(self) -> dict[str, Any]:
        found: dict[str, Any] = self.journal.data.get("undo") or {}
        return found

    def _put(self, name: str, facts: dict[str, Any]) -> None:
        self._data()["steps"][name] = {**self.step(name), **facts}
        self.journal.save()
