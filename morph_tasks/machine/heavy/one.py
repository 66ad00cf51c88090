"""One slot for all nodes of a verify, taken just before the first of them really starts something."""

from __future__ import annotations

import threading
from types import TracebackType

from morph_tasks.errors import Refusal
from morph_tasks.machine import identity
from morph_tasks.machine.heavy import slots
from morph_tasks.machine.heavy.settings import Settings, child_env
from morph_tasks.machine.heavy.slots import Job, Lease, OnWait
from morph_tasks.machine.heavy.waiting import quiet
from morph_tasks.machine.identity import Identity


class OneSlot:
    """Give every node of one verify the same slot; threads may share it. A context manager.

    With a `run`, the processes of that run (the workers of `doit -n`) share one slot as well: each makes a OneSlot
    with the same `run` and `owner`, the process that lives as long as the run and gives the slot back.
    """

    def __init__(
        self,
        label: str,
        *,
        settings: Settings,
        feature: str = "",
        run: str = "",
        owner: Identity | None = None,
        on_wait: OnWait | None = None,
    ) -> None:
        self._label, self._feature, self._run, self._owner = label, feature, run, owner
        self._settings = settings
        self._on_wait = on_wait or quiet
        self._turn = threading.Lock()
        self._lease: Lease | None = None
        self._refused: Refusal | None = None

    def __call__(self, node: str = "") -> Lease:
        """Return the slot, taken now when this is the first call.

        Whoever calls meanwhile waits too. Raises Refusal `busy` (exit 3), from then on at once.
        """
        with self._turn:
            if self._refused is not None:
                raise self._refused
            if self._lease is None:
                job = Job(self._label, self._feature, node, self._run, self._owner)
                try:
                    self._lease = slots.acquire(job, self._settings, self._on_wait)
                except Refusal as refusal:
                    self._refused = refusal
                    raise
            return self._lease

    @property
    def lease(self) -> Lease | None:
        """Return the slot when it was taken."""
        return self._lease

    @property
    def waited_ms(self) -> int:
        """Return how long the slot was waited for; it belongs to no node's duration."""
        return self._lease.waited_ms if self._lease else 0

    @property
    def env(self) -> dict[str, str]:
        """Return what children need, slot or not."""
        return dict(self._lease.env) if self._lease else child_env(self._settings)

    def release(self) -> None:
        """Give the slot back, unless it is inherited or belongs to the owner of the run. Never fails."""
        if self._run and self._owner not in (None, identity.me()):
            return
        with self._turn:
            lease, self._lease = self._lease, None
        if lease is not None:
            slots.release(lease, self._settings)
        if self._run and self._settings.enabled:
            slots.release_run(self._run, self._settings)

    def __enter__(self) -> OneSlot:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.release()
