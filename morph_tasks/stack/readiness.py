"""Whether a stack is ready, decided from repeated looks at its containers and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from morph_tasks.stack.model import Container, Service

# A service without a health check is ready once it has run this long; after a crash it has to prove more.
SETTLE_S = 2.0
SETTLE_AFTER_CRASH_S = 10.0
# So many restarts are a loop, so many of them after everything else was ready: until then it may wait for the rest.
LOOP, LOOP_ALONE = 5, 2
# A restart policy may bring an ended container back between two looks.
_SAME_END_S = 1.0
_RESTARTS = ("always", "unless-stopped", "on-failure")

Outcome = Literal["ready", "waiting", "failed"]


@dataclass(frozen=True)
class Standing:
    """Where one service stands; `final` says that waiting longer changes nothing."""

    service: str
    outcome: Outcome
    what: str
    final: bool = False
    crashed: bool = False
    restarts: int = 0
    begun: bool = True


@dataclass(frozen=True)
class Verdict:
    """Where the stack stands after a look."""

    outcome: Outcome
    standings: tuple[Standing, ...]

    @property
    def failed(self) -> tuple[Standing, ...]:
        return tuple(one for one in self.standings if one.outcome == "failed")

    @property
    def waiting(self) -> tuple[Standing, ...]:
        return tuple(one for one in self.standings if one.outcome == "waiting")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say which services were not steady."""
        return tuple(
            f"{one.service} restarted {one.restarts} time{'s' if one.restarts > 1 else ''}"
            for one in self.standings
            if one.restarts and one.outcome != "failed"
        )


class Watch:
    """Takes samples in order and says after each where the stack stands; `at_s` is any clock that only grows."""

    def __init__(self, services: Iterable[Service]) -> None:
        self._services = [service for service in services if service.replicas > 0]
        self._first_running: dict[str, float] = {}
        self._first_ended: dict[str, float] = {}
        self._restarts: dict[str, int] = {}
        self._seen: dict[str, tuple[str, int | None, float | None]] = {}
        self._counted: dict[str, int] = {}
        self._at_ready: dict[str, int] = {}

    def look(self, sample: Sequence[Container], at_s: float, wall_s: float | None = None) -> Verdict:
        """Take one sample; `wall_s` is the time of the epoch, by which the engine's own start times count."""
        living = [one for one in sample if not one.oneoff]
        for one in living:
            self._note(one, at_s)
        standings = [self._service(service, living, at_s, wall_s) for service in self._services]
        standings = [self._looping(one, standings) for one in standings]
        outcome: Outcome = "waiting" if any(one.outcome == "waiting" for one in standings) else "ready"
        if any(one.outcome == "failed" and one.final for one in standings):
            outcome = "failed"
        return Verdict(outcome, tuple(standings))

    def _note(self, one: Container, at_s: float) -> None:
        """Keep since when a container is in its state, and how often it came back."""
        key, before = one.id or one.name, self._seen.get(one.id or one.name)
        if one.restarts is not None:
            self._counted[key] = one.restarts
        elif before and _came_back(before[0], one.state):
            self._counted[key] = self._counted.get(key, 0) + 1
        again = before is not None and (one.restarts, one.started) != before[1:]
        if one.state != "running":
            self._first_running.pop(key, None)
        elif again or key not in self._first_running:
            self._first_running[key] = at_s
        if one.state not in ("exited", "dead"):
            self._first_ended.pop(key, None)
        elif again or key not in self._first_ended:
            self._first_ended[key] = at_s
        self._seen[key] = (one.state, one.restarts, one.started)

    def _service(self, service: Service, living: Sequence[Container], at_s: float, wall_s: float | None) -> Standing:
        mine = [one for one in living if one.service == service.name]
        parts = [self._container(service, one, at_s, wall_s) for one in mine]
        if len(mine) < service.replicas:
            there = f"{len(mine)} of {service.replicas} containers exist" if mine else "no container exists yet"
            parts.append(Standing(service.name, "waiting", there, begun=False))
        worst = max(parts, key=lambda part: (part.final, ("ready", "waiting", "failed").index(part.outcome)))
        restarts = sum(part.restarts for part in parts)
        crashed = any(part.crashed for part in parts)
        return Standing(service.name, worst.outcome, worst.what, worst.final, crashed, restarts, worst.begun)

    def _container(self, service: Service, one: Container, at_s: float, wall_s: float | None) -> Standing:
        key = one.id or one.name
        restarts = self._counted.get(key, 0)

        def say(outcome: Outcome, what: str, *, final: bool = False, crashed: bool = False) -> Standing:
            return Standing(service.name, outcome, what, final, crashed, restarts)

        if one.state == "running":
            return self._running(one, say_restarts=restarts, service=service, ran_s=self._ran(one, at_s, wall_s))
        if one.state == "restarting":
            return say("waiting", f"it ended with exit code {one.exit_code} and is being restarted", crashed=True)
        if one.state == "dead":
            return say("failed", "the engine could not remove it: it is dead", final=True)
        if one.state == "created":
            return Standing(service.name, "waiting", "it was not started yet", restarts=restarts, begun=False)
        if one.state != "exited":
            return say("waiting", f"it is {one.state or 'in an unknown state'}")
        return self._ended(service, one, at_s - self._first_ended.get(key, at_s), restarts)

    def _running(self, one: Container, *, say_restarts: int, service: Service, ran_s: float) -> Standing:
        if one.health == "healthy":
            return Standing(service.name, "ready", "healthy", restarts=say_restarts)
        if one.health == "unhealthy":
            return Standing(service.name, "waiting", "it is unhealthy", restarts=say_restarts)
        if one.health:
            return Standing(service.name, "waiting", f"its health is {one.health}", restarts=say_restarts)
        if ran_s < (SETTLE_AFTER_CRASH_S if say_restarts else SETTLE_S):
            return Standing(service.name, "waiting", "it has just started", restarts=say_restarts)
        return Standing(service.name, "ready", "running", restarts=say_restarts)

    def _ran(self, one: Container, at_s: float, wall_s: float | None) -> float:
        seen = at_s - self._first_running.get(one.id or one.name, at_s)
        engine = wall_s - one.started if wall_s is not None and one.started is not None else 0.0
        return max(seen, engine)

    def _ended(self, service: Service, one: Container, for_s: float, restarts: int) -> Standing:
        policy = one.policy or service.policy
        comes_back = policy.startswith(_RESTARTS) and not (policy.startswith("on-failure") and one.exit_code == 0)
        if comes_back and for_s < _SAME_END_S:
            return Standing(service.name, "waiting", "it ended and may be restarted", crashed=True, restarts=restarts)
        if one.exit_code != 0:
            what = f"it ended with exit code {one.exit_code}"
            return Standing(service.name, "failed", what, final=True, restarts=restarts)
        if service.published:
            what = "it ended with exit code 0, though it publishes ports and so has to keep running"
            return Standing(service.name, "failed", what, final=True, restarts=restarts)
        return Standing(service.name, "ready", "completed", restarts=restarts)

    def _looping(self, one: Standing, standings: Sequence[Standing]) -> Standing:
        """Tell a service that crashes for ever from one that crashes until what it needs is there."""
        # What Compose has not started yet may be waiting for this very service.
        others = [other for other in standings if other.service != one.service and not other.restarts and other.begun]
        if all(other.outcome == "ready" for other in others):
            self._at_ready.setdefault(one.service, one.restarts if others else 0)
        alone = one.restarts - self._at_ready.get(one.service, one.restarts)
        if one.outcome != "waiting" or not one.restarts or one.restarts < LOOP or alone < LOOP_ALONE:
            return one
        what = f"it crashes in a loop: restarted {one.restarts} times, {one.what}"
        return Standing(one.service, "failed", what, final=True, crashed=True, restarts=one.restarts)


def _came_back(before: str, now: str) -> bool:
    return before in ("restarting", "exited") and now in ("running", "restarting") and before != now
