"""`2-plan/checks.json`: what a checked plan says, for everything that reads plans."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION = 1

ScenarioId = Annotated[str, Field(pattern=r"^C[0-9]+$")]
SliceId = Annotated[str, Field(pattern=r"^F[0-9]+$")]
Line = Annotated[int, Field(ge=1, description="Line in plan.md, from 1.")]


class _Value(BaseModel):
    # Allowed: a newer version of the tool may have written more.
    model_config = ConfigDict(extra="allow", frozen=True)


class PlanBase(_Value):
    """The default branch and its last commits that the tree held when the plan was written down or accepted."""

    branch: str
    commits: Annotated[tuple[str, ...], Field(min_length=1)]


class PlanRef(_Value):
    """Which plan this was made from."""

    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of plan.md without its errata.")]
    base: Annotated[PlanBase | None, Field(description="None when it is not known.")] = None


class Scenario(_Value):
    """What must hold, and what proves it."""

    id: ScenarioId
    title: str
    proof: Literal["test", "e2e", "eval", "manual"]
    line: Line


class Reuse(_Value):
    """A verdict on existing code."""

    verdict: Literal["REUSE", "EXTEND", "CREATE"]
    symbol: str
    why: str | None = None


class Slice(_Value):
    """A unit of work."""

    id: SliceId
    title: str
    persona: str
    files: Annotated[tuple[str, ...], Field(min_length=1, max_length=8)]
    covers: tuple[ScenarioId, ...]
    depends: tuple[SliceId, ...]
    surface: str | None = None
    standards: tuple[str, ...] = ()
    reuse: tuple[Reuse, ...] = ()
    line: Line


class Adr(_Value):
    """A decision of the plan."""

    id: Annotated[str, Field(pattern=r"^ADR-[0-9]+$")]
    title: str
    scope: Literal["feature", "project"] | None
    line: Line


class Conflict(_Value):
    """A recorded decision that the plan retires or narrows; `scope` is what remains of it."""

    id: str
    change: Literal["total", "partial"]
    scope: str | None = None
    line: Line


class Checks(_Value):
    """The whole file."""

    version: Literal[1]
    plan: PlanRef
    problem: str
    scenarios: tuple[Scenario, ...]
    slices: tuple[Slice, ...]
    adrs: tuple[Adr, ...]
    conflicts: tuple[Conflict, ...]
    waves: tuple[tuple[SliceId, ...], ...]
