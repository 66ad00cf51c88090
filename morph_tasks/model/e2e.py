"""The block `e2e` of the configuration: how the application is run."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

Text = Annotated[str, StringConstraints(strict=True)]
Command = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100_000, pattern=r"\S")]
ServiceName = Annotated[str, StringConstraints(strict=True, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]
EnvName = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
TreePath = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1000, pattern=r"\S")]
Value = Annotated[str, Field(strict=True)] | Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)]


class HostService(BaseModel):
    """One entry of `e2e.hostServices`: an app that runs as a process of the host beside the stack."""

    # A misspelt `health` would make a service ready that is not: nothing unknown is accepted here.
    model_config = ConfigDict(extra="forbid")

    name: ServiceName = Field(description="Names the log and every message; unique in the list.")
    cwd: Text = Field(default=".", description="Folder of `build` and `start`, relative to the root of the tree.")
    build: Command | None = Field(default=None, description="Run before `start`; has to end with 0.")
    start: Command = Field(description="The process itself, which keeps running.")
    env: dict[EnvName, Value] = Field(default={}, description="Further variables; `${VAR}` in a value is resolved.")
    health: Text | None = Field(default=None, description="URL that has to answer below 500; `${VAR}` is resolved.")
    timeoutMs: Annotated[int, Field(strict=True, gt=0, le=2_147_483_647)] = Field(
        default=180_000, description="Ceiling of build, start and health together, in milliseconds."
    )


class Auth(BaseModel):
    """The key `e2e.auth`: how the specs come to be signed in."""

    model_config = ConfigDict(extra="allow")

    mode: Literal["seed", "storageState", "bypass", "none"] | None = Field(
        default=None, description="Without a mode a `seedCommand` is not run, and a warning says so."
    )
    seedCommand: Command | None = Field(default=None, description="Run once the application is ready.")
    storageStatePath: TreePath | None = Field(default=None, description="Where the seed keeps what it signed in with.")
    envFile: TreePath | None = Field(
        default=None, description="File of credentials that git ignores; port names in it are not used."
    )


class E2e(BaseModel):
    """The whole block."""

    model_config = ConfigDict(extra="allow")

    command: Command | None = Field(default=None, description="Runs the browser specs; absent: they are looked for.")
    portEnvNames: Any = Field(
        default=None, description="Further names of ports, such as `{postgres: PG_PORT}`; what cannot be used is named."
    )
    auth: Auth | None = Field(default=None, description="How the specs come to be signed in.")
    hostServices: list[HostService] | None = Field(default=None, description="Apps that run on the host.")

    @field_validator("hostServices")
    @classmethod
    def _unique(cls, found: list[HostService] | None) -> list[HostService] | None:
        names = [service.name for service in found or []]
        double = next((name for name in names if names.count(name) > 1), None)
        if double:
            raise ValueError(f"every name once, {double!r} is there twice")
        return found
