"""Running one command of a node under supervision: its own session, a log, a bound, and nothing left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.machine import ends, groups, identity, live, signals, starting, table
from morph_tasks.machine.groups import Group, Members
from morph_tasks.machine.identity import Identity
from morph_tasks.machine.live import Record
from morph_tasks.machine.registry import LIVE
from morph_tasks.machine.table import Entry

if TYPE_CHECKING:
    import subprocess

# A short command cannot use up all process numbers, so only the newer ones are looked at when it ends.
_SHORT_S = 2.0
# What a shell leaves running for a moment (`> >(tee log)`) may finish what it writes.
_SETTLE_S = 0.2
_PARKED_S = 60.0


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    `exit_code` is -N after signal N, and None when it is not known: it never started, or its status was lost.
    `leftovers` (`pid name`) are the processes it left behind; `running` are those of them that still run, because
    they had left its group and session on purpose. `duration_ms` is the time of the command itself.
    """

    exit_code: int | None
    timed_out: bool
    interrupted: bool
    duration_ms: int
    leftovers: tuple[str, ...] = ()
    running: tuple[str, ...] = ()


def supervise(
    command: str | Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    timeout_s: float,
    run_id: str,
    live_dir: Path,
    grace_s: float = 3.0,
) -> Ended:
    """Run a command to its end or its timeout; a string goes through /bin/sh, a sequence is run as it is.

    stdout and stderr are appended to `log` (mode 0600), stdin is empty, the environment is `env` and the marks of
    the run. After the timeout the command, its session and what escaped from it are ended by TERM, a wait of
    `grace_s` and KILL. After a normal end what it left in its session is ended, what escaped is only reported.
    May be called from any thread. Raises Refusal `command-not-started`.
    """
    argv = starting.argv_of(command, cwd)
    record = Record(run_id, os.urandom(8).hex(), identity.me(), None)
    signals.watch_parent()
    with starting.opened(log) as out, _announced(live_dir, record) as keep:
        child = _start(argv, cwd, {**env, **starting.marks_of(record)}, out, record.token)
        if child is None:
            return Ended(None, timed_out=False, interrupted=True, duration_ms=0)
        try:
            child.group.record = keep.confirm(replace(record, leader=child.group.leader))
            return _follow(child, timeout_s, grace_s)
        except BaseException:
            groups.stop([child.group], grace_s)
            raise
        finally:
            child.reap()
            keep.needed = child.group.held
            LIVE.remove(child.group)


def interrupt_all(grace_s: float = 3.0) -> None:
    """End every group of this process; their `supervise` returns `interrupted`, and so does each later one."""
    running = LIVE.close()
    try:
        groups.stop(running, grace_s)
    finally:
        for group in running:
            group.settled.set()


class _Child:
    """A started command and, once it is reaped, its exit code."""

    def __init__(self, popen: subprocess.Popen[bytes], token: str) -> None:
        pid = popen.pid
        leader = identity.identify(pid) or Identity(pid, None, identity.boot(), identity.host())
        self.began = time.monotonic()
        self.group = Group(leader, token, held=True)
        self.exit_code: int | None = None
        self._popen = popen

    def reap(self) -> int | None:
        """Collect the exit code if the command ended; None when it did not, or when nobody knows it."""
        pid = self._popen.pid
        with self.group.lock:
            if self.group.held and ends.ended(pid):
                # Not Popen's own wait: it makes a zero of a status that was lost to an ignored SIGCHLD.
                self._popen.returncode = 0
                with suppress(ChildProcessError):
                    self.exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                self.group.held = False
        return self.exit_code


def _follow(child: _Child, timeout_s: float, grace_s: float) -> Ended:
    """Wait for the leader, then see to what it left behind."""
    group = child.group
    timed_out = bool(ends.await_ends([group.leader.pid], max(timeout_s, 0)))
    took = time.monotonic() - child.began
    if timed_out or group.interrupted:
        if group.interrupted:
            # Who interrupted it is at work on it; a process that is about to leave does not come back from here.
            group.settled.wait(_PARKED_S)
        left: Sequence[Entry] = groups.stop([group], grace_s)
        after = groups.members(group, table.snapshot())
        running: Sequence[Entry] = after.inside + after.escaped
    else:
        left, running = _clear(group, took < _SHORT_S, grace_s)
    code = child.reap()
    if group.interrupted:
        group.settled.wait(_PARKED_S)
    return Ended(
        exit_code=code,
        timed_out=timed_out and not group.interrupted,
        interrupted=group.interrupted,
        duration_ms=round(took * 1000),
        leftovers=tuple(map(str, left)),
        running=tuple(map(str, running)),
    )


def _clear(group: Group, short: bool, grace_s: float) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """End what the leader left in its session; returns all that it left, and what of it still runs."""

    def look() -> Members:
        return groups.members(group, table.snapshot(since=group.leader.pid if short else 0))

    found = look()
    if found.inside:
        ends.await_ends([entry.pid for entry in found.inside], _SETTLE_S)
        found = look()
    still = groups.end(lambda: list(look().inside), grace_s, groups=[group], escaped=False) if found.inside else []
    return found.inside + found.escaped, (*still, *found.escaped)


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], out: int, token: str) -> _Child | None:
    """Start the command and make it known; None when this process lets nothing start any more."""
    with LIVE.starting(token) as unknown:
        if not LIVE.closed:
            try:
                child = _Child(starting.spawn(argv, cwd, env, out), token)
            except Refusal:
                raise
            except BaseException:
                # Interrupted between the fork and our knowing of it.
                groups.stop([unknown], 0)
                raise
            LIVE.add(child.group)
            return child
    if LIVE.leaving:
        time.sleep(_PARKED_S)
    return None


class _Keep:
    """The record on disk of one running command."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.needed = False

    def confirm(self, record: Record) -> Path:
        """Name the leader."""
        self.path = live.confirm(self.path, record)
        return self.path


@contextmanager
def _announced(live_dir: Path, record: Record) -> Iterator[_Keep]:
    try:
        keep = _Keep(live.announce(live_dir, record))
    except OSError as error:
        what = f"its record in {live_dir} cannot be written: {error.strerror}"
        raise starting.not_started(what, fix="check the folder") from None
    try:
        yield keep
    finally:
        # A leader that even KILL did not end keeps its record, for the next start to try again.
        if not keep.needed:
            live.forget(keep.path)
