"""The one slot for heavy jobs that a verify takes, just before it really starts something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morph_tasks.machine.heavy.one import OneSlot
    from morph_tasks.machine.identity import Identity
    from morph_tasks.model.load import Config


def slot_for(config: Config, feature: str, run_id: str) -> OneSlot:
    """Return the slot of a run; every process of the run shares it, and it goes with the one that began the run."""
    from morph_tasks.machine.heavy.one import OneSlot
    from morph_tasks.machine.heavy.settings import read_settings

    settings, warnings = read_settings(config.data)
    owner = _owner(run_id)
    if owner is None:  # said once, by the process that began the run
        for line in warnings:
            _warn(f"warning: {line}")
    return OneSlot(
        "verify", settings=settings, feature=feature, run=run_id, owner=owner, on_wait=lambda wait: _warn(wait.line())
    )


@contextmanager
def held(slot: OneSlot, node: str) -> Iterator[Any]:
    """Hold the slot while something is brought up; the verify gives it back at its end."""
    yield slot(node)


def end_of_work(slot: OneSlot, config: Config, root: Path, *, dotnet: bool) -> dict[str, Any] | None:
    """Give the slot back and end the build servers of .NET when nobody needs them; None without `dotnet`."""
    slot.release()
    if not dotnet:
        return None
    from morph_tasks.machine.heavy.cleanup import cleanup
    from morph_tasks.machine.heavy.settings import read_settings

    return cleanup(read_settings(config.data)[0], is_dotnet=True, cwd=root).as_json()


def bring_up_slot(slot: OneSlot) -> AbstractContextManager[Any]:
    """Return what is held while the application is brought up."""
    return held(slot, "e2e")


def _owner(run_id: str) -> Identity | None:
    """Return the process that began a run when that is another one: its id stands in the name of the run."""
    from morph_tasks.machine import identity

    pid = int(run_id.partition("-")[0], 16)
    return None if pid == os.getpid() else identity.identify(pid)


def _warn(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
