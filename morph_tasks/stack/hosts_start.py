"""Bring up one host service: build it, start it detached, wait until it answers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.machine import ends, identity, starting, table
from morph_tasks.machine.groups import Group
from morph_tasks.machine.identity import Identity
from morph_tasks.machine.registry import LIVE
from morph_tasks.stack import health, hosts_log
from morph_tasks.stack.hosts_plan import Planned
from morph_tasks.stack.hosts_state import Place

if TYPE_CHECKING:
    import subprocess

POLL_S = 2.0
SETTLED_S = 2.0
MARK = "MORPH_HOST_SERVICE"
_LOG_SETTLES_S = 1.0
# Whoever publishes the ports of containers may well answer for one that is proxied to the service.
_PROXIES = ("docker-proxy", "com.docker.backend", "rootlessport", "slirp4netns")


@dataclass(frozen=True)
class Bringing:
    """What all services of one bring-up share."""

    place: Place
    secrets: Mapping[str, str] = field(repr=False)
    log_of: Callable[[str], Path]
    record: Callable[[str, Identity | None], None]


class Failed(Exception):
    """Why a service did not come up, as a sentence without its subject."""


def start_service(one: Planned, bringing: Bringing, limit_s: float) -> list[str]:
    """Build, start and await one service within `limit_s`; returns warnings.

    Raises Failed with what is wrong with it; whatever runs then is found by its mark.
    """
    deadline = time.monotonic() + limit_s
    log = bringing.log_of(one.name)
    hosts_log.begin(log)
    try:
        _build(one, bringing, log, deadline, limit_s)
        warnings = _port_is_free(one, bringing.place)
        started = _start(one, bringing, log)
    except Refusal as error:
        raise Failed(error.what) from None
    LIVE.add(started.group)
    try:
        _await_ready(one, started, deadline, limit_s)
        if warnings:
            _await_settled(started, deadline, limit_s)
    finally:
        LIVE.remove(started.group)
        started.settle()
    return warnings


class _Started:
    """A started service; while it has not been waited for, its exit code can be told."""

    def __init__(self, popen: subprocess.Popen[bytes], token: str, filter_pid: int | None) -> None:
        pid = popen.pid
        self.leader = identity.identify(pid) or Identity(pid, None, identity.boot(), identity.host())
        self.group = Group(self.leader, token)
        self._filter = filter_pid
        # It is meant to outlive this process: Popen has nothing to complain about.
        popen.returncode = 0

    def ended(self) -> bool:
        return ends.ended(self.leader.pid)

    def how(self) -> str:
        """Tell how it ended, once it has."""
        code: int | None = None
        with suppress(ChildProcessError):
            code = os.waitstatus_to_exitcode(os.waitpid(self.leader.pid, os.WNOHANG)[1])
        if code is None:
            return "ended"
        return f"exited with code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"

    def settle(self) -> None:
        """Let the filter write what a service that ended said last."""
        if self._filter is not None and self.ended():
            ends.await_ends([self._filter], _LOG_SETTLES_S)


def _build(one: Planned, bringing: Bringing, log: Path, deadline: float, limit_s: float) -> None:
    if one.build is None:
        return
    from morph_tasks.machine.processes import supervise

    ended = supervise(
        one.build,
        cwd=one.cwd,
        env=one.env,
        log=log,
        timeout_s=deadline - time.monotonic(),
        run_id=f"e2e-host-build-{os.getpid()}",
        live_dir=bringing.place.live,
    )
    hosts_log.redact_file(log, bringing.secrets)
    if ended.timed_out:
        raise Failed(f"timeout: its build did not end within {limit_s:g} s")
    if ended.interrupted:
        raise Failed("its build was interrupted")
    if ended.exit_code is None:
        raise Failed("its build ended in a way that nobody could tell")
    if ended.exit_code < 0:
        raise Failed(f"its build was ended by {_signal_name(-ended.exit_code)}")
    if ended.exit_code:
        raise Failed(f"its build ended with exit code {ended.exit_code}")


def _port_is_free(one: Planned, place: Place) -> list[str]:
    """Refuse a health URL that answers before its service runs: it would be green whatever the service does."""
    if one.health is None or not (before := health.probe(one.health)).ok:
        return []
    port = health.local_port(one.health)
    others = [
        holder
        for holder in (health.holders_of(port) if port else [])
        if holder.name not in _PROXIES and not _ours(holder.pid, place)
    ]
    if others:
        who = ", ".join(f"pid {holder.pid} ({holder.name})" for holder in others)
        raise Failed(f"its health URL {one.health} answers before it runs: port {port} is held by {who}")
    said = (
        f"the health URL {one.health} of the host service `{one.name}` answered ({before.said}) before it was started"
    )
    return [f"{said}: it proves nothing about the service"]


def _ours(pid: int, place: Place) -> bool:
    marks = table.marks(pid)
    return marks is not None and any(token.startswith(place.mark) for token in marks.tokens)


def _start(one: Planned, bringing: Bringing, log: Path) -> _Started:
    """Start it; its identity is on disk before anything waits for it, and its mark finds it if that fails."""
    token = bringing.place.token(one.name)
    argv = starting.argv_of(one.start, one.cwd)
    env = {
        **one.env,
        MARK: f"{bringing.place.project}/{one.name}",
        # No marks of the runs around this one: they would end the service with themselves.
        table.RUN_ID: f"e2e-host-{bringing.place.project}",
        table.RUN_MARKS: token,
    }
    bringing.record(one.name, None)
    with hosts_log.sink(log, env, bringing.secrets) as (out, filter_pid), LIVE.starting(token):
        if LIVE.closed:
            raise Failed("interrupted before its start")
        started = _Started(starting.spawn(argv, one.cwd, env, out), token, filter_pid)
        bringing.record(one.name, started.leader)
    return started


def _await_ready(one: Planned, started: _Started, deadline: float, limit_s: float) -> None:
    if one.health is None:
        _await_settled(started, deadline, limit_s)
        return
    last = "it was not asked"
    while (left := deadline - time.monotonic()) > 0:
        began = time.monotonic()
        found = health.probe(one.health, timeout_s=min(health.PROBE_S, left))
        # Asked in this order: another process may answer for one that is gone.
        if started.ended():
            raise Failed(f"{started.how()} before {one.health} was healthy")
        if found.ok:
            return
        last = found.said
        pause = min(POLL_S - (time.monotonic() - began), deadline - time.monotonic())
        if not ends.await_ends([started.leader.pid], max(pause, 0)):
            raise Failed(f"{started.how()} before {one.health} was healthy")
    raise Failed(f"timeout: {one.health} was not healthy within {limit_s:g} s ({last})")


def _await_settled(started: _Started, deadline: float, limit_s: float) -> None:
    """Wait for a moment that it has to live through, where no answer tells that it is ready."""
    left = deadline - time.monotonic()
    if not ends.await_ends([started.leader.pid], min(SETTLED_S, max(left, 0))):
        raise Failed(f"{started.how()} right after its start")
    if left < SETTLED_S:
        raise Failed(f"timeout: build and start took longer than {limit_s:g} s")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
