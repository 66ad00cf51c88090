"""The values of this room: what a container is, how a bring-up ended, and what others may hook into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

Status = Literal["pass", "fail", "skip", "busy"]

NOT_CONTAINERIZED = "project does not containerize"
NOT_AVAILABLE = "docker is not available"
NOT_CHANGED = "source unchanged since build"
BIND_MOUNTED = "source is bind-mounted"
DEFAULT_TIMEOUT_S = 180.0


@dataclass(frozen=True)
class Port:
    """One published port: `published` on `host` of this machine, `target` in the container."""

    published: int
    target: int
    protocol: str = "tcp"
    host: str = ""


@dataclass(frozen=True)
class Container:
    """One container of a project as a sample shows it.

    `state` is created, running, paused, restarting, removing, exited or dead. `health` is "" without a health check.
    `restarts` is None when the source of the sample does not tell; `started` is in seconds of the epoch.
    """

    service: str
    name: str
    state: str
    health: str = ""
    exit_code: int = 0
    restarts: int | None = None
    id: str = ""
    image: str = ""
    started: float | None = None
    policy: str = ""
    oneoff: bool = False
    number: int = 1
    ports: tuple[Port, ...] = ()
    binds: tuple[str, ...] = ()
    working_dir: str = ""
    config_files: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what `status --json` says of it."""
        ports = [{"published": port.published, "target": port.target, "protocol": port.protocol} for port in self.ports]
        return {
            "service": self.service,
            "container": self.name,
            "state": self.state,
            "health": self.health or None,
            "exitCode": self.exit_code if self.state in ("exited", "dead") else None,
            "restarts": self.restarts,
            "image": self.image,
            "ports": ports,
        }


@dataclass(frozen=True)
class Service:
    """What the resolved compose file asks of a service; `replicas` containers of it are expected."""

    name: str
    replicas: int = 1
    build: bool = False
    published: bool = False
    policy: str = "no"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `from_json` reads."""
        return {
            "replicas": self.replicas,
            "build": self.build,
            "published": self.published,
            "policy": self.policy,
        }

    @classmethod
    def from_json(cls, name: str, found: Mapping[str, Any]) -> Service:
        """Read a service of a record; raises KeyError, TypeError."""
        return cls(name, int(found["replicas"]), bool(found["build"]), bool(found["published"]), str(found["policy"]))


@dataclass(frozen=True)
class StackResult:
    """How a bring-up ended.

    `status` pass: every service is ready and what the hooks started is, too. fail: `reason` is a stable code, `message`
    says what is wrong, `output` has the last lines of who failed. skip: `reason` is the sentence that gates classify.
    busy: somebody else is at it. `env` is laid over the environment of whatever talks to the application.
    `reused_because` is None when something was started.
    """

    status: Status
    reason: str | None = None
    message: str = ""
    fix: str = ""
    services: tuple[dict[str, Any], ...] = ()
    base_url: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    reused_because: str | None = None
    warnings: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    project: str | None = None
    hosts: tuple[dict[str, Any], ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the document of `e2e up --json`; no value of the environment is in it."""
        return {
            "ok": self.status == "pass",
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "fix": self.fix,
            "project": self.project,
            "baseUrl": self.base_url,
            "reused": self.reused_because is not None,
            "reusedBecause": self.reused_because,
            "services": list(self.services),
            "hostServices": list(self.hosts),
            "output": list(self.output),
            "warnings": list(self.warnings),
            **self.details,
        }


@dataclass(frozen=True)
class Context:
    """What a hook is told: the stack that is up. `warm`: it was reused. `deadline` is of `time.monotonic`."""

    repo: Repo
    config: Config
    feature: str
    project: str
    env: dict[str, str]
    base_url: str | None
    fresh: bool
    warm: bool
    deadline: float
    secrets: frozenset[str] = frozenset()
    # For what runs only while the stack comes up: no part of what a service is.
    lease: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HookOutcome:
    """What a hook did; `reason` is None when it went well. `changed`: something was started or seeded anew."""

    reason: str | None = None
    message: str = ""
    fix: str = ""
    output: tuple[str, ...] = ()
    services: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    changed: bool = False


@dataclass(frozen=True)
class Hooks:
    """What other rooms do around a stack; each may be absent.

    `hosts` runs once the containers are ready (or reused), `seed` after it. `stop_hosts` runs before a fresh bring-up
    and in `down`, and returns what is left. `slot` is held while something is brought up, never for a warm stack; it
    may raise Refusal `busy` (3), and what it gives may have an `env` for the commands that run meanwhile.
    """

    hosts: Callable[[Context], HookOutcome] | None = None
    seed: Callable[[Context], HookOutcome] | None = None
    stop_hosts: Callable[[Repo, str], tuple[str, ...]] | None = None
    hosts_status: Callable[[Repo, str], tuple[dict[str, Any], ...]] | None = None
    slot: Callable[[], AbstractContextManager[Any]] | None = None
    say: Callable[[str], None] | None = None

    def tell(self, line: str) -> None:
        """Pass a line on to whoever shows progress."""
        if self.say:
            self.say(line)


def well(host: Mapping[str, Any]) -> bool:
    """Tell whether a row of a host service says that it runs and answers."""
    health = host.get("health")
    return bool(host.get("alive")) and not (isinstance(health, dict) and health.get("ok") is False)
