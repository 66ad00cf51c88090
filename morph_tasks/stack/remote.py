"""The same questions where the engine is not behind a socket of this machine: the `docker` command answers."""

from __future__ import annotations

import json
from typing import Any

from morph_tasks.proc import ProcError, run
from morph_tasks.stack.engine import PROJECT_LABEL, unavailable
from morph_tasks.stack.model import Container
from morph_tasks.stack.sample import from_inspect, ordered, parse_ps

_ANSWER_S = 60


def ping_by_command() -> None:
    """Raise Refusal `docker-not-available` unless the engine answers."""
    try:
        run(["docker", "version", "--format", "{{.Server.Version}}"], timeout=_ANSWER_S)
    except ProcError as error:
        said = error.done.stderr.decode("utf-8", "replace").strip() if error.done else error.what
        last = said.splitlines()[-1] if said else error.what
        raise unavailable(last[:300], "check that `docker version` works") from None


def sample_by_command(project: str) -> tuple[Container, ...]:
    """Return the containers of a project; restart counts come from `docker inspect` where that works."""
    listed = parse_ps(run(["docker", "compose", "-p", project, "ps", "-a", "--format", "json"], timeout=_ANSWER_S).text)
    ids = [one.id or one.name for one in listed]
    if not ids:
        return ()
    done = run(["docker", "inspect", "--type", "container", *ids], timeout=_ANSWER_S, ok=(0, 1))
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return listed
    return ordered(from_inspect(one) for one in found) if found else listed


def list_by_command(kind: str, project: str) -> list[dict[str, Any]]:
    """Return the volumes or networks of a project as `docker inspect` has them."""
    every = ["-a"] if kind == "container" else []
    argv = ["docker", kind, "ls", *every, "-q", "--filter", f"label={PROJECT_LABEL}={project}"]
    names = run(argv, timeout=_ANSWER_S).text
    if not names.split():
        return []
    done = run(["docker", kind, "inspect", *names.split()], timeout=_ANSWER_S, ok=(0, 1))
    found: list[dict[str, Any]] = json.loads(done.stdout or b"[]")
    return found


def image_by_command(name: str) -> str | None:
    """Return the digest of an image; None when it is not there."""
    done = run(["docker", "image", "inspect", "--format", "{{.Id}}", name], timeout=_ANSWER_S, ok=(0, 1))
    return done.text.strip() or None
