"""Taking a stack down: bounded, as far as it goes, and never anything that is not of its own project."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError, run
from morph_tasks.stack import engine, project, stampfile
from morph_tasks.stack.available import require_docker
from morph_tasks.stack.engine import PROJECT_LABEL

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.model import Hooks

_LOCK_S = 15.0
_COMPOSE_S = 60.0
_STEP_S = 30.0
# The whole of it, beside the wait for the lock: whoever closes a feature does not wait for a hanging engine.
_WHOLE_S = 90.0
# What a killed client had asked the engine for may still appear for a moment.
_LATE_S = 0.4
_ANONYMOUS = 64


@dataclass(frozen=True)
class DownResult:
    """What was taken down and what is left; `left` is empty when nothing of the project remains that should not."""

    project: str | None
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    kept_volumes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    busy: bool = False

    @property
    def ok(self) -> bool:
        return not self.left

    def as_json(self) -> dict[str, Any]:
        """Return the document of `e2e down --json`."""
        return {
            "ok": self.ok,
            "project": self.project,
            "removed": list(self.removed),
            "left": list(self.left),
            "keptVolumes": list(self.kept_volumes),
            "warnings": list(self.warnings),
        }


def take_down(
    repo: Repo,
    feature: str,
    *,
    volumes: bool = False,
    images: bool = False,
    hooks: Hooks | None = None,
    wait_s: float = _LOCK_S,
) -> DownResult:
    """Take the stack of a feature down; raises nothing that is expected: what could not be done is in `left`.

    Named volumes stay unless `volumes`, except those of a first bring-up that was killed in the middle: nothing in
    them is whole. `images` removes what was built for the project.
    """
    name = project.known_project(repo, project.stack_key(repo, feature))
    if name is None:
        return DownResult(None)
    try:
        with stampfile.held(repo, name, wait_s=wait_s):
            return take_down_held(repo, name, volumes=volumes, images=images, hooks=hooks)
    except Refusal as refusal:
        return DownResult(name, left=(f"{name}: {refusal.what}",), busy=refusal.exit_code == 3)


def take_down_held(
    repo: Repo, name: str, *, volumes: bool, images: bool = False, hooks: Hooks | None = None
) -> DownResult:
    """Do the same for a project whose lock the caller holds."""
    from morph_tasks.machine import live

    warnings = [f"ended {one}, left by a run that was killed" for one in live.reap(stampfile.live_dir(repo))]
    left = list(hooks.stop_hosts(repo, name)) if hooks and hooks.stop_hosts else []
    record = stampfile.load(repo, name)
    if record is not None:
        # From here on it is not what it was, whatever happens next.
        with suppress(Refusal):
            record = stampfile.unstamped(repo, record)
    try:
        require_docker()
        strangers = _strangers(repo, name, record)
        if strangers:
            said = f"{name}: {strangers[0]} was brought up by something else, and is left alone"
            return DownResult(name, left=(*left, said), warnings=tuple(warnings))
        return _swept(repo, name, record, volumes=volumes, images=images, left=left, warnings=warnings)
    except (Refusal, engine.EngineError) as error:
        nothing = record is None and getattr(error, "code", "") == "docker-not-available"
        said = getattr(error, "what", None) or str(error)
        left += [] if nothing else [f"{name}: {said}"]
        return DownResult(name, left=tuple(left), warnings=tuple(warnings))


def close_stack(
    repo: Repo, feature: str, *, volumes: bool = True, images: bool = True, hooks: Hooks | None = None
) -> DownResult:
    """Take a stack down for good, and give its ports and its name back when nothing is left of it."""
    from morph_tasks.stack.ports import release

    key = project.stack_key(repo, feature)
    done = take_down(repo, feature, volumes=volumes, images=images, hooks=hooks)
    if done.ok:
        try:
            release(repo, key)
            if not done.kept_volumes:
                project.release_project(repo, key)
        except Refusal as refusal:
            return replace(done, warnings=(*done.warnings, refusal.what))
    return done


def _strangers(repo: Repo, name: str, record: stampfile.Record | None) -> list[str]:
    """Return containers that carry the name of our project without being ours."""
    if record is not None:
        return []
    trees = [os.path.realpath(tree.path) for tree in repo.worktrees()]
    found = []
    for one in _containers(name):
        labels = one.get("Labels") or (one.get("Config") or {}).get("Labels") or {}
        place = os.path.realpath(str(labels.get("com.docker.compose.project.working_dir", "")))
        if not any(place == tree or place.startswith(tree + os.sep) for tree in trees):
            found.append(_name(one))
    return found


def _swept(
    repo: Repo,
    name: str,
    record: stampfile.Record | None,
    *,
    volumes: bool,
    images: bool,
    left: list[str],
    warnings: list[str],
) -> DownResult:
    killed = record is not None and record.state == stampfile.RAISING
    before = set(record.volumes_before) if record else set()
    anonymous = _anonymous(name)

    def doomed() -> list[str]:
        names = [str(one["Name"]) for one in _listed("volume", name)]
        return [one for one in names if volumes or one in anonymous or (killed and one not in before)]

    deadline = time.monotonic() + _WHOLE_S
    had = _containers(name)
    gone = [f"container {_name(one)}" for one in had]
    gone += [f"network {one['Name']}" for one in _listed("network", name)] + [f"volume {one}" for one in doomed()]
    if had:
        warnings += _compose_down(name, volumes=volumes)
    quiet = 0
    while time.monotonic() < deadline:
        ids = [str(one["Id"]) for one in _containers(name)]
        nets = [str(one["Id"]) for one in _listed("network", name)]
        vols = doomed()
        if not (ids or nets or vols):
            quiet += 1
            if quiet > (1 if killed else 0):
                break
            time.sleep(_LATE_S)
            continue
        quiet = 0
        if _remove(ids, nets, vols, deadline):
            time.sleep(_LATE_S)
    _drop(("volume", "rm", "-f"), sorted(anonymous), deadline)
    if images:
        _drop(("image", "rm"), _images(name), deadline)
    left += [f"container {_name(one)}" for one in _containers(name)]
    left += [f"network {one['Name']}" for one in _listed("network", name)] + [f"volume {one}" for one in doomed()]
    kept = tuple(sorted(str(one["Name"]) for one in _listed("volume", name) if f"volume {one['Name']}" not in left))
    if not left and not kept:
        stampfile.remove(repo, name)
    elif record is not None:
        state = stampfile.FAILED if left else stampfile.READY
        with suppress(Refusal):
            stampfile.save(repo, replace(record, state=state, stamp=None, volumes_before=kept))
    return DownResult(name, tuple(dict.fromkeys(gone)), tuple(left), kept, tuple(warnings))


def _compose_down(name: str, *, volumes: bool) -> list[str]:
    """Let Compose stop what runs in its order; what it cannot do is removed by label afterwards."""
    argv = ["docker", "compose", "--ansi", "never", "-p", name, "down", "--remove-orphans"]
    try:
        # In no project folder: its file may not resolve any more, and the labels say all that is needed.
        run([*argv, *(["--volumes"] if volumes else [])], cwd=_nowhere(), env=_plain_env(), timeout=_COMPOSE_S)
    except ProcError as error:
        return [f"`docker compose down`: {error.what.splitlines()[-1][:300]}"]
    return []


def _remove(containers: Sequence[str], networks: Sequence[str], volumes: Sequence[str], deadline: float) -> list[str]:
    return [
        *_drop(("rm", "-f", "-v"), containers, deadline),
        *_drop(("network", "rm"), networks, deadline),
        *_drop(("volume", "rm", "-f"), volumes, deadline),
    ]


def _drop(what: tuple[str, ...], names: Sequence[str], deadline: float) -> list[str]:
    if not names:
        return []
    try:
        run(["docker", *what, *names], timeout=max(1.0, min(_STEP_S, deadline - time.monotonic())))
    except ProcError as error:
        return [error.what]
    return []


def _containers(name: str) -> list[dict[str, Any]]:
    if engine.socket_path() is None:
        return _by_command("container", name)
    return engine.containers(name)


def _listed(kind: str, name: str) -> list[dict[str, Any]]:
    if engine.socket_path() is None:
        return _by_command(kind, name)
    ask: Callable[[str], list[dict[str, Any]]] = engine.networks if kind == "network" else engine.volumes
    return ask(name)


def _by_command(kind: str, name: str) -> list[dict[str, Any]]:
    from morph_tasks.stack.remote import list_by_command

    return list_by_command(kind, name)


def _anonymous(name: str) -> set[str]:
    """Return the volumes without a name that containers of a project have: nothing uses them after these."""
    found = set()
    for one in _containers(name):
        for mount in one.get("Mounts") or []:
            volume = str(mount.get("Name") or "")
            if mount.get("Type") == "volume" and len(volume) == _ANONYMOUS and set(volume) <= set("0123456789abcdef"):
                found.add(volume)
    return found


def _name(one: dict[str, Any]) -> str:
    return str((one.get("Names") or [one.get("Name") or str(one.get("Id"))[:12]])[0]).lstrip("/")


def _images(name: str) -> list[str]:
    """Return the images that were built for a project and carry no name of their own choice."""
    done = run(
        ["docker", "images", "--filter", f"label={PROJECT_LABEL}={name}", "--format", "{{.Repository}}:{{.Tag}}"],
        timeout=_STEP_S,
        ok=(0, 1),
    )
    return [line for line in done.text.split() if line.startswith(f"{name}-") and "<none>" not in line]


def _nowhere() -> Any:
    from pathlib import Path

    return Path("/")


def _plain_env() -> dict[str, str]:
    """Return the environment without what would lead Compose to a file."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COMPOSE_")}
