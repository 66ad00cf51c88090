"""The block `evals` of a test node as the configuration is validated."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

TreePath = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1000, pattern=r"\S")]
Variable = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class EvalSettings(BaseModel):
    """How a node of runner `evals` records answers and says what it ran."""

    # A misspelt `requiredEnv` would start a run that nobody can pay for: nothing unknown is accepted here.
    model_config = ConfigDict(extra="forbid")

    summary: TreePath = Field(
        description="The JSON file that the command writes, relative to the root of the tree; removed before each run."
    )
    cacheDir: TreePath = Field(
        description="Folder of the recorded answers, relative to the root of the tree; git keeps it."
    )
    requiredEnv: list[Variable] = Field(
        default=[], description="Variables without which the command is not started, such as the key of a provider."
    )
