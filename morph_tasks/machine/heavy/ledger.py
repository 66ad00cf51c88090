"""The folder of the slots: who holds one, who waits for one, and the lock under which that changes."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.machine.heavy import records
from morph_tasks.machine.heavy.records import Record
from morph_tasks.machine.identity import Identity

# Whoever has the lock keeps it for about a millisecond.
_QUICK_S, _QUICK_POLL_S, _SLOW_POLL_S = 2.0, 0.002, 0.25
# A ticket outlives the time its process wanted to wait by no more than this; a clean-up takes 30 s.
_TICKET_GRACE_S, CLEANING_S = 60.0, 60.0


@dataclass(frozen=True)
class Ledger:
    """The state of one user. Records change place by a rename, so that a killed process leaves no half of one."""

    folder: Path
    max_hold_s: float

    @property
    def held(self) -> Path:
        return self.folder / "held"

    @property
    def queue(self) -> Path:
        return self.folder / "queue"

    @property
    def cleaning(self) -> Path:
        return self.folder / "cleaning"

    def prepare(self) -> None:
        """Make the folders; raises Refusal `state-unwritable`."""
        try:
            for folder in (self.held, self.queue, self.cleaning):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from None

    @contextmanager
    def locked(self, wait_s: float) -> Iterator[None]:
        """Hold the lock; raises TimeoutError, or Refusal `state-unwritable`."""
        from filelock import FileLock, Timeout

        lock = FileLock(str(self.folder / "lock"), mode=0o600)
        quick = min(wait_s, _QUICK_S)
        try:
            try:
                lock.acquire(timeout=quick, poll_interval=_QUICK_POLL_S)
            except Timeout:
                if wait_s <= quick:
                    raise
                # Its holder was stopped in the middle: there is no hurry any more.
                lock.acquire(timeout=wait_s - quick, poll_interval=_SLOW_POLL_S)
        except Timeout:
            raise TimeoutError from None
        except OSError as error:
            raise unwritable(self.folder, error) from None
        try:
            yield
        finally:
            lock.release()

    def holders(self, *, sweep: bool = False) -> list[Record]:
        """Return who holds a slot, the oldest first; `sweep` (under the lock) removes what nobody holds any more."""
        return self._living(self.held, self.max_hold_s, sweep)

    def everybody(self) -> list[Record]:
        """Return all that lies where slots are held, whether or not anybody still holds it."""
        return [record for path in _listed(self.held, foreign=True) if (record := records.read(path)) is not None]

    def cleaners(self, *, sweep: bool = False) -> list[Record]:
        """Return the clean-up that nobody may run beside, if there is one."""
        return self._living(self.cleaning, CLEANING_S, sweep)

    def tickets(self, *, sweep: bool = False) -> Iterator[Record]:
        """Yield who waits, in order; lazily, since who stands first is what matters."""
        for path in _listed(self.queue):
            ticket = records.read(path)
            if ticket is None:
                continue
            wait_s = ticket.said.get("waitS")
            bound = float(wait_s) if isinstance(wait_s, int | float) else self.max_hold_s
            if ticket.dead() or ticket.age_s() > bound + _TICKET_GRACE_S:
                if sweep:
                    self.forget(path)
                continue
            yield ticket

    def before(self, ticket: Path | None) -> int:
        """Count the tickets before one, by their names alone; None is one that is not drawn yet."""
        names = [path.name for path in _listed(self.queue)]
        return sum(name < ticket.name for name in names) if ticket else len(names)

    def put(self, folder: Path, process: Identity, said: Mapping[str, Any], number: int | None = None) -> Path:
        """Write a record, under the lock; without a number it gets the next one. Raises Refusal `state-unwritable`."""
        number = self._next() if number is None else number
        path = folder / records.name_of(number, process)
        beside = path.with_suffix(".tmp")
        try:
            # Not synced: nothing of this means anything after a restart of the machine.
            beside.write_bytes(json.dumps({**said, "process": process.as_json()}).encode("utf-8", "replace"))
            os.replace(beside, path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise unwritable(folder, error) from None
        return path

    def forget(self, path: Path) -> None:
        """Remove a record and the pipe its process was woken by. Needs no lock, and never fails."""
        for gone in (path, _pipe(path)):
            with suppress(OSError):
                gone.unlink()

    def open_pipe(self, path: Path) -> int | None:
        """Return the reading end of a ticket's pipe; None where the file system has no pipes."""
        try:
            os.mkfifo(_pipe(path), 0o600)
            # For writing as well: else every writer that goes away would look like a message.
            return os.open(_pipe(path), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None

    def wake(self, most: int) -> None:
        """Tell the first of those who wait that something changed; who is gone is passed over."""
        with suppress(Refusal):
            self._wake(most)

    def _wake(self, most: int) -> None:
        for path in _listed(self.queue):
            if most <= 0:
                return
            with suppress(OSError):
                handle = os.open(_pipe(path), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    os.write(handle, b"!")
                    most -= 1
                except BlockingIOError:
                    most -= 1  # told many times already
                finally:
                    os.close(handle)

    def tidy(self) -> None:
        """Remove, under the lock, what killed processes left besides records."""
        for folder in (self.held, self.queue, self.cleaning):
            with suppress(OSError):
                for entry in os.scandir(folder):
                    orphan = entry.name.endswith(".fifo") and not os.path.exists(entry.path.removesuffix(".fifo"))
                    if orphan or entry.name.endswith(".tmp"):
                        os.unlink(entry.path)

    def _living(self, folder: Path, most_s: float, sweep: bool) -> list[Record]:
        found = []
        for path in _listed(folder, foreign=True):
            record = records.read(path)
            if record is None:
                continue
            if record.dead() or record.age_s() > most_s:
                if sweep:
                    self.forget(path)
            else:
                found.append(record)
        return found

    def _next(self) -> int:
        """Return a number above all others; by the clock, so that it also rises while nobody is there."""
        known = [records.number_of(path.name) or 0 for folder in (self.queue, self.held) for path in _listed(folder)]
        return max([time.time_ns(), *(number + 1 for number in known)])


def unwritable(folder: Path, error: OSError) -> Refusal:
    """Return the refusal of a state folder that cannot be used."""
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        with suppress(OSError):
            owner = os.stat(folder).st_uid
            why += "" if owner == os.geteuid() else f"; it belongs to user {owner}"
    return Refusal(
        "state-unwritable",
        f"the slots for heavy jobs cannot be kept in {folder}: {why}",
        fix="set MORPH_HEAVY_DIR to a folder that you can write, or MORPH_HEAVY=off to run without slots",
    )


def _listed(folder: Path, *, foreign: bool = False) -> list[Path]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unwritable(folder, error) from None
    if foreign:
        return [folder / name for name in sorted(names) if name.endswith(".json")]
    return [folder / name for name in sorted(names) if records.number_of(name) is not None]


def _pipe(path: Path) -> Path:
    return path.with_name(f"{path.name}.fifo")
