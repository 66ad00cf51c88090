"""The environment of a feature's application: one function for compose, specs, test nodes, host services and shells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.repo.trees import TASK
from morph_tasks.stack import project
from morph_tasks.stack.ports import LAYOUT, SIZE, block_of, known_block

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.ports import Block

STANDARD = {"web": "PORT", "api": "API_PORT", "postgres": "POSTGRES_PORT", "redis": "REDIS_PORT"}
_OTHERS = (
    "COMPOSE_PROJECT_NAME",
    "MORPH_PORT_BASE",
    "MORPH_PORT_RANGE",
    "MORPH_FEATURE",
    "PLAYWRIGHT_BASE_URL",
    "ASPNETCORE_URLS",
)
# What a shell or a loader would trip over.
_RESERVED = {*_OTHERS, "PATH", "HOME", "SHELL", "USER", "PWD", "IFS", "LD_PRELOAD", "LD_LIBRARY_PATH", "CI"}


@dataclass(frozen=True)
class StackEnv:
    """Variables to lay over the environment of a process; `ports` is the part that a credentials file cannot change."""

    values: dict[str, str] = field(repr=False)
    warnings: tuple[str, ...] = ()
    key: str = ""
    block: Block | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def project(self) -> str:
        return self.values["COMPOSE_PROJECT_NAME"]


def stack_env(repo: Repo, config: Config, feature: str) -> StackEnv:
    """Return the variables of a feature in this tree, allocating its ports and its project name at first use.

    `feature` may be a key such as `task/x`. Raises Refusal `no-free-ports`, `busy` (3), `state-unwritable`.
    """
    key = project.stack_key(repo, feature)
    return _made(repo, config, feature, key, block_of(repo, key), project.project_name(repo, key))


def tree_env(repo: Repo, config: Config, key: str, feature: str) -> StackEnv:
    """Return what `stack_env` does for a key, but for the credentials; `feature` is the one that the tree is for.

    Raises Refusal `no-free-ports`, `busy` (3), `state-unwritable`.
    """
    return _laid_out(config, feature, key, block_of(repo, key), project.project_name(repo, key))


def known_env(repo: Repo, config: Config, feature: str) -> StackEnv | None:
    """Return the same without writing anything; None when the feature has no ports or no name yet."""
    key = project.stack_key(repo, feature)
    block, name = known_block(repo, key), project.known_project(repo, key)
    return _made(repo, config, feature, key, block, name) if block and name else None


def layout(block: Block, feature: str, name: str, *, dotnet: bool) -> dict[str, str]:
    """Return what follows from the block alone."""
    at = {port: str(block.base + place) for port, place in LAYOUT.items()}
    values = {STANDARD[port]: number for port, number in at.items()}
    values["COMPOSE_PROJECT_NAME"] = name
    values["MORPH_FEATURE"] = feature
    values["MORPH_PORT_BASE"] = str(block.base)
    values["MORPH_PORT_RANGE"] = f"{block.base}-{block.base + SIZE - 1}"
    values["PLAYWRIGHT_BASE_URL"] = f"http://localhost:{at['web']}"
    if dotnet:
        values["ASPNETCORE_URLS"] = f"http://localhost:{at['api']}"
    return values


def _made(repo: Repo, config: Config, feature: str, key: str, block: Block, name: str) -> StackEnv:
    return _with_credentials(_laid_out(config, worked_on(repo.root, feature), key, block, name), repo.root, config)


def _laid_out(config: Config, feature: str, key: str, block: Block, name: str) -> StackEnv:
    dotnet = "dotnet" in [tag.strip().lower() for tag in (config.project.get("stack") or "").split("+")]
    values = layout(block, feature, name, dotnet=dotnet)
    further, warnings = port_names(config.data.get("e2e"), values)
    values.update(further)
    return StackEnv(values, tuple(warnings), key, block)


def worked_on(root: Path, feature: str) -> str:
    """Return the feature that a work tree is for: a task's tree may have been made on behalf of one."""
    if not feature.startswith(TASK):
        return feature
    from morph_tasks.stack.envfile import parse

    try:
        said = parse((root / ".morph" / "worktree.env").read_bytes().decode("utf-8", "surrogateescape"))[0]
    except OSError:
        said = {}
    return said.get("MORPH_FEATURE") or feature.removeprefix(TASK)


def port_names(e2e: Any, values: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the further names of ports that `e2e.portEnvNames` declares, and what is wrong with the others."""
    from morph_tasks.stack.envfile import NAME

    declared = e2e.get("portEnvNames") if isinstance(e2e, dict) else None
    if declared is None:
        return {}, []
    if not isinstance(declared, dict):
        return {}, ['e2e.portEnvNames is not used: it has to be an object such as {"postgres": "PG_PORT"}']
    found: dict[str, str] = {}
    warnings = []
    for port, name in declared.items():
        if port not in STANDARD:
            why = f"there is no port {port!r} ({', '.join(STANDARD)})"
        elif not isinstance(name, str) or not NAME.fullmatch(name):
            why = f"{name!r} is not the name of a variable"
        elif name == STANDARD[port]:
            continue
        elif name in values or name in _RESERVED or name.startswith(("MORPH_", "COMPOSE_", "DOCKER_")):
            why = f"the name {name} is reserved"
        elif name in found:
            why = f"the name {name} is there twice"
        else:
            found[name] = values[STANDARD[port]]
            continue
        warnings.append(f"e2e.portEnvNames.{port} is not used: {why}")
    return found, warnings


def _with_credentials(made: StackEnv, root: Path, config: Config) -> StackEnv:
    """Add what the credentials file says, except for what the block decides."""
    from morph_tasks.stack.envfile import parse

    e2e = config.data.get("e2e")
    auth = e2e.get("auth") if isinstance(e2e, dict) else None
    name = auth.get("envFile") if isinstance(auth, dict) else None
    if not isinstance(name, str) or not name.strip():
        return made
    try:
        text = (root / name).read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError as error:
        said = f"e2e.auth.envFile: {name} cannot be read: {error.strerror}"
        return replace(made, warnings=(*made.warnings, said))
    values, odd = parse(text)
    # An ASP.NET address is layout even where this project does not use it.
    fixed = {*made.values, *_OTHERS}
    warnings = [
        f"{name}: {key} is not taken from there: the ports of this work tree decide it"
        for key in values
        if key in fixed
    ]
    if odd:
        warnings.append(f"{name}: line {', '.join(map(str, odd))} is not NAME=value and was not used")
    bad = [key for key, value in values.items() if "\0" in value]
    further = {key: value for key, value in values.items() if key not in fixed and key not in bad}
    return replace(
        made,
        values={**further, **made.values},
        warnings=(*made.warnings, *warnings),
        secrets=frozenset(further.values()),
    )
