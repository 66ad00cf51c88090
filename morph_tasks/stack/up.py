"""Bringing the application of a feature up: reuse what provably serves this code, or build, start and watch it."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.stack import current, stampfile
from morph_tasks.stack.compose import Compose, compose_file, services_of
from morph_tasks.stack.env import StackEnv, stack_env
from morph_tasks.stack.model import (
    DEFAULT_TIMEOUT_S,
    NOT_CHANGED,
    Container,
    Context,
    HookOutcome,
    Hooks,
    StackResult,
    well,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.raising import Raised
    from morph_tasks.stack.stampfile import Record

# Building and pulling have a ceiling of their own, this many times the one of readiness.
_BUILD_FACTOR = 10


@dataclass(frozen=True)
class _Job:
    repo: Repo
    config: Config
    feature: str
    env: StackEnv
    fresh: bool
    timeout_s: float
    hooks: Hooks
    lease: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> str:
        return self.env.project

    @property
    def compose(self) -> Compose:
        return Compose(self.repo.root, self.project, {**current.environment(self.env), **self.lease})

    def result(self, status: Any, **more: Any) -> StackResult:
        warnings = (*self.env.warnings, *more.pop("warnings", ()))
        return StackResult(
            status, env=dict(self.env.values), project=self.project, warnings=tuple(dict.fromkeys(warnings)), **more
        )


def bring_up(
    repo: Repo,
    config: Config,
    feature: str,
    *,
    fresh: bool = False,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    hooks: Hooks | None = None,
) -> StackResult:
    """Bring the stack of a feature up in this tree and return how that ended.

    `timeout_s` is the ceiling of readiness in seconds; `fresh` destroys containers and volumes first. What goes wrong
    with the application is a result; raises Refusal `compose-missing`, `docker-not-available`, `busy` (3),
    `no-free-ports`, `state-unwritable` for what kept it from being tried.
    """
    job = _Job(repo, config, feature, stack_env(repo, config, feature), fresh, timeout_s, hooks or Hooks())
    if compose_file(repo.root) is None:
        if not job.hooks.hosts:
            raise Refusal(
                "compose-missing", "there is no compose file in the root of this tree", fix="add compose.yaml"
            )
        return _reused(job, (), NOT_CHANGED, (), warm=False)
    warm = None if fresh else _warm(job)
    if warm:
        return _reused(job, warm.containers, warm.because, warm.verdict.warnings)
    # Somebody else may be bringing up the very same: theirs is looked at once it is through.
    with stampfile.held(repo, job.project, wait_s=timeout_s + 60):
        warm = None if fresh else _warm(job)
        if warm:
            return _reused(job, warm.containers, warm.because, warm.verdict.warnings)
        return _raise(job)


def _reused(
    job: _Job, containers: tuple[Container, ...], because: str | None, warnings: tuple[str, ...], *, warm: bool = True
) -> StackResult:
    """Follow up on containers that stay as they are; host services that have to be built take a slot."""
    if job.hooks.hosts is None or _hosts_stand(job):
        return _with_hosts(job, containers, warm=warm, reused=because, warnings=warnings)
    with _slot(job) as leased:
        return _with_hosts(leased, containers, warm=warm, reused=because, warnings=warnings)


def _hosts_stand(job: _Job) -> bool:
    """Tell whether every host service runs, answers and was started from this code."""
    if job.fresh or job.hooks.hosts_status is None:
        return False
    rows = job.hooks.hosts_status(job.repo, job.project)
    code = current.code_stamp(job.repo, job.config)
    return bool(rows) and all(well(row) and row.get("stamp") == code for row in rows)


def _warm(job: _Job) -> current.Currency | None:
    record = stampfile.load(job.repo, job.project)
    if record is None or record.stamp is None:
        return None
    from morph_tasks.stack.engine import EngineError

    try:
        found = current.look(job.repo, job.config, job.env, record)
    except EngineError:
        return None
    return found if found.warm else None


def _raise(job: _Job) -> StackResult:
    from morph_tasks.machine import live
    from morph_tasks.stack.available import require_docker
    from morph_tasks.stack.preflight import findings
    from morph_tasks.stack.sample import sample

    require_docker()
    live.reap(stampfile.live_dir(job.repo))
    try:
        resolved, words = job.compose.resolve()
    except Refusal as refusal:
        if refusal.code != "compose-invalid":
            raise
        return job.result("fail", reason=refusal.code, message=refusal.what, fix=refusal.fix, details=refusal.payload)
    existing = sample(job.project)
    foreign = _foreign(job, existing)
    if foreign:
        return job.result("fail", reason="project-taken", message=foreign, fix=f"docker compose -p {job.project} down")
    found = findings(resolved, job.env, job.repo.root, frozenset(one.id for one in existing))
    blocking = [one for one in found if one.blocks] if _linked(job.repo) else []
    if blocking:
        named = "; ".join(one.message for one in blocking)
        message = f"this stack cannot run beside another one: {named}"
        details = {"findings": [one.as_json() for one in found]}
        return job.result("fail", reason="stack-not-isolated", message=message, fix=blocking[0].fix, details=details)
    warnings = [*words, *(one.message for one in found)]
    with _slot(job) as leased:
        return _raise_resolved(leased, resolved, existing, tuple(warnings))


@contextmanager
def _slot(job: _Job) -> Iterator[_Job]:
    """Hold a heavy slot, and give the job that lets its commands use it."""
    if job.hooks.slot is None:
        yield job
        return
    with job.hooks.slot() as lease:
        # The commands of a lease never ask for a second one.
        yield replace(job, lease=dict(getattr(lease, "env", None) or {}))


def _raise_resolved(
    job: _Job, resolved: dict[str, Any], existing: tuple[Container, ...], warnings: tuple[str, ...]
) -> StackResult:
    from morph_tasks.stack.raising import Place, raise_containers

    if job.fresh:
        from morph_tasks.stack.down import take_down_held

        job.hooks.tell(f"removing {job.project} with its volumes")
        gone = take_down_held(job.repo, job.project, volumes=True, hooks=job.hooks)
        if not gone.ok:
            message = f"the old stack could not be removed: {'; '.join(gone.left)}"
            return job.result("fail", reason="not-removed", message=message, warnings=warnings)
    record = _announced(job, resolved)
    place = Place(stampfile.log_of(job.repo, job.project), stampfile.live_dir(job.repo))
    code = current.fingerprint(job.repo, job.config)
    problem = _images(job, resolved, place)
    if problem is not None:
        stampfile.save(job.repo, replace(record, state=stampfile.FAILED))
        return replace(problem, warnings=(*problem.warnings, *warnings))
    from morph_tasks.stack.images import built

    made = built(resolved, job.project)
    job.hooks.tell(f"starting {job.project}")
    raised = raise_containers(job.compose, record.services, place, deadline=time.monotonic() + job.timeout_s)
    if raised.problem is not None:
        stampfile.save(job.repo, replace(record, state=stampfile.FAILED))
        return _explained(job, resolved, raised, warnings)
    warnings += raised.verdict.warnings
    other = [name for name, image in built(resolved, job.project).items() if made.get(name) != image]
    if other:
        message = f"the image of {', '.join(other)} was written by somebody else while this stack came up"
        fix = "remove `image:` of the service, or put ${COMPOSE_PROJECT_NAME} in it"
        return job.result("fail", reason="image-overwritten", message=message, fix=fix, warnings=warnings)
    warnings += _stamp(job, record, raised.containers, code)
    warnings += _stale_volume(job, resolved, raised.containers)
    return _with_hosts(job, raised.containers, warm=False, reused=None, warnings=warnings)


def _announced(job: _Job, resolved: dict[str, Any]) -> Record:
    """Put on record what is about to be created, before any of it is."""
    from morph_tasks.features.store import now
    from morph_tasks.stack.stale import volume_names

    old = stampfile.load(job.repo, job.project)
    there = tuple(volume_names(job.project))
    killed = old is not None and old.state == stampfile.RAISING
    record = stampfile.Record(
        job.project,
        job.env.key,
        str(job.repo.root),
        stampfile.RAISING,
        services_of(resolved),
        volumes_before=old.volumes_before if old and killed else there,
        since=now(),
        extra=old.extra if old else {},
    )
    stampfile.save(job.repo, record)
    return record


def _images(job: _Job, resolved: dict[str, Any], place: Any) -> StackResult | None:
    """Build and pull what is needed; returns what went wrong."""
    from morph_tasks.stack.images import to_build, to_pull
    from morph_tasks.stack.logs import cleaned, secrets_of
    from morph_tasks.stack.raising import prepare

    steps: list[tuple[str, list[str]]] = [("build", to_build(resolved)), ("pull", to_pull(resolved, job.project))]
    for word, names in steps:
        if not names:
            continue
        job.hooks.tell(f"{word}ing {', '.join(names)}")
        problem, lines = prepare(job.compose, [word, *names], place, timeout_s=job.timeout_s * _BUILD_FACTOR)
        if problem:
            hidden = secrets_of(resolved, job.env.secrets)
            output = tuple(cleaned(line, hidden) for line in lines)
            return job.result("fail", reason=f"{word}-failed", message=cleaned(problem, hidden), output=output)
    return None


def _stamp(job: _Job, record: Record, containers: tuple[Container, ...], code: tuple[str, str]) -> tuple[str, ...]:
    """Write what the stack was made from; returns a warning when that is not known."""
    from morph_tasks.stack.inputs import inputs_of

    after = current.fingerprint(job.repo, job.config)
    files = tuple(dict.fromkeys(name for one in containers for name in one.config_files))
    stamp = stampfile.Stamp(
        code[0],
        code[1],
        inputs_of(job.repo.root, files, current.environment(job.env)),
        current.images_of(containers),
        tuple(one.id for one in containers),
    )
    ready = replace(record, state=stampfile.READY, stamp=stamp if after == code else None)
    stampfile.save(job.repo, ready)
    if after == code:
        return ()
    return ("the tree changed while the stack came up: the next `up` builds it again",)


def _explained(job: _Job, resolved: dict[str, Any], raised: Raised, warnings: tuple[str, ...]) -> StackResult:
    """Return the failure with the last words of who failed, and with the likely cause where one is known."""
    from morph_tasks.stack.logs import cleaned, last_words, secrets_of
    from morph_tasks.stack.stale import likely_cause

    hidden = secrets_of(resolved, job.env.secrets)
    guilty = [one for one in raised.containers if one.service in raised.who]
    output = tuple(cleaned(line, hidden) for line in raised.output) or last_words(guilty, hidden)
    cause = likely_cause(job.feature, job.project, raised.containers, resolved)
    message = cleaned(raised.problem or "", hidden)
    return job.result(
        "fail",
        reason="stale-volume" if cause else raised.reason,
        message=f"{message}; {cause}" if cause else message,
        fix=f"morph-spec e2e up {job.feature} --fresh" if cause else "",
        services=_shown(raised.containers),
        output=output,
        warnings=(*warnings, *raised.verdict.warnings),
    )


def _stale_volume(job: _Job, resolved: dict[str, Any], containers: tuple[Container, ...]) -> tuple[str, ...]:
    """Warn of a volume with other credentials while all is healthy; the specs would only fail to sign in."""
    from morph_tasks.stack.stale import likely_cause, suspects

    if not suspects(job.project, containers, resolved):
        return ()
    cause = likely_cause(job.feature, job.project, containers, resolved)
    return (cause,) if cause else ()


def _with_hosts(
    job: _Job, containers: tuple[Container, ...], *, warm: bool, reused: str | None, warnings: tuple[str, ...] = ()
) -> StackResult:
    """Let the host services and the auth seed follow, and return what stands."""
    base = current.base_url(containers, job.env.values)
    if base is None and job.hooks.hosts:
        base = job.env.values["PLAYWRIGHT_BASE_URL"]
    context = Context(
        job.repo,
        job.config,
        job.feature,
        job.project,
        dict(job.env.values),
        base,
        job.fresh,
        warm,
        time.monotonic() + job.timeout_s,
        job.env.secrets,
        job.lease,
    )
    common = {"services": _shown(containers), "base_url": base}
    hosts: tuple[dict[str, Any], ...] = ()
    for step in (job.hooks.hosts, job.hooks.seed):
        outcome = step(context) if step else HookOutcome()
        warnings = (*warnings, *outcome.warnings)
        hosts += outcome.services
        reused = None if outcome.changed and step is job.hooks.hosts else reused
        if outcome.reason:
            return job.result(
                "fail",
                reason=outcome.reason,
                message=outcome.message,
                fix=outcome.fix,
                output=outcome.output,
                hosts=hosts,
                warnings=warnings,
                **common,
            )
    return job.result("pass", reused_because=reused, hosts=hosts, warnings=warnings, **common)


def _shown(containers: tuple[Container, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(one.as_json() for one in containers if not one.oneoff)


def _linked(repo: Repo) -> bool:
    return repo.git_dir != repo.common_dir


def _foreign(job: _Job, existing: tuple[Container, ...]) -> str | None:
    """Tell when the name of our project is in use by something that this tool did not bring up."""
    if stampfile.load(job.repo, job.project) is not None:
        return None
    trees = [os.path.realpath(tree.path) for tree in job.repo.worktrees()] if existing else []
    for one in existing:
        place = os.path.realpath(one.working_dir)
        if not any(place == tree or place.startswith(tree + os.sep) for tree in trees):
            return f"container {one.name} has our project name {job.project} and was brought up from {one.working_dir}"
    return None
