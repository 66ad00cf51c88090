"""The end of heavy work in a .NET project: build servers are shut down, if nobody builds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.machine import identity
from morph_tasks.machine.heavy import records
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.settings import Settings

TIMEOUT_S = 30.0
_LOCK_WAIT_S = 2.0
_BUILDING = {"build", "test", "publish", "msbuild", "pack", "vstest"}


@dataclass(frozen=True)
class Cleanup:
    """What became of it: `ran`, or the `reason` (a code) and a sentence why not."""

    ran: bool
    reason: str | None = None
    detail: str = ""
    exitCode: int | None = None  # noqa: N815  (the JSON key)
    durationMs: int = 0  # noqa: N815

    def as_json(self) -> dict[str, Any]:
        """Return the block `cleanup` of the document of a command."""
        return asdict(self)


def cleanup(
    settings: Settings,
    *,
    is_dotnet: bool,
    cwd: Path,
    building: Callable[[], list[str]] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Cleanup:
    """Run `dotnet build-server shutdown` when it disturbs nobody; to be called after the own slot was given back.

    Never fails. Nobody gets a slot while it runs. `building` lists what compiles outside of the slots.
    """
    if not is_dotnet:
        return Cleanup(False, "not-dotnet")
    if not settings.enabled:
        return Cleanup(False, "heavy-off", "without slots nothing proves that nobody else is building")
    if not settings.shutdown_build_server:
        return Cleanup(False, "shutdown-off", "heavy.shutdownBuildServer is false")
    ledger = Ledger(settings.folder, settings.max_hold_s)
    mark: Path | None = None
    try:
        ledger.prepare()
        with ledger.locked(_LOCK_WAIT_S):
            others = [*ledger.holders(sweep=True), *ledger.cleaners(sweep=True)]
            if others:
                return Cleanup(False, "slots-held", f"held by {', '.join(map(str, others))}")
            mark = ledger.put(ledger.cleaning, identity.me(), records.content("dotnet build-server shutdown"))
        alive = (building or running_builds)()
        if alive:
            return Cleanup(False, "build-running", ", ".join(alive[:5]))
        return _shut_down(cwd, timeout_s)
    except TimeoutError:
        return Cleanup(False, "slots-held", "the lock of the slots was not free")
    except Refusal as refusal:
        return Cleanup(False, refusal.code, refusal.what)
    except Exception as error:  # fail-open: the work is done, and this is a courtesy
        return Cleanup(False, "cleanup-failed", f"{type(error).__name__}: {error}")
    finally:
        if mark is not None:
            ledger.forget(mark)
            ledger.wake(settings.slots)


def running_builds() -> list[str]:
    """Return the compiling commands of .NET that this user runs, as `pid 7 dotnet build`."""
    import psutil  # type: ignore[import-untyped, unused-ignore]

    found = []
    for process in psutil.process_iter(["pid", "cmdline", "uids"]):
        with suppress(psutil.Error, OSError):
            argv, uids = process.info["cmdline"] or [], process.info["uids"]
            if uids is not None and uids.effective != os.geteuid():
                continue
            verb = build_verb(argv)
            if verb:
                found.append(f"pid {process.info['pid']} dotnet {verb}")
    return found


def build_verb(argv: list[str]) -> str | None:
    """Return `build`, `test`, … of a command line of `dotnet`; None for anything else, build servers included."""
    if not argv or os.path.basename(argv[0]).lower() not in ("dotnet", "dotnet.exe"):
        return None
    # `dotnet -d build`: options may come before the verb; the server is `dotnet …/MSBuild.dll`.
    verb = next((word for word in argv[1:] if not word.startswith("-")), "").lower()
    return verb if verb in _BUILDING else None


def _shut_down(cwd: Path, timeout_s: float) -> Cleanup:
    from morph_tasks.proc import run

    began = time.monotonic()
    argv = ["dotnet", "build-server", "shutdown"]
    try:
        done = run(argv, cwd=cwd, timeout=timeout_s, ok=range(256))
    except Refusal as refusal:
        took = round((time.monotonic() - began) * 1000)
        return Cleanup(False, refusal.code, refusal.what, durationMs=took)
    took = round((time.monotonic() - began) * 1000)
    if done.code:
        return Cleanup(True, "command-failed", f"it ended with {done.code}", done.code, took)
    return Cleanup(True, None, "", 0, took)
