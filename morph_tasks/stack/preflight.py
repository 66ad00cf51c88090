"""What would keep two stacks from running beside each other, found before anything is created."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morph_tasks.stack.env import StackEnv

_PORT_FIX = 'publish it from the block, as in "${PORT:-3000}:3000", or name the variable in e2e.portEnvNames'


@dataclass(frozen=True)
class Finding:
    """One obstacle. `blocks` is False for what is worth a warning in every tree."""

    code: str
    message: str
    fix: str = ""
    blocks: bool = True

    def as_json(self) -> dict[str, str]:
        """Return what `--json` says of it."""
        return {"code": self.code, "message": self.message, "fix": self.fix}


@dataclass(frozen=True)
class Published:
    """A port of the host that a service asks for."""

    service: str
    port: int
    host: str = ""
    protocol: str = "tcp"


def findings(resolved: Mapping[str, Any], env: StackEnv, root: Path, ours: frozenset[str]) -> list[Finding]:
    """Return what is wrong with a resolved compose file in this tree; `ours` are ids of containers of this project."""
    from morph_tasks.stack.busy import busy_ports

    ports = list(published(resolved))
    return [
        *_names(resolved, env.project),
        *_fixed_ports(ports, env),
        *_host_network(resolved),
        *_missing_binds(resolved, root),
        *busy_ports(ports, ours),
    ]


def published(resolved: Mapping[str, Any]) -> Iterator[Published]:
    """Yield the fixed ports of the host that services publish; a range counts with each of its ports."""
    for name, about in sorted((resolved.get("services") or {}).items()):
        for port in about.get("ports") or []:
            first, _, last = str(port.get("published") or "").partition("-")
            if not first.isdigit() or int(first) == 0:
                continue
            stop = int(last) if last.isdigit() else int(first)
            for number in range(int(first), min(stop, int(first) + 1000) + 1):
                yield Published(name, number, str(port.get("host_ip") or ""), str(port.get("protocol") or "tcp"))


def _names(resolved: Mapping[str, Any], project: str) -> Iterator[Finding]:
    for name, about in sorted((resolved.get("services") or {}).items()):
        fixed = about.get("container_name")
        if fixed and not _has(fixed, project):
            what = f"service {name}: fixed container_name {fixed}"
            yield Finding("fixed-container-name", what, "remove `container_name`: Compose names it by project")
        image = about.get("image")
        if about.get("build") and image and not _has(image, project):
            what = f"service {name}: the image it builds has the fixed name {image}, which other work trees write too"
            yield Finding("shared-image", what, "remove `image:`, or put ${COMPOSE_PROJECT_NAME} in it", blocks=False)
    for kind, word in (("networks", "network"), ("volumes", "volume")):
        for name, about in sorted((resolved.get(kind) or {}).items()):
            real = (about or {}).get("name")
            if (about or {}).get("external"):
                what = f"{word} {name}: external, so shared by all stacks that use {real or name}"
                yield Finding(f"external-{word}", what, blocks=False)
            elif real and not _has(real, project):
                what = f"{word} {name}: fixed name {real} shared"
                yield Finding(f"fixed-{word}-name", what, f"remove `name:` of the {word}")


def _has(name: object, project: str) -> bool:
    """Tell whether a name was made with the project in it, as `${COMPOSE_PROJECT_NAME}-db` is."""
    return project in str(name)


def _fixed_ports(ports: Iterable[Published], env: StackEnv) -> Iterator[Finding]:
    block = env.block.ports if env.block else range(0)
    for port in ports:
        if port.port not in block:
            what = f"service {port.service}: fixed published port {port.port}"
            yield Finding("fixed-port", what, _PORT_FIX)


def _host_network(resolved: Mapping[str, Any]) -> Iterator[Finding]:
    for name, about in sorted((resolved.get("services") or {}).items()):
        if about.get("network_mode") == "host":
            what = f"service {name}: network_mode host puts all its ports on this machine"
            yield Finding("host-network", what, "publish its ports instead")


def _missing_binds(resolved: Mapping[str, Any], root: Path) -> Iterator[Finding]:
    for name, about in sorted((resolved.get("services") or {}).items()):
        for mount in about.get("volumes") or []:
            source = mount.get("source")
            if mount.get("type") == "bind" and source and not os.path.lexists(source):
                what = f"service {name}: the bind source {_shown(source, root)} is not there"
                yield Finding("bind-source-missing", what, "create it, or copy it from the root of the project")
    for kind in ("configs", "secrets"):
        for name, about in sorted((resolved.get(kind) or {}).items()):
            source = (about or {}).get("file")
            if source and not os.path.lexists(source):
                what = f"{kind[:-1]} {name}: the file {_shown(source, root)} is not there"
                yield Finding("bind-source-missing", what, "create it, or copy it from the root of the project")


def _shown(source: str, root: Path) -> str:
    inside = os.path.relpath(source, root)
    return source if inside.startswith("..") else f"./{inside}"
