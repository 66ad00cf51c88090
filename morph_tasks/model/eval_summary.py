"""The summary of an eval command as its JSON Schema publishes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from morph_tasks.verify.evals.summary import MOST

Scenarios = Annotated[int, Field(strict=True, ge=0, le=MOST)]
# Said once more for those who read the schema and not the code; a test compares.
Status = Literal[
    "passed", "pass", "ok", "success", "failed", "fail", "error", "errored", "skipped", "skip", "flaky"
]  # fmt: skip
PlanScenario = Annotated[str, Field(pattern=r"^([\w.-]+:)?C[0-9]+$")]


class EvalResult(BaseModel):
    """One scenario that was judged, with one model."""

    model_config = ConfigDict(extra="allow")

    id: str | int | None = Field(default=None, description="What the suite calls it.")
    name: str | None = Field(
        default=None, description="What people call it; `[C4]` in it names a scenario of the plan."
    )
    status: Status = Field(description="How it ended; an error is a failure.")
    scenario: PlanScenario | list[PlanScenario] | None = Field(
        default=None, description="The scenario of the plan that it proves, `C4` or `<feature>:C4`; or a list of them."
    )
    model: str | None = Field(default=None, description="The model that answered.")
    message: str | None = Field(default=None, description="Why it failed.")
    file: str | None = Field(default=None, description="Where it is written, relative to the root of the tree.")
    line: int | None = Field(default=None, description="Line in `file`, from 1.")


class EvalSummary(BaseModel):
    """What a command of runner `evals` writes to `evals.summary`. Only `scenarios` is required."""

    model_config = ConfigDict(extra="allow", title="Summary of an eval run")

    scenarios: Scenarios = Field(description="Scenarios that were judged: the count of the node.")
    passed: Scenarios | None = Field(default=None, description="Of these, how many passed.")
    failed: Scenarios | None = Field(default=None, description="Of these, how many failed.")
    skipped: Scenarios | None = Field(default=None, description="Of these, how many were not judged after all.")
    calls: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="How often a provider was asked; more than 0 is a cold cache."
    )
    cache: Literal["cold", "warm"] | None = Field(default=None, description="The same as a word, where nobody counts.")
    results: list[EvalResult] | None = Field(default=None, description="The single scenarios, all or some.")
