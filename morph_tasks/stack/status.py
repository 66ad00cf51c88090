"""The question that decides whether a green is worth anything: up, healthy, and built from this code?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.stack import current, stampfile
from morph_tasks.stack.compose import compose_file
from morph_tasks.stack.env import known_env
from morph_tasks.stack.model import NOT_CHANGED, well

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.env import StackEnv
    from morph_tasks.stack.model import Container, Hooks


@dataclass(frozen=True)
class StackStatus:
    """What stands; None is what could not be asked."""

    up: bool | None
    healthy: bool | None
    built_from_current: bool | None
    reason: str
    project: str | None = None
    base_url: str | None = None
    services: tuple[dict[str, Any], ...] = ()
    hosts: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return bool(self.up and self.healthy and self.built_from_current)

    def as_json(self) -> dict[str, Any]:
        """Return the document of `e2e status --json`."""
        return {
            "ok": self.ok,
            "up": self.up,
            "healthy": self.healthy,
            "builtFromCurrent": self.built_from_current,
            "reason": self.reason,
            "project": self.project,
            "baseUrl": self.base_url,
            "services": list(self.services),
            "hostServices": list(self.hosts),
            "warnings": list(self.warnings),
        }


def status(repo: Repo, config: Config, feature: str, *, hooks: Hooks | None = None) -> StackStatus:
    """Look at the stack of a feature of this tree; writes nothing. Raises what the fingerprint raises."""
    from morph_tasks.stack.engine import EngineError
    from morph_tasks.stack.sample import sample

    env = known_env(repo, config, feature)
    if env is None:
        return StackStatus(False, False, False, "it was never brought up")
    hosts = hooks.hosts_status(repo, env.project) if hooks and hooks.hosts_status else ()
    record = stampfile.load(repo, env.project)
    stale = _stale(repo, config, hosts)
    try:
        if compose_file(repo.root) is None and hosts:
            return _of_hosts(env, hosts, stale)
        if record is None or not record.services:
            return _unrecorded(env, sample(env.project), hosts)
        found = current.look(repo, config, env, record)
    except (Refusal, EngineError) as error:
        if isinstance(error, Refusal) and error.code != "docker-not-available":
            raise
        said = getattr(error, "what", None) or str(error)
        return StackStatus(None, None, None, said, env.project, hosts=hosts, warnings=env.warnings)
    standings = found.verdict.standings
    up = bool(standings) and all(one.begun and one.outcome != "failed" for one in standings)
    problems = [f"{one.service}: {one.what}" for one in standings if one.outcome != "ready"] + _ailing(hosts)
    return StackStatus(
        up and all(host.get("alive") for host in hosts),
        up and found.verdict.outcome == "ready" and not _ailing(hosts),
        found.because is not None and not stale,
        "; ".join(problems) or stale or found.because or found.why_not or "",
        env.project,
        _base(env.values, found.containers, hosts),
        tuple(_shown(found)),
        hosts,
        (*env.warnings, *found.verdict.warnings),
    )


def _of_hosts(env: StackEnv, hosts: tuple[dict[str, Any], ...], stale: str) -> StackStatus:
    """Return where an application without containers stands."""
    ailing = _ailing(hosts)
    return StackStatus(
        all(host.get("alive") for host in hosts),
        not ailing,
        not stale,
        "; ".join(ailing) or stale or NOT_CHANGED,
        env.project,
        _base(env.values, (), hosts),
        hosts=hosts,
        warnings=env.warnings,
    )


def _ailing(hosts: Sequence[dict[str, Any]]) -> list[str]:
    return [f"host service {host.get('name')}: it does not answer" for host in hosts if not well(host)]


def _stale(repo: Repo, config: Config, hosts: Sequence[dict[str, Any]]) -> str:
    """Say which host services were started from other code; "" when none was."""
    stamps = {str(host.get("name")): host.get("stamp") for host in hosts if host.get("alive")}
    if not stamps:
        return ""
    now = current.code_stamp(repo, config)
    other = [name for name, stamp in stamps.items() if stamp != now]
    return f"host service {', '.join(other)}: the source changed since it was started" if other else ""


def _shown(found: current.Currency) -> list[dict[str, Any]]:
    """Return every container with where its service stands, and a row for each service without one."""
    standing = {one.service: one for one in found.verdict.standings}
    rows: list[dict[str, Any]] = []
    for one in found.containers:
        about = standing.get(one.service)
        if not one.oneoff:
            rows.append({**one.as_json(), "ready": about is not None and about.outcome == "ready"})
    there = {row["service"] for row in rows}
    return rows + [{"service": name, "state": "missing", "ready": False} for name in standing if name not in there]


def _base(values: dict[str, str], containers: Sequence[Container], hosts: Sequence[dict[str, Any]]) -> str | None:
    found = current.base_url(containers, values)
    return found or (values["PLAYWRIGHT_BASE_URL"] if any(well(host) for host in hosts) else None)


def _unrecorded(env: StackEnv, containers: Sequence[Container], hosts: tuple[dict[str, Any], ...]) -> StackStatus:
    up = any(one.state == "running" for one in containers)
    rows = tuple(one.as_json() for one in containers)
    reason = "it was not brought up by this tool" if containers else "it is not up"
    return StackStatus(up, False, False, reason, env.project, services=rows, hosts=hosts, warnings=env.warnings)
