"""Real host services for tests: a small server, ports, and the certainty that none outlives its test."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.machine import table
from morph_tasks.model.load import Config
from morph_tasks.repo.git import open_repo
from morph_tasks.stack import hosts, hosts_start, hosts_state
from tests.conftest import Project

PATIENCE_S = 20.0
PROJECT = "morph-cart"
PYTHON = f"{sys.executable} -E -S"

SERVER = """
import os, signal, socket, sys
port, name = int(sys.argv[1]), sys.argv[2]
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(64)
with open(name + ".starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
print("listening", flush=True)
while True:
    client, _ = listener.accept()
    client.settimeout(5)
    try:
        asked = client.recv(65536)
        if b"secret" in asked:
            print("the token is", os.environ["APP_TOKEN"], flush=True)
        code = open(name + ".code").read().strip() if os.path.exists(name + ".code") else "200"
        client.sendall(f"HTTP/1.1 {code} x\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n".encode())
    except OSError:
        pass
    client.close()
"""


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition, bounded."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.01)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(port: int, path: str = "/") -> str:
    """Ask once; returns the status line, or nothing when nobody answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            return client.recv(200).decode().partition("\r\n")[0]
    except OSError:
        return ""


@dataclass
class Stage:
    """A repository with host services; every one that was started ends with it."""

    project: Project
    ports: dict[str, int] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=lambda: {"STACK_VALUE": "from the stack"})

    def __post_init__(self) -> None:
        self.repo = open_repo(self.project.root)
        self.project.write("serve.py", SERVER)
        self.place = hosts_state.place_of(self.repo, PROJECT)
        self.mark = self.place.mark.removesuffix(f"{PROJECT}/")

    @property
    def root(self) -> Path:
        return self.project.root

    def server(self, name: str = "api", *, start: str = "{}", more: str = "", **keys: Any) -> dict[str, Any]:
        """Return the entry of a service that serves on a port of its own; `start` wraps its command."""
        port = self.ports.setdefault(name, free_port())
        command = f"{PYTHON} serve.py {port} {name} {more}".strip()
        return {
            "name": name,
            "start": start.replace("{}", command),
            "health": f"http://127.0.0.1:{port}/",
            "timeoutMs": 15_000,
            **keys,
        }

    def config(self, *services: dict[str, Any], **e2e: Any) -> Config:
        return Config({"e2e": {"hostServices": list(services), **e2e}}, "")

    def up(self, *services: dict[str, Any], stamp: str = "s1", **options: Any) -> hosts.HostsResult:
        return hosts.bring_up_hosts(self.repo, self.config(*services), PROJECT, self.env, stamp, **options)

    def down(self, only: list[str] | None = None) -> hosts.HostsStopped:
        return hosts.stop_all(self.repo, PROJECT, only=only)

    def starts(self, name: str = "api") -> list[int]:
        """Return the pid of each server of that name that ever listened."""
        path = self.root / f"{name}.starts"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def record(self, name: str = "api") -> dict[str, Any]:
        return next(one for one in self.state()["services"] if one["name"] == name)

    def state(self) -> Any:
        return json.loads(self.place.state.read_text())

    def edit(self, name: str = "api", **changes: Any) -> None:
        """Change the record of a service by hand."""
        state = self.state()
        next(one for one in state["services"] if one["name"] == name).update(changes)
        self.place.state.write_text(json.dumps(state))

    def log(self, name: str = "api") -> Path:
        return self.place.folder / f"e2e-host-{PROJECT}-{name}.log"

    def marked(self) -> list[table.Entry]:
        """Return the living processes that carry a mark of this repository's services."""
        found = []
        for pid, entry in table.snapshot().items():
            marks = table.marks(pid)
            if marks and not entry.dead and any(token.startswith(self.mark) for token in marks.tokens):
                found.append(entry)
        return found

    def child(self, body: str, **options: Any) -> subprocess.Popen[str]:
        """Run a script in a process of its own, with the names of this stage."""
        script = f"""
import json, os, signal, sys
from pathlib import Path
from morph_tasks.machine import signals
from morph_tasks.model.load import Config
from morph_tasks.repo.git import open_repo
from morph_tasks.stack import hosts, hosts_start, hosts_state
hosts_start.POLL_S, hosts_start.SETTLED_S = 0.05, 0.3
repo = open_repo(Path({str(self.root)!r}))
def up(*services, stamp="s1", **options):
    config = Config({{"e2e": {{"hostServices": list(services)}}}}, "")
    return hosts.bring_up_hosts(repo, config, {PROJECT!r}, {self.env!r}, stamp, **options)
{body}
"""
        return subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **options,
        )


def end_all(stage: Stage) -> None:
    """Kill what is left, by pid."""
    for _ in range(50):
        left = stage.marked()
        for entry in left:
            try:
                os.kill(entry.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if not left:
            return
        time.sleep(0.02)


def staged(project: Project, monkeypatch: Any) -> Iterator[Stage]:
    """Give a stage whose waits are short."""
    monkeypatch.setattr(hosts_start, "POLL_S", 0.05)
    monkeypatch.setattr(hosts_start, "SETTLED_S", 0.3)
    stage = Stage(project)
    try:
        yield stage
    finally:
        end_all(stage)
