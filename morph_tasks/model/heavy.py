"""The block `heavy` of the configuration, as the schema describes it: the slots for heavy jobs of one user.

The block never stops work by being wrong: `HeavyBlock` accepts anything, and
`morph_tasks.machine.heavy.settings` says what it could not use.
"""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Switch = Annotated[bool, Field(strict=True)]


class Heavy(BaseModel):
    """The whole block."""

    model_config = ConfigDict(extra="allow")

    enabled: Switch = Field(default=True, description="False: heavy jobs take no slot.")
    slots: Annotated[int, Field(strict=True, ge=1, le=1000)] = Field(
        default=2, description="How many heavy jobs of one user run at once on this machine."
    )
    minFreeMemGb: Annotated[float, Field(ge=0)] | None = Field(
        default=None,
        description="GiB of memory that must be free before a heavy job starts; absent: 4, or half of a machine "
        "(or container) that has less than 8. 0: does not matter.",
    )
    waitTimeoutSec: Annotated[float, Field(ge=0, le=604_800)] = Field(
        default=600, description="How long a job waits for a slot and for memory before it ends with exit code 3."
    )
    maxHoldMinutes: Annotated[float, Field(gt=0, le=10_080)] = Field(
        default=90, description="A slot that is held longer counts as free."
    )
    shutdownBuildServer: Switch = Field(
        default=True, description="Shut the build servers of .NET down after heavy work when nobody builds."
    )
    disableNodeReuse: Switch = Field(
        default=True, description="Heavy commands run with `MSBUILDDISABLENODEREUSE=1`, so that MSBuild leaves nothing."
    )
    gateBash: Switch = Field(default=False, description="Agents' raw builds and tests take a slot as well.")


HeavyBlock = Annotated[Any, WithJsonSchema(Heavy.model_json_schema())]
