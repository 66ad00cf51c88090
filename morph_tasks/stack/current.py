"""Whether a running stack provably serves the code of this tree, and what proves it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.stack.model import BIND_MOUNTED, NOT_CHANGED, Container, Service
from morph_tasks.stack.readiness import Verdict, Watch

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.env import StackEnv
    from morph_tasks.stack.stampfile import Record


@dataclass(frozen=True)
class Currency:
    """What one look at a stack says; `because` proves that it serves this code, `why_not` speaks against it."""

    containers: tuple[Container, ...]
    verdict: Verdict
    because: str | None
    why_not: str | None

    @property
    def warm(self) -> bool:
        return self.because is not None and self.verdict.outcome == "ready"


def look(repo: Repo, config: Config, env: StackEnv, record: Record) -> Currency:
    """Look at a stack once; raises Refusal `docker-not-available`, EngineError, and what the fingerprint raises."""
    from morph_tasks.stack.sample import sample

    containers = sample(env.project)
    verdict = Watch(record.services).look(containers, 0.0, time.time())
    because, why_not = proof(repo, config, env, record, containers)
    return Currency(containers, verdict, because, why_not)


def proof(
    repo: Repo, config: Config, env: StackEnv, record: Record, containers: Sequence[Container]
) -> tuple[str | None, str | None]:
    """Return what proves that these containers serve the code of this tree, or else why they may not."""
    from morph_tasks.stack.inputs import changed

    stamp = record.stamp
    if stamp is None:
        return None, "it was not brought up to the end"
    if os.path.realpath(record.root) != os.path.realpath(repo.root):
        return None, f"it was brought up from {record.root}"
    running = images_of(containers)
    other = sorted(name for name, ids in running.items() if stamp.images.get(name) != ids)
    if other:
        return None, f"{', '.join(other)} runs another image than the one that was brought up"
    moved = changed(stamp.inputs, environment(env))
    if moved:
        return None, moved
    if (stamp.fingerprint, stamp.config) == fingerprint(repo, config):
        return NOT_CHANGED, None
    if bind_mounted(record.services, containers, str(repo.root)):
        return BIND_MOUNTED, None
    return None, "the source changed since it was built"


def environment(env: StackEnv) -> dict[str, str]:
    """Return the whole environment of a command of the stack: the feature's own values win."""
    return {**os.environ, **env.values}


def fingerprint(repo: Repo, config: Config) -> tuple[str, str]:
    """Return what the code of a tree is: its content and what its configuration says."""
    from morph_tasks.repo.fingerprint import tree_state

    return tree_state(str(repo.root), str(repo.git_dir)).sum, config.meaning()


def code_stamp(repo: Repo, config: Config) -> str:
    """Return the fingerprint as one word, by which host services are known to run this code."""
    return "-".join(fingerprint(repo, config))


def images_of(containers: Sequence[Container]) -> dict[str, tuple[str, ...]]:
    """Return the digests of the images that run, by service."""
    found: dict[str, set[str]] = {}
    for one in containers:
        if not one.oneoff:
            found.setdefault(one.service, set()).add(one.image)
    return {name: tuple(sorted(ids)) for name, ids in sorted(found.items())}


def bind_mounted(services: Sequence[Service], containers: Sequence[Container], root: str) -> bool:
    """Tell whether every service with a `build:` has the root of the project mounted, so that it serves the disk."""
    built = {service.name for service in services if service.build and service.replicas > 0}
    mine = [one for one in containers if one.service in built and not one.oneoff]
    mounted = [any(_same(source, root) for source in one.binds) for one in mine]
    return bool(built) and {one.service for one in mine} == built and all(mounted)


def base_url(containers: Sequence[Container], values: Mapping[str, str]) -> str | None:
    """Return the address of the application: the block's port for the web, else for the API, else what is published."""
    ports = [
        port
        for one in containers
        for port in one.ports
        if port.protocol == "tcp" and one.state == "running" and port.target not in _NO_WEB
    ]
    there = {port.published for port in ports}
    wanted = [int(values[name]) for name in ("PORT", "API_PORT") if values.get(name, "").isdigit()]
    databases = {int(values[name]) for name in ("POSTGRES_PORT", "REDIS_PORT") if values.get(name, "").isdigit()}
    chosen = next((port for port in wanted if port in there), None) or min(there - databases, default=None)
    return f"http://localhost:{chosen}" if chosen else None


# Databases, queues, mail: they publish ports as well and speak no HTTP.
_NO_WEB = {22, 25, 53, 1025, 1433, 1521, 3306, 5432, 5672, 6379, 6432, 9092, 11211, 26257, 27017, 33060}


def _same(source: str, root: str) -> bool:
    # Docker Desktop names folders of the host below a folder of its own.
    found = source.removeprefix("/host_mnt")
    return os.path.realpath(found) == os.path.realpath(root)
