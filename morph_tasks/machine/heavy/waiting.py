"""Why somebody waits, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.machine.heavy.memory import Memory, needed_gb
from morph_tasks.machine.heavy.records import Record, ago
from morph_tasks.machine.heavy.settings import Settings

SLOTS_FULL = "slots-full"
QUEUED = "queued"
LOW_MEMORY = "low-memory"
CLEANING = "build-server-cleanup"
LOCKED = "state-locked"


@dataclass(frozen=True)
class Waiting:
    """One look at the queue that did not end in a slot."""

    reason: str
    holders: tuple[Record, ...]
    ahead: int
    memory: Memory
    settings: Settings
    waited_s: float = 0.0

    def line(self) -> str:
        """Return one line for people."""
        waited = f"{ago(self.waited_s)} of {ago(self.settings.wait_s)}"
        return f"waiting for a heavy slot ({waited}): {self.why()}"

    def why(self) -> str:
        """Return what is in the way, naming who holds a slot."""
        held = held_by(self.holders)
        ahead = f"; {self.ahead} before this one in the queue" if self.ahead else ""
        if self.reason == LOW_MEMORY:
            return f"{self._memory()}; {held}{ahead}"
        if self.reason == CLEANING:
            return f"the build servers of .NET are being shut down{ahead}"
        if self.reason == LOCKED:
            return f"another process keeps the lock of {self.settings.folder}"
        taken = "the only slot is taken" if self.settings.slots == 1 else f"{self.settings.slots} slots"
        return f"{taken}, {held}{ahead}"

    def refusal(self) -> Refusal:
        """Return the refusal `busy` (exit 3) of a wait that was long enough."""
        return Refusal(
            "busy",
            f"no heavy slot within {ago(self.settings.wait_s)}: {self.why()}",
            fix=self._fix(),
            exit_code=3,
            status="busy",
            busy={
                "reason": self.reason,
                "holders": [holder.as_json() for holder in self.holders],
                "freeGb": self.memory.free_gb,
                "waitedMs": round(self.waited_s * 1000),
            },
        )

    def _memory(self) -> str:
        free, total = self.memory.free_gb, self.memory.total_gb
        need = needed_gb(self.settings.min_free_gb, self.memory)
        limit = f" in {self.memory.limited_by}" if self.memory.limited_by else ""
        never = ""
        if total is not None and need >= total:
            never = f", which can never be: there are {total:g} GiB in all; lower heavy.minFreeMemGb"
        return f"{free:g} GiB of memory are free{limit} and {need:g} GiB must be{never}"

    def _fix(self) -> str:
        if self.reason == LOW_MEMORY:
            return "close what uses the memory, or lower heavy.minFreeMemGb; then try again"
        if self.reason == LOCKED:
            return f"find who holds it with `fuser {self.settings.folder / 'lock'}`, then try again"
        return "try again later; `morph-spec heavy status` tells who holds the slots"


def held_by(holders: Sequence[Record]) -> str:
    """Return who holds a slot, in words."""
    return f"held by {', '.join(map(str, holders))}" if holders else "nobody holds a slot"


def quiet(_: Any) -> None:
    """Be told and say nothing."""
