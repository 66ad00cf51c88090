"""One look at the containers of a project, from the engine or from `docker compose ps`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from morph_tasks.stack import engine
from morph_tasks.stack.model import Container, Port

_LABEL = "com.docker.compose."
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?(?: \w+)?")


def sample(project: str) -> tuple[Container, ...]:
    """Return every container of a project, the ended ones too.

    Raises Refusal `docker-not-available`, EngineError, ProcError.
    """
    if engine.socket_path() is None:
        from morph_tasks.stack.remote import sample_by_command

        return sample_by_command(project)
    found = (engine.inspect(str(listed["Id"])) for listed in engine.containers(project))
    return ordered(from_inspect(one) for one in found if one)


def ordered(found: Any) -> tuple[Container, ...]:
    """Return containers by service and number."""
    return tuple(sorted(found, key=lambda one: (one.service, one.number, one.name)))


def from_inspect(one: Mapping[str, Any]) -> Container:
    """Read a container from `GET /containers/<id>/json`, which is what `docker inspect` prints."""
    state = one.get("State") or {}
    labels = (one.get("Config") or {}).get("Labels") or {}
    host = one.get("HostConfig") or {}
    mounts = [mount for mount in one.get("Mounts") or [] if mount.get("Type") == "bind"]
    return Container(
        service=str(labels.get(f"{_LABEL}service", "")),
        name=str(one.get("Name", "")).lstrip("/"),
        state=str(state.get("Status", "")),
        health=_health((state.get("Health") or {}).get("Status")),
        exit_code=int(state.get("ExitCode") or 0),
        restarts=int(one.get("RestartCount") or 0),
        id=str(one.get("Id", "")),
        image=str(one.get("Image", "")),
        started=moment(str(state.get("StartedAt", ""))),
        policy=str((host.get("RestartPolicy") or {}).get("Name") or "no"),
        oneoff=str(labels.get(f"{_LABEL}oneoff", "")).lower() == "true",
        number=_number(labels.get(f"{_LABEL}container-number")),
        ports=_bound(host.get("PortBindings"), (one.get("NetworkSettings") or {}).get("Ports")),
        binds=tuple(str(mount.get("Source", "")) for mount in mounts),
        working_dir=str(labels.get(f"{_LABEL}project.working_dir", "")),
        config_files=tuple(filter(None, str(labels.get(f"{_LABEL}project.config_files", "")).split(","))),
    )


def parse_ps(text: str) -> tuple[Container, ...]:
    """Read what `docker compose ps -a --format json` prints: an array, or one object a line.

    Lines that are neither (warnings of a tool that merges its streams) are passed over.
    """
    found: list[Any] = []
    decoder = json.JSONDecoder()
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        line = lines[at].lstrip()
        if line[:1] in ("[", "{"):
            rest = "".join([line, *lines[at + 1 :]])
            try:
                value, used = decoder.raw_decode(rest)
            except ValueError:
                value, used = None, 0
            if isinstance(value, dict) or (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
                found += value if isinstance(value, list) else [value]
                lines[at:] = rest[used:].lstrip("\r\n").splitlines(keepends=True)
                continue
        at += 1
    return ordered(_from_ps(one) for one in found if one.get("Service") or one.get("Name"))


def _from_ps(one: Mapping[str, Any]) -> Container:
    labels = one.get("Labels") if isinstance(one.get("Labels"), Mapping) else _labels(str(one.get("Labels") or ""))
    assert isinstance(labels, Mapping)
    status = str(one.get("Status") or "").lower()
    state = str(one.get("State") or "").lower()
    if " " in state or "(" in state:  # `Up 3 seconds (healthy)`, as versions before 2.0 had it
        status, state = status or state, _state_of(state)
    return Container(
        service=str(one.get("Service") or labels.get(f"{_LABEL}service", "")),
        name=str(one.get("Name") or one.get("Names") or ""),
        state=state or _state_of(status),
        health=_health(one.get("Health") or _health_of(status)),
        exit_code=_number(one.get("ExitCode"), 0),
        id=str(one.get("ID") or one.get("Id") or ""),
        oneoff=str(labels.get(f"{_LABEL}oneoff", "")).lower() == "true",
        number=_number(labels.get(f"{_LABEL}container-number")),
        ports=_publishers(one.get("Publishers")),
        working_dir=str(labels.get(f"{_LABEL}project.working_dir", "")),
    )


def _labels(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(",")) if name}


def _publishers(found: Any) -> tuple[Port, ...]:
    ports = {
        Port(int(one["PublishedPort"]), int(one.get("TargetPort") or 0), str(one.get("Protocol") or "tcp"))
        for one in found or []
        if isinstance(one, Mapping) and one.get("PublishedPort")
    }
    return tuple(sorted(ports, key=lambda port: (port.target, port.published)))


def _bound(declared: Any, living: Any) -> tuple[Port, ...]:
    """Return the ports of a container: those that are bound now, or else those it asked for."""
    found = set()
    for source in (living, declared):
        for target, places in (source or {}).items():
            number, _, protocol = str(target).partition("/")
            for place in places or []:
                if str(place.get("HostPort") or "0") not in ("", "0"):
                    found.add(Port(int(place["HostPort"]), int(number), protocol or "tcp", ""))
        if found:
            break
    return tuple(sorted(found, key=lambda port: (port.target, port.published)))


def _health(said: Any) -> str:
    text = str(said or "").lower()
    return "" if text == "none" else text


def _health_of(status: str) -> str:
    for word in ("unhealthy", "healthy", "health: starting"):
        if f"({word})" in status:
            return word.removeprefix("health: ")
    return ""


def _state_of(status: str) -> str:
    first = status.split("(")[0].split(" ")[0].strip()
    return {"up": "paused" if "(paused)" in status else "running", "exit": "exited"}.get(first, first)


def _number(said: Any, other: int = 1) -> int:
    try:
        return int(said)
    except (TypeError, ValueError):
        return other


def moment(said: str) -> float | None:
    """Return seconds of the epoch; the engine writes nanoseconds, and the year 1 for never."""
    found = _MOMENT.fullmatch(said.strip())
    if not found or said.startswith("0001-"):
        return None
    from datetime import datetime

    try:
        whole = datetime.fromisoformat(found[1] + (found[3] or "Z").replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None
    return whole + float(found[2] or 0)
