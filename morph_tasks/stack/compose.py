"""`docker compose` as the only one who reads compose files; this asks it and keeps its words."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError, run
from morph_tasks.stack.model import Service

FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_ANSWER_S = 60
_MISSING = re.compile(r"required variable ([A-Za-z_][A-Za-z0-9_]*) is missing a value")
_LOG_LINE = re.compile(r'time="[^"]*" level=(\w+) msg="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Compose:
    """One project in one tree; `env` is the whole environment that the command gets."""

    root: Path
    project: str
    env: Mapping[str, str]

    def argv(self, *args: str) -> list[str]:
        """Return a command of this project."""
        # With its own name always: an inherited one, or `name:` in the file, may belong to another tree.
        return ["docker", "compose", "--ansi", "never", "-p", self.project, *args]

    def resolve(self) -> tuple[dict[str, Any], list[str]]:
        """Return the compose files as Compose understands them, and its warnings.

        Raises Refusal `compose-invalid` in Compose's own words, `docker-not-available` without Compose.
        """
        try:
            done = run(self.argv("config", "--format", "json"), cwd=self.root, env=self.env, timeout=_ANSWER_S)
        except ProcError as error:
            raise self._not_resolved(error) from None
        said = done.stderr.decode("utf-8", "replace")
        try:
            found = json.loads(done.stdout)
        except ValueError:
            raise _invalid("`docker compose config --format json` printed no JSON") from None
        return found, words_of(said)

    def _not_resolved(self, error: ProcError) -> Refusal:
        from morph_tasks.stack.engine import unavailable

        said = error.done.stderr.decode("utf-8", "replace") if error.done else ""
        if error.code == "tool-missing":
            return unavailable("the `docker` command is not on the PATH", "install Docker")
        if "is not a docker command" in said or "unknown shorthand flag: 'p'" in said or "unknown flag: --ansi" in said:
            return unavailable("Compose v2 is not installed", "install the Compose plugin of Docker")
        if not error.done:
            return error
        lines = [line for line in said.strip().splitlines() if "level=warning" not in line]
        return _invalid("\n".join(lines).strip()[-2000:] or error.what)


def services_of(resolved: Mapping[str, Any]) -> tuple[Service, ...]:
    """Return the services that a bring-up has to make ready."""
    found = []
    for name, about in sorted((resolved.get("services") or {}).items()):
        if about.get("provider"):
            continue
        deploy = about.get("deploy") or {}
        condition = str((deploy.get("restart_policy") or {}).get("condition") or "no")
        replicas = about.get("scale", deploy.get("replicas", 1))
        found.append(
            Service(
                name,
                replicas=int(1 if replicas is None else replicas),
                build=bool(about.get("build")),
                published=any(port.get("published") for port in about.get("ports") or []),
                policy=str(
                    about.get("restart") or {"any": "always", "none": "no"}.get(str(condition), condition) or "no"
                ),
            )
        )
    return tuple(found)


def compose_file(root: Path, env: Mapping[str, str] | None = None) -> str | None:
    """Return the name of the compose file that Compose would take in this very folder; None when there is none.

    Compose itself looks in the folders above as well: in a work tree below the root it would find the root's.
    """
    for name in FILES:
        if os.path.isfile(root / name):
            return name
    chosen = (os.environ if env is None else env).get("COMPOSE_FILE") or _chosen_in_dotenv(root)
    return chosen or None


def words_of(said: str) -> list[str]:
    """Return the warnings in what Compose wrote to stderr, without times and levels."""
    found = []
    for line in said.splitlines():
        match = _LOG_LINE.match(line.strip())
        if match:
            found.append(match[2].replace('\\"', '"'))
    return list(dict.fromkeys(found))


def _chosen_in_dotenv(root: Path) -> str:
    from morph_tasks.stack.envfile import parse

    try:
        text = (root / ".env").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    return parse(text)[0].get("COMPOSE_FILE", "")


def _invalid(said: str) -> Refusal:
    missing = _MISSING.search(said)
    if missing:
        return Refusal(
            "compose-invalid",
            f"Compose cannot resolve the file: {said}",
            fix=f"set {missing[1]}, in the environment or in the file that `e2e.auth.envFile` names",
            variable=missing[1],
        )
    return Refusal("compose-invalid", f"Compose cannot resolve the file: {said}", fix="see `docker compose config`")
