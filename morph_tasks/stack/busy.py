"""Which ports that a stack needs are in use on this machine, and by whom."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.stack.preflight import Finding, Published


def busy_ports(ports: Iterable[Published], ours: frozenset[str]) -> Iterator[Finding]:
    """Yield a finding for each port that somebody else holds; `ours` are ids of containers of this project."""
    from morph_tasks.stack.preflight import Finding

    held = [port for port in dict.fromkeys(ports) if not can_bind(port.host, port.port, port.protocol)]
    if not held:
        return
    by_containers = _containers_by_port()
    for port in held:
        container = by_containers.get((port.port, port.protocol))
        if container and container[0] in ours:
            continue
        who = container[1] if container else holder(port.port, port.protocol)
        what = f"service {port.service}: port {port.port} is in use by {who or 'another program'}"
        yield Finding("port-in-use", what, "stop who holds it, or publish another port")


def can_bind(host: str, port: int, protocol: str = "tcp") -> bool:
    """Tell whether a container could publish a port on an address; "" is all of them."""
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    if protocol not in ("tcp", "udp"):
        return True
    places = [host] if host else ["0.0.0.0", "127.0.0.1", "::", "::1"]  # noqa: S104
    return all(_binds(place, port, kind) for place in places)


def _binds(host: str, port: int, kind: int) -> bool:
    six = ":" in host
    try:
        with socket.socket(socket.AF_INET6 if six else socket.AF_INET, kind) as probe:
            if six:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # Connections that were closed a moment ago keep nobody from listening; a listener still does.
            elif kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            if kind == socket.SOCK_STREAM:
                probe.listen(1)
    except OSError as error:
        # Below 1024 the engine may what we may not; an address that is not here is the engine's business.
        return error.errno != errno.EADDRINUSE
    return True


def holder(port: int, protocol: str = "tcp") -> str:
    """Return the program that listens on a port as `name (pid N)`; "" when the system does not tell."""
    import psutil  # type: ignore[import-untyped]

    try:
        found = psutil.net_connections("udp" if protocol == "udp" else "tcp")
    except (psutil.AccessDenied, PermissionError):
        found = []
    for one in found:
        listens = protocol == "udp" or one.status == psutil.CONN_LISTEN
        if listens and one.laddr and one.laddr.port == port and one.pid:
            with suppress(psutil.Error):
                return f"{psutil.Process(one.pid).name()} (pid {one.pid})"
    return ""


def _containers_by_port() -> dict[tuple[int, str], tuple[str, str]]:
    """Return who publishes which port of this machine: (id, words)."""
    from morph_tasks.stack import engine

    found: dict[tuple[int, str], tuple[str, str]] = {}
    if engine.socket_path() is None:
        return found
    with suppress(Refusal, engine.EngineError):
        for one in engine.containers():
            name = (one.get("Names") or [one["Id"][:12]])[0].lstrip("/")
            project = (one.get("Labels") or {}).get(engine.PROJECT_LABEL)
            words = f"container {name}" + (f" of compose project {project}" if project else "")
            for port in one.get("Ports") or []:
                if port.get("PublicPort"):
                    found[(int(port["PublicPort"]), str(port.get("Type") or "tcp"))] = (str(one["Id"]), words)
    return found
