"""Host services: apps that run as processes of the host beside the compose stack, until somebody takes them down."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.errors import Refusal
from morph_tasks.machine import identity
from morph_tasks.repo.files import locked
from morph_tasks.stack import health, hosts_log, hosts_state, hosts_stop
from morph_tasks.stack.hosts_plan import Planned, plan_hosts, whole_digest
from morph_tasks.stack.hosts_start import Bringing, Failed, start_service
from morph_tasks.stack.hosts_state import Place, Service, State, place_of

if TYPE_CHECKING:
    from morph_tasks.machine.identity import Identity
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

NOT_CONFIGURED = "no e2e.hostServices configured"
_LOCK_WAIT_S = 60.0
_STOP_WAIT_S = 15.0


@dataclass(frozen=True)
class HostService:
    """A service that is up; `why` says what decided that it was started, or reused."""

    name: str
    pid: int
    log: str
    health: str | None
    reused: bool
    why: str


@dataclass(frozen=True)
class HostsResult:
    """What bringing up came to; `output` is the end of the log of what failed."""

    status: Literal["pass", "fail", "skip"]
    reason: str
    output: str = ""
    services: tuple[HostService, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostStatus:
    """One service as it is now; `alive` and `healthy` are None when that cannot be told, or was not asked for.

    `stamp` is the code that it was started from; `said` what its health URL answered.
    """

    name: str
    pid: int | None
    alive: bool | None
    healthy: bool | None
    url: str | None
    said: str
    stamp: str
    log: str

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of a status."""
        return {
            "name": self.name,
            "pid": self.pid,
            "alive": self.alive,
            "health": {"url": self.url, "ok": self.healthy, "said": self.said} if self.url else None,
            "stamp": self.stamp,
            "log": self.log,
        }


@dataclass(frozen=True)
class HostsStopped:
    """What was taken down: `stopped` had processes, `dropped` had none any more, `left` could not be ended."""

    stopped: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def bring_up_hosts(
    repo: Repo,
    config: Config,
    project: str,
    env: Mapping[str, str],
    code_stamp: str,
    *,
    fresh: bool = False,
    deadline_s: float | None = None,
    secrets: Collection[str] = (),
) -> HostsResult:
    """Bring up all host services of a compose project in their order, reusing those that serve this very code.

    `env` is the stack environment, `code_stamp` what identifies the code; `secrets` are values that no log may hold
    besides those whose names say so. `deadline_s` bounds the whole, beside the ceilings of the services. Raises what
    `plan_hosts` raises, and Refusal `busy` (3) while another process brings up or takes down the same.
    """
    planned = plan_hosts(repo, config, env)
    place = place_of(repo, project)
    wait_s = _LOCK_WAIT_S + sum(one.timeout_s for one in planned)
    began = time.monotonic()
    with _held(place, min(wait_s, deadline_s or wait_s)):
        left_s = None if deadline_s is None else deadline_s - (time.monotonic() - began)
        return _Run(place, planned, code_stamp, secrets, left_s).go(fresh)


def status_of(repo: Repo, project: str, *, names: Sequence[str] = ()) -> tuple[HostStatus, ...]:
    """Tell of each recorded service whether it runs and answers; `names` are those that should, recorded or not.

    Changes nothing.
    """
    place = place_of(repo, project)
    state = hosts_state.load(place)
    alive = {one.name: _alive(one) for one in state.services.values()}
    asked = {one.name: one.health for one in state.services.values() if one.health and alive[one.name] is not False}
    answers = health.probe_all(asked)
    found = [_status(one, alive[one.name], answers.get(one.name)) for one in state.services.values()]
    absent = [name for name in dict.fromkeys(names) if name not in state.services]
    return (*found, *(HostStatus(name, None, False, None, None, "not started", "", "") for name in absent))


def stop_all(repo: Repo, project: str, *, only: Collection[str] | None = None) -> HostsStopped:
    """Take down the services of a compose project (`only` those named) and whatever carries their marks.

    Never raises for what it meets: a process that cannot be judged from here, or a state in use, is `left`.
    """
    place = place_of(repo, project)
    try:
        with _held(place, _STOP_WAIT_S):
            return _stop(place, hosts_state.load(place), only)[1]
    except Refusal as error:
        return HostsStopped(left=tuple(hosts_state.load(place).services), warnings=(error.what,))


class _Run:
    """One bring-up, under the lock of its project."""

    def __init__(
        self,
        place: Place,
        planned: Sequence[Planned],
        code_stamp: str,
        secrets: Collection[str],
        left_s: float | None,
    ) -> None:
        self._place, self._planned, self._stamp = place, planned, code_stamp
        self._secret_values = secrets
        self._deadline = None if left_s is None else time.monotonic() + left_s
        self._state = State()
        self._started: list[str] = []
        self._up: list[HostService] = []
        self._warnings: list[str] = []
        self._logs: dict[str, Path] = {}

    def go(self, fresh: bool) -> HostsResult:
        self._state = hosts_state.load(self._place)
        self._warnings += self._state.warnings
        digest = whole_digest(self._planned)
        why = self._why_all_anew(fresh, digest)
        if why:
            self._state, stopped = _stop(self._place, self._state, None)
            self._warnings += stopped.warnings
            if stopped.left:
                return self._result("fail", f"host services could not be stopped: {', '.join(stopped.left)}")
        if not self._planned:
            return self._result("skip", NOT_CONFIGURED)
        self._state = replace(self._state, digest=digest)
        try:
            return self._each(why)
        except BaseException:
            self._undo()
            raise

    def _each(self, why: str) -> HostsResult:
        for one in self._planned:
            known = self._state.services.get(one.name)
            cause = why or _why_anew(known)
            if known is not None and known.leader is not None and not cause:
                # What it was found healthy at counts, whoever started it.
                self._keep(replace(known, ready=True, health=one.health))
                said = "same code, healthy" if one.health else "same code, running"
                self._up.append(HostService(one.name, known.leader.pid, known.log, one.health, True, said))
                continue
            if failed := self._bring(one, known, cause):
                return failed
        reused = sum(service.reused for service in self._up)
        told = f"{len(self._up)} host service{'s' if len(self._up) != 1 else ''} ready"
        return self._result("pass", f"{told} ({reused} reused)" if reused else told)

    def _bring(self, one: Planned, known: Service | None, cause: str) -> HostsResult | None:
        """Start one service anew; returns the failure of the whole when it does not come up."""
        self._state, stopped = _stop(self._place, self._state, [known.name if known else one.name])
        self._warnings += stopped.warnings
        if stopped.left:
            return self._fail(one, "what runs of it could not be stopped", "")
        limits = [one.timeout_s]
        if self._deadline is not None:
            limits.append(self._deadline - time.monotonic())
        secrets = hosts_log.secrets_of(one.env, self._secret_values)
        bringing = Bringing(self._place, secrets, self._log, self._record)
        self._started.append(one.name)
        try:
            if min(limits) <= 0:
                raise Failed("timeout: no time was left to start it")
            self._warnings += start_service(one, bringing, min(limits))
        except Failed as error:
            return self._fail(one, hosts_log.redact(str(error), secrets), hosts_log.tail(self._log(one.name), secrets))
        made = replace(self._state.services[one.name], ready=True, health=one.health)
        self._keep(made)
        pid = made.leader.pid if made.leader else -1
        self._up.append(HostService(one.name, pid, made.log, one.health, False, cause))
        return None

    def _fail(self, one: Planned, why: str, output: str) -> HostsResult:
        self._undo()
        self._up = [service for service in self._up if service.reused]
        return self._result("fail", f"host service `{one.name}`: {why}", output)

    def _undo(self) -> None:
        """End what this run started; what it found running keeps running, and its record."""
        if self._started:
            self._state, stopped = _stop(self._place, self._state, self._started)
            self._warnings += stopped.warnings
            self._started = []

    def _record(self, name: str, leader: Identity | None) -> None:
        service = self._state.services.get(name)
        url = next(one.health for one in self._planned if one.name == name)
        log = service.log if service else str(self._log(name))
        self._keep(Service(name, leader, self._stamp, log, url))

    def _keep(self, service: Service) -> None:
        if self._state.services.get(service.name) != service:
            self._state = self._state.with_service(service)
            hosts_state.save(self._place, self._state)

    def _log(self, name: str) -> Path:
        # Asked once: a neighbour that comes up meanwhile must not move it.
        if name not in self._logs:
            self._logs[name] = hosts_state.log_of(self._place, name)
        return self._logs[name]

    def _why_all_anew(self, fresh: bool, digest: str) -> str:
        known = self._state.services.values()
        if fresh:
            return "a fresh start was asked for"
        if not known:
            return "nothing was running"
        if self._state.digest != digest:
            return "another set of services, or other settings of theirs"
        return "the code changed" if any(one.stamp != self._stamp for one in known) else ""

    def _result(self, status: Literal["pass", "fail", "skip"], reason: str, output: str = "") -> HostsResult:
        return HostsResult(status, reason, output, tuple(self._up), tuple(dict.fromkeys(self._warnings)))


def _why_anew(known: Service | None) -> str:
    """Tell why a recorded service cannot be reused, or nothing when it can."""
    if known is None:
        return "it was not running"
    alive = _alive(known)
    if not alive:
        return "its process cannot be judged from here" if alive is None else "its process was gone"
    if known.health is None:
        return "" if known.ready else "it was never seen ready"
    # A machine under load may miss one answer; two in a row are an answer.
    answers = [health.probe(known.health)]
    if not answers[-1].ok:
        answers.append(health.probe(known.health))
    return "" if answers[-1].ok else f"{known.health} is not healthy ({answers[-1].said})"


def _stop(place: Place, state: State, only: Collection[str] | None) -> tuple[State, HostsStopped]:
    """End services and write what is left of the state; without `only` also those that only their marks tell of."""
    marked = hosts_stop.unrecorded(place, state)
    every = [*state.services.values(), *marked]
    chosen = every if only is None else [one for one in every if one.name in only]
    ending = hosts_stop.end_services(place, chosen)
    gone = [one.name for one in chosen if one.name not in ending.left]
    after = state.without(*gone)
    if after.services != state.services or (only is None and not after.services):
        hosts_state.save(place, after)
    dropped = tuple(name for name in gone if name not in ending.ended and name in state.services)
    return after, HostsStopped(ending.ended, dropped, ending.left, (*state.warnings, *ending.warnings))


def _alive(one: Service) -> bool | None:
    if one.leader is None:
        return False
    state = identity.state(one.leader)
    return None if state == "unknown" else state == "alive"


def _status(one: Service, alive: bool | None, answer: health.Health | None) -> HostStatus:
    if one.health is None:
        healthy, said = None, "no health URL"
    elif alive is False or answer is None:
        healthy, said = False, "not running"
    else:
        healthy, said = answer.ok, answer.said
    pid = one.leader.pid if one.leader else None
    return HostStatus(one.name, pid, alive, healthy, one.health, said, one.stamp, one.log)


@contextmanager
def _held(place: Place, wait_s: float) -> Iterator[None]:
    from morph_tasks.machine.live import reap

    with locked(place.lock, wait_s=max(wait_s, 0), what=f"the host services of {place.project}"):
        reap(place.live)  # the build of a run that was killed
        yield
