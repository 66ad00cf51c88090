"""The block `e2e` of the configuration: how the application is run."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from morph_tasks.model.e2e_hosts import AuthSettings, HostServices

Command = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100_000, pattern=r"\S")]


class E2e(BaseModel):
    """The whole block."""

    model_config = ConfigDict(extra="allow")

    command: Command | None = Field(default=None, description="Runs the browser specs; absent: they are looked for.")
    portEnvNames: Any = Field(
        default=None, description="Further names of ports, such as `{postgres: PG_PORT}`; what cannot be used is named."
    )
    auth: AuthSettings | None = Field(default=None, description="How the specs come to be signed in.")
    hostServices: HostServices | None = Field(default=None, description="Apps that run on the host beside the stack.")
