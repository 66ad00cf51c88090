"""What `e2e.hostServices` asks for, with every value resolved before anything is built."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import confined
from morph_tasks.stack import health

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

CONFIG_PATH = ".morph/config/config.json"

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SERVICE = re.compile(r"[A-Za-z0-9._-]{1,100}")
_KEYS = {"name", "cwd", "build", "start", "env", "health", "timeoutMs"}
_SHORT_TEXT = 10_000
# What the run around us says about itself: a service outlives it.
_SHED = {
    "MORPH_VERIFYING",
    "MORPH_HEAVY_LEASE",
    "MORPH_TEST_REPORT",
    "NODE_TEST_CONTEXT",
    "PYTEST_CURRENT_TEST",
    "PYTEST_XDIST_WORKER",
}
_SHED_BEGINNINGS = ("MORPH_RUN_", "MORPH_HOST_")
# Git exports these to its hooks and aliases; they name a repository that need not be ours.
_REPOSITORY = {
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_INTERNAL_SUPER_PREFIX",
}  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """One service, ready to be built and started. `env` is the whole environment and is not for printing.

    `digest` is what it was made of: commands, folder, its own values and those of the stack.
    """

    name: str
    cwd: Path
    build: str | None
    start: str
    health: str | None
    timeout_s: float
    digest: str
    env: Mapping[str, str] = field(repr=False)


def plan_hosts(repo: Repo, config: Config, env: Mapping[str, str]) -> tuple[Planned, ...]:
    """Resolve every service over the stack environment `env`, then the process environment.

    Raises Refusal `invalid-config`, `host-service-cwd`, `host-service-variables` or `host-service-health`, each naming
    the service.
    """
    services = services_of(config)
    around = process_env()
    _refuse_unresolved(services, env, around)
    return tuple(_planned(repo, service, env, around) for service in services)


@dataclass(frozen=True)
class Entry:
    """One valid entry of `e2e.hostServices`."""

    name: str
    start: str
    cwd: str = "."
    build: str | None = None
    env: Mapping[str, str | int | float] = field(default_factory=dict)
    health: str | None = None
    timeoutMs: int = 180_000  # noqa: N815  (the JSON key)


def services_of(config: Config) -> list[Entry]:
    """Return the services as the configuration has them; raises Refusal `invalid-config`."""
    block = config.data.get("e2e")
    entries = block.get("hostServices") if isinstance(block, dict) else None
    if entries is None:
        return []
    if not plainly_valid(entries):
        from pydantic import TypeAdapter, ValidationError

        from morph_tasks.model.e2e_hosts import HostServices

        try:
            TypeAdapter(HostServices).validate_python(entries)
        except ValidationError as error:
            raise _invalid(error.errors(include_url=False)) from None
    return [Entry(**entry) for entry in entries]


def plainly_valid(entries: object) -> bool:
    """Tell whether entries are surely valid, without pydantic, whose import costs a warm stack more than all else.

    Doubt is False: then the model decides, and says what is wrong.
    """
    if not isinstance(entries, list) or not all(map(_plain_entry, entries)):
        return False
    return len({entry["name"] for entry in entries}) == len(entries)


def _plain_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not {"name", "start"} <= entry.keys() <= _KEYS:
        return False
    texts = [value for key, value in entry.items() if key not in ("env", "timeoutMs")]
    if not all(isinstance(text, str) and text.strip() and "\0" not in text for text in texts):
        return False
    env, limit = entry.get("env", {}), entry.get("timeoutMs", 1)
    return (
        _SERVICE.fullmatch(entry["name"]) is not None
        and max(map(len, texts)) <= _SHORT_TEXT
        and type(limit) is int
        and 0 < limit < 2**31
        and type(env) is dict
        and all(type(name) is str and _NAME.fullmatch(name) for name in env)
        and all(type(value) is int or (type(value) is str and "\0" not in value) for value in env.values())
    )


def process_env() -> dict[str, str]:
    """Return the environment of this process without what is about this process alone."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _SHED and name not in _REPOSITORY and not name.startswith(_SHED_BEGINNINGS)
    }


def whole_digest(planned: Sequence[Planned]) -> str:
    """Return what identifies a set of services, their order included."""
    return hashlib.sha256("\0".join(f"{one.name} {one.digest}" for one in planned).encode()).hexdigest()


def _planned(repo: Repo, service: Entry, env: Mapping[str, str], around: Mapping[str, str]) -> Planned:
    values = {**around, **env}
    own = {name: _filled(_text(value), env, around) for name, value in service.env.items()}
    url = _filled(service.health, env, around) if service.health is not None else None
    if url is not None and (problem := health.problem_of(url)):
        what = f"the health URL {url!r} of the host service `{service.name}` cannot be asked: {problem}"
        fix = f"correct `health` of `{service.name}` in {CONFIG_PATH}"
        raise Refusal("host-service-health", what, fix=fix, service=service.name, url=url)
    made_of = [service.cwd, service.build, service.start, url, sorted(own.items()), sorted(env.items())]
    return Planned(
        name=service.name,
        cwd=_folder(repo, service),
        build=service.build,
        start=service.start,
        health=url,
        timeout_s=service.timeoutMs / 1000,
        digest=hashlib.sha256(json.dumps(made_of).encode("utf-8", "surrogateescape")).hexdigest(),
        env={**values, **own},
    )


def _folder(repo: Repo, service: Entry) -> Path:
    try:
        folder = confined(repo.root, service.cwd)
    except Refusal:
        folder, why = repo.root, "leads outside the tree"
    else:
        why = "" if folder.is_dir() else "is not there"
    if why:
        what = f"the folder {service.cwd!r} (`cwd`) of the host service `{service.name}` {why}"
        fix = f"create it, or correct `cwd` of `{service.name}` in {CONFIG_PATH}"
        raise Refusal("host-service-cwd", what, fix=fix, service=service.name, cwd=service.cwd)
    return folder


def _refuse_unresolved(services: Sequence[Entry], env: Mapping[str, str], around: Mapping[str, str]) -> None:
    """Name every variable without a value, of all services at once."""
    missing: dict[str, list[str]] = {}
    for service in services:
        texts = [_text(value) for value in service.env.values()] + [service.health or ""]
        names = {name for text in texts for name in _VARIABLE.findall(text)}
        for name in sorted(names):
            if not _NAME.fullmatch(name):
                what = f"`${{{name}}}` in the host service `{service.name}` is no variable: only ${{NAME}} is resolved"
                fix = "write the plain name; defaults and the like belong into `start`, which a shell reads"
                raise Refusal("host-service-variables", what, fix=fix, service=service.name, variables=[name])
        if lost := [name for name in sorted(names) if not _value(name, env, around)]:
            missing[service.name] = lost
    if missing:
        told = "; ".join(f"`{name}`: {', '.join(lost)}" for name, lost in missing.items())
        what = f"variables of host services have no value, or an empty one: {told}"
        fix = "export them, or put them into the file that `e2e.auth.envFile` names"
        every = sorted({name for lost in missing.values() for name in lost})
        raise Refusal("host-service-variables", what, fix=fix, services=missing, variables=every)


def _filled(text: str, env: Mapping[str, str], around: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: _value(found[1], env, around), text)


def _value(name: str, env: Mapping[str, str], around: Mapping[str, str]) -> str:
    return env[name] if name in env else around.get(name, "")


def _text(value: str | int | float) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # as JSON means it: 5000.0 is a port
    return str(value)


def _invalid(errors: Sequence[Any]) -> Refusal:
    def place(item: Any) -> str:
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"])
        return "e2e.hostServices" + "".join(parts)

    problems = [
        {
            "path": place(item),
            "expected": str(item["msg"]).removeprefix("Input should be ").removeprefix("Value error, "),
        }
        for item in errors
    ]
    told = "; ".join(f"{problem['path']}: expected {problem['expected']}" for problem in problems[:3])
    fix = f"correct {problems[0]['path']} in {CONFIG_PATH}"
    return Refusal("invalid-config", f"{CONFIG_PATH}: {told}", fix=fix, file=CONFIG_PATH, problems=problems)
