"""Slots for heavy jobs, shared by all sessions of one user: first come, first served, and none is lost to a crash."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from morph_tasks.machine import identity
from morph_tasks.machine.heavy import memory, records, waiting
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.memory import Memory
from morph_tasks.machine.heavy.records import Record
from morph_tasks.machine.heavy.settings import FOLDER, LEASE, Settings, child_env
from morph_tasks.machine.heavy.waiting import Waiting, quiet
from morph_tasks.machine.identity import Identity

OnWait = Callable[[Waiting], None]

_POLL_S = 0.25
_FAR_POLL_S = 1.0
_TELL_S = 30.0
_ALL = 1_000_000


@dataclass
class Lease:
    """A slot that is held. `env` is what children need; `inherited`: somebody around us holds it and gives it back."""

    env: dict[str, str] = field(default_factory=dict)
    path: Path | None = None
    inherited: bool = False
    waited_ms: int = 0


@dataclass(frozen=True)
class Job:
    """What a slot is taken for. A slot of a `run` serves all processes of that run, and belongs to `owner`."""

    label: str
    feature: str = ""
    node: str = ""
    run: str = ""
    owner: Identity | None = None


@contextmanager
def slot(
    label: str,
    *,
    settings: Settings,
    feature: str | None = None,
    node: str | None = None,
    run: str = "",
    owner: Identity | None = None,
    on_wait: OnWait | None = None,
) -> Iterator[Lease]:
    """Hold a slot, or use the one that is held around us.

    Waits `settings.wait_s` at most, telling `on_wait` at once and every 30 s. Raises Refusal `busy` (exit 3, payload
    `status` and `busy`) after that, `state-unwritable`.
    """
    lease = acquire(Job(label, feature or "", node or "", run, owner), settings, on_wait or quiet)
    try:
        yield lease
    finally:
        release(lease, settings)


def acquire(job: Job, settings: Settings, on_wait: OnWait = quiet) -> Lease:
    """Take a slot as `slot` does; `release` gives it back."""
    extra = child_env(settings)
    if not settings.enabled:
        return Lease(extra)
    around = _around(settings)
    if around is not None:
        return Lease(_env(around, settings) | extra, around, inherited=True)
    ledger = Ledger(settings.folder, settings.max_hold_s)
    ledger.prepare()
    turn = _Turn(ledger, job, settings)
    lease = turn.wait(on_wait)
    with _guard:
        if lease.inherited:
            _joined.add((os.getpid(), str(lease.path)))
        else:
            _ours[(os.getpid(), str(lease.path))] = 1
    lease.env.update(extra)
    return lease


def release(lease: Lease, settings: Settings) -> None:
    """Give a slot back and wake who is next; of an inherited one only the use of it ends. Never fails."""
    if lease.path is None:
        return
    key = (os.getpid(), str(lease.path))
    with _guard:
        if key not in _ours:
            return
        _ours[key] -= 1
        if _ours[key] > 0:
            return
        del _ours[key]
    ledger = Ledger(settings.folder, settings.max_hold_s)
    ledger.forget(lease.path)
    ledger.wake(settings.slots)


def release_run(run: str, settings: Settings) -> None:
    """Give back the slot of a run, whichever of its processes took it. Never fails."""
    ledger = Ledger(settings.folder, settings.max_hold_s)
    with suppress(Exception):
        for record in ledger.holders():
            if run and record.text("run") == run:
                ledger.forget(record.path)
        ledger.wake(settings.slots)


def _around(settings: Settings) -> Path | None:
    """Return the slot that this process may use already: its own, or that of a process above that still lives."""
    with _guard:
        for (pid, place), uses in _ours.items():
            own = Path(place)
            if pid == os.getpid() and uses > 0 and own.parent.parent == settings.folder and own.exists():
                _ours[(pid, place)] += 1
                return own
        for pid, place in _joined:
            own = Path(place)
            record = records.read(own) if pid == os.getpid() and own.parent.parent == settings.folder else None
            if record is not None and not record.dead():
                return own
    name, _, token = os.environ.get(LEASE, "").partition(":")
    if not token or records.number_of(name) is None:
        return None
    path = settings.folder / "held" / name
    record = records.read(path)
    # The token is known to the children of the holder alone; its number may be another process by now.
    return path if record is not None and record.token == token and not record.dead() else None


_guard = threading.Lock()
# how many times each slot is in use by this very process
_ours: dict[tuple[int, str], int] = {}
# slots of its run that another process took
_joined: set[tuple[int, str]] = set()


def _fresh_guard() -> None:
    global _guard
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_fresh_guard)


def _env(path: Path, settings: Settings) -> dict[str, str]:
    record = records.read(path)
    env = {LEASE: f"{path.name}:{record.token if record else ''}"}
    # A child that runs elsewhere would read a relative path differently.
    return env | ({FOLDER: str(settings.folder)} if os.environ.get(FOLDER) else {})


class _Turn:
    """One process on its way to a slot."""

    def __init__(self, ledger: Ledger, job: Job, settings: Settings) -> None:
        self._ledger, self._job, self._settings = ledger, job, settings
        self._token = os.urandom(12).hex()
        self._me = identity.me()
        self._ticket: Path | None = None
        self._pipe: int | None = None
        self._told = -_TELL_S
        self._seen: Waiting | None = None

    def wait(self, on_wait: OnWait) -> Lease:
        began = time.monotonic()
        granted: Path | None = None
        try:
            while True:
                left = self._settings.wait_s - (time.monotonic() - began)
                granted = self._look(max(left, 0.0))
                waited = time.monotonic() - began
                if granted is not None:
                    mine = records.read(granted)
                    joined = mine is not None and mine.token != self._token
                    lease = Lease(_env(granted, self._settings), granted, joined, round(waited * 1000))
                    return lease
                seen = replace(self._seen or self._unseen(), waited_s=waited)
                if waited >= self._settings.wait_s:
                    raise seen.refusal()
                if waited - self._told >= _TELL_S:
                    self._told = waited
                    on_wait(seen)
                self._sleep(min(self._settings.wait_s - waited, self._patience(seen)))
        except BaseException:
            if granted is not None:
                self._ledger.forget(granted)
            raise
        finally:
            self._leave()

    def _look(self, wait_s: float) -> Path | None:
        """Take the slot if it is our turn; else stand in the queue and note why."""
        try:
            with self._ledger.locked(max(wait_s, _POLL_S)):
                return self._decide()
        except TimeoutError:
            self._seen = replace(self._seen or self._unseen(), reason=waiting.LOCKED)
            return None

    def _decide(self) -> Path | None:
        ledger, settings = self._ledger, self._settings
        holders = ledger.holders(sweep=True)
        if self._job.run:
            for holder in holders:
                if holder.text("run") == self._job.run:
                    return holder.path
        free = memory.look()
        reason = self._hindrance(holders, free)
        if reason is None:
            return self._grant()
        self._seen = Waiting(reason, tuple(holders), ledger.before(self._ticket), free, settings)
        if self._ticket is None:
            ledger.tidy()
            self._ticket = ledger.put(ledger.queue, self._me, self._content(waitS=settings.wait_s))
            self._pipe = ledger.open_pipe(self._ticket)
        elif not self._ticket.exists():
            # Somebody cleared the folder: the place is kept, by its number.
            number = records.number_of(self._ticket.name)
            ledger.put(ledger.queue, self._me, self._content(waitS=settings.wait_s), number)
        return None

    def _hindrance(self, holders: list[Record], seen: Memory) -> str | None:
        settings = self._settings
        left = settings.slots - len(holders)
        if self._ledger.cleaners(sweep=True):
            return waiting.CLEANING
        if left <= 0:
            return waiting.SLOTS_FULL
        # In bytes: two decimals would call a little too little enough.
        need = memory.needed_gb(settings.min_free_gb, seen) * memory.GIB
        if seen.free is not None and seen.free < need:
            return waiting.LOW_MEMORY
        return None if self._is_among_first(left) else waiting.QUEUED

    def _is_among_first(self, most: int) -> bool:
        """Tell whether fewer than `most` stand before us; one that was stopped keeps its place and loses its turn."""
        before = 0
        for ticket in self._ledger.tickets(sweep=True):
            if self._ticket is not None and ticket.path.name >= self._ticket.name:
                break
            before += not ticket.stopped()
            if before >= most:
                return False
        return True

    def _grant(self) -> Path:
        ledger, job = self._ledger, self._job
        owner = job.owner or self._me
        number = records.number_of(self._ticket.name) if self._ticket else None
        # Written anew: the age of a slot counts from now.
        path = ledger.put(ledger.held, owner, self._content(run=job.run), number)
        if self._ticket is not None:
            ledger.forget(self._ticket)
        return path

    def _content(self, **more: Any) -> dict[str, Any]:
        job = self._job
        about = {"token": self._token, "feature": job.feature, "node": job.node, "cwd": _cwd()}
        return records.content(job.label, **about, **more)

    def _leave(self) -> None:
        """Take nothing from the queue with us, and let those behind look again."""
        if self._pipe is not None:
            os.close(self._pipe)
        if self._ticket is not None:
            self._ledger.forget(self._ticket)
            # The other processes of a run wait for the same slot, wherever they stand.
            self._ledger.wake(_ALL if self._job.run else self._settings.slots)

    def _patience(self, seen: Waiting) -> float:
        near = seen.ahead < 2 * self._settings.slots
        next_line = self._told + _TELL_S - seen.waited_s
        return max(0.0, min(_POLL_S if near else _FAR_POLL_S, next_line))

    def _sleep(self, seconds: float) -> None:
        if self._pipe is None:
            time.sleep(seconds)
            return
        ready, _, _ = select.select([self._pipe], [], [], seconds)
        if ready:
            with suppress(BlockingIOError):
                os.read(self._pipe, 4096)

    def _unseen(self) -> Waiting:
        return Waiting(waiting.LOCKED, (), 0, memory.look(), self._settings)


def _cwd() -> str:
    with suppress(OSError):
        return os.getcwd()
    return ""
