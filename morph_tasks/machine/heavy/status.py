"""Who holds the slots, who waits, and how much memory is free; looking changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from morph_tasks.machine.heavy import memory, records
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.memory import Memory, needed_gb
from morph_tasks.machine.heavy.records import Record
from morph_tasks.machine.heavy.settings import Settings


@dataclass(frozen=True)
class Status:
    """One look. `stale` are slots that the next one who comes takes over."""

    settings: Settings
    holders: tuple[Record, ...]
    stale: tuple[Record, ...]
    waiting: tuple[Record, ...]
    cleaners: tuple[Record, ...]
    memory: Memory

    def as_json(self) -> dict[str, Any]:
        """Return the document of `heavy status --json`."""
        settings = self.settings
        return {
            "ok": True,
            "enabled": settings.enabled,
            "folder": str(settings.folder),
            "slots": settings.slots,
            "holders": [record.as_json() for record in self.holders],
            "stale": [{**record.as_json(), "reason": _stale_because(record)} for record in self.stale],
            "waiting": [
                {**record.as_json(), "position": place, "stopped": record.stopped()}
                for place, record in enumerate(self.waiting, 1)
            ],
            "cleanup": self.cleaners[0].as_json() if self.cleaners else None,
            "freeGb": self.memory.free_gb,
            "totalGb": self.memory.total_gb,
            "neededGb": round(needed_gb(settings.min_free_gb, self.memory), 2),
            "limitedBy": self.memory.limited_by or None,
        }

    def lines(self) -> list[str]:
        """Return the same for people."""
        settings = self.settings
        off = "" if settings.enabled else " (switched off here: heavy jobs take no slot)"
        said = [f"{len(self.holders)} of {settings.slots} heavy slots are held{off}"]
        said += [f"  {record}{_where(record)}" for record in self.holders]
        said += [f"  {record}: free, since {_stale_because(record)}" for record in self.stale]
        for place, record in enumerate(self.waiting, 1):
            said.append(f"  waiting {place}: {record}{' (stopped)' if record.stopped() else ''}{_where(record)}")
        said += [f"  the build servers of .NET are being shut down by {record}" for record in self.cleaners]
        return [*said, self._memory_line(), f"kept in {settings.folder}"]

    def _memory_line(self) -> str:
        need = f"{needed_gb(self.settings.min_free_gb, self.memory):g} GiB must be for a heavy job"
        if self.memory.free_gb is None:
            return "free memory: this system does not tell, so heavy jobs do not wait for it"
        limit = f" (limited by {self.memory.limited_by})" if self.memory.limited_by else ""
        return f"{self.memory.free_gb:g} of {self.memory.total_gb or 0:g} GiB of memory are free{limit}; {need}"


def status(settings: Settings) -> Status:
    """Look at the slots of this user; raises Refusal `state-unwritable` when the folder cannot be read."""
    ledger = Ledger(settings.folder, settings.max_hold_s)
    holders = ledger.holders()
    living = {record.path for record in holders}
    stale = tuple(record for record in ledger.everybody() if record.path not in living)
    return Status(settings, tuple(holders), stale, tuple(ledger.tickets()), tuple(ledger.cleaners()), memory.look())


def _stale_because(record: Record) -> str:
    return "its process is gone" if record.dead() else f"it is {records.ago(record.age_s())} old"


def _where(record: Record) -> str:
    return f" in {record.text('cwd')}" if record.text("cwd") else ""
