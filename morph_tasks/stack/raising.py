"""Starting the containers of a stack and watching them until they are ready, failed, or out of time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from morph_tasks.stack.child import Child
from morph_tasks.stack.compose import Compose
from morph_tasks.stack.model import Container, Service
from morph_tasks.stack.readiness import Verdict, Watch
from morph_tasks.stack.sample import sample

_LOOK_S = 0.4
_MOST_STARTS = 4
_TAIL = 20
# Compose gives up on what depends on a service that was not healthy at once; that service may still become so.
_DEPENDENCY = re.compile(r"dependency failed to start|is unhealthy|exited \(\d+\)|didn't complete successfully")
_NOISE = re.compile(r"^\s*(Container|Network|Volume|Image) .* (\w+ing|\w+ed|Healthy)\s*$")


@dataclass(frozen=True)
class Raised:
    """How starting the containers ended; `problem` is None when all are ready."""

    verdict: Verdict
    containers: tuple[Container, ...]
    problem: str | None = None
    reason: str = ""
    who: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where commands of a bring-up log, and where they are on record."""

    log: Path
    live_dir: Path


def prepare(compose: Compose, args: Sequence[str], place: Place, *, timeout_s: float) -> tuple[str | None, list[str]]:
    """Run `build` or `pull` to its end; returns what went wrong, None when nothing did, and its last lines."""
    deadline = time.monotonic() + timeout_s
    place.log.unlink(missing_ok=True)
    argv = compose.argv(*args)
    with Child(argv, cwd=compose.root, env=compose.env, log=place.log, live_dir=place.live_dir) as child:
        while (code := child.poll(0.5)) is None:
            if time.monotonic() > deadline:
                return f"`docker compose {args[0]}` did not end within {timeout_s:g} s", lines_of(child.output())
        lines = lines_of(child.output())
    if code == 0:
        return None, []
    last = next((line for line in reversed(lines) if line), "it said nothing")
    return f"`docker compose {args[0]}` ended with {code}: {last}", lines


def raise_containers(compose: Compose, services: Sequence[Service], place: Place, *, deadline: float) -> Raised:
    """Start the containers and wait for them; `deadline` is of `time.monotonic`.

    Raises Refusal `docker-not-available`, EngineError, ProcError, `command-not-started`.
    """
    watch = Watch(services)
    before = {one.id: one.started for one in sample(compose.project)}
    args = ["up", "-d", "--no-build", "--remove-orphans"]
    for attempt in range(1, _MOST_STARTS + 1):
        last = attempt == _MOST_STARTS
        place.log.unlink(missing_ok=True)
        argv = compose.argv(*args)
        with Child(argv, cwd=compose.root, env=compose.env, log=place.log, live_dir=place.live_dir) as child:
            raised = _watch(child, compose, watch, before, deadline=deadline, may_again=not last)
        if raised is not None:
            return raised
        before = {}
    raise AssertionError("the last attempt always ends")


def _watch(
    child: Child,
    compose: Compose,
    watch: Watch,
    before: Mapping[str, float | None],
    *,
    deadline: float,
    may_again: bool,
) -> Raised | None:
    """Watch one start; None asks for another one, now that what others depend on is ready."""
    ended = False
    while True:
        code = child.poll(_LOOK_S)
        if code is not None and ended:
            time.sleep(_LOOK_S)
        ended = code is not None
        seen = sample(compose.project)
        verdict = watch.look(seen if code is not None else _masked(seen, before), time.monotonic(), time.time())
        if verdict.outcome == "failed":
            return _failed(verdict, seen)
        if code == 0 and verdict.outcome == "ready":
            return Raised(verdict, seen)
        if code not in (None, 0):
            said = child.output()
            if not seen or not _DEPENDENCY.search(said):
                return _refused(verdict, seen, said, code)
            begun = [one for one in verdict.standings if one.begun]
            if may_again and all(one.outcome == "ready" for one in begun):
                return None
        if time.monotonic() >= deadline:
            return _late(verdict, seen)


def _masked(seen: Sequence[Container], before: Mapping[str, float | None]) -> list[Container]:
    """While Compose is at work, show what ended before it began as not started yet."""

    def old(one: Container) -> bool:
        return one.state in ("exited", "dead") and before.get(one.id, 0) == one.started

    return [replace(one, state="created") if old(one) else one for one in seen]


def _failed(verdict: Verdict, seen: tuple[Container, ...]) -> Raised:
    named = "; ".join(f"{one.service}: {one.what}" for one in verdict.failed if one.final)
    who = tuple(one.service for one in verdict.failed)
    return Raised(verdict, seen, named, "service-failed", who)


def _late(verdict: Verdict, seen: tuple[Container, ...]) -> Raised:
    named = "; ".join(f"{one.service}: {one.what}" for one in verdict.waiting)
    who = tuple(one.service for one in verdict.waiting)
    return Raised(verdict, seen, f"not ready in time: {named or 'Compose is still at work'}", "not-ready", who)


def _refused(verdict: Verdict, seen: tuple[Container, ...], said: str, code: int | None) -> Raised:
    lines = lines_of(said)
    words = [line for line in lines if not _NOISE.match(line)]
    what = words[-1] if words else f"`docker compose up` ended with {code}"
    return Raised(verdict, seen, what, "compose-up-failed", (), tuple(lines[-_TAIL:]))


def lines_of(said: str) -> list[str]:
    """Return the lines of an output that say something, the last 20 of them."""
    return [line.rstrip() for line in said.replace("\r", "\n").splitlines() if line.strip()][-_TAIL:]
