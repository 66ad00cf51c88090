"""What `verify --json` prints, in every shape: a result, or a refusal."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

Status = Literal["pass", "fail", "flaky", "skip", "busy"]
Count = Annotated[int, Field(ge=0)]
Line = Annotated[int, Field(ge=1, description="From 1.")]
Scope = Annotated[str, Field(pattern=r"^(feature|slice:F[0-9]+)$", description="What the run speaks of.")]


class _Exact(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Reused(_Exact):
    """The measurement that a proof was taken from."""

    ts: str | None
    sha: str | None
    tree: str | None


class SelectionShown(_Exact):
    """What a slice took of a node."""

    mode: Literal["narrowed", "whole", "out-of-scope", "full"]
    reason: str
    declaredCommand: str
    files: list[str]
    selectors: list[str]
    zeroGuard: str | None


class Cache(BaseModel):
    """The recorded answers of an `evals` node, before the run and after it."""

    model_config = ConfigDict(extra="allow")
    state: str


class Environment(BaseModel):
    """Where the suites ran; absent for this machine."""

    model_config = ConfigDict(extra="allow")
    kind: Literal["linux-container"]
    image: str


class RunShown(_Exact):
    """One node."""

    id: str
    node: str
    command: str | None = Field(description="What ran, or would have run.")
    cwd: str
    runner: str | None
    status: Status
    reason: str | None
    message: str
    durationMs: Count
    exitCode: int | None
    count: Count | None = Field(description="Tests that ran; null: not known, never zero.")
    counts: dict[str, Count] | None
    expectedCount: Count | None
    selection: SelectionShown | None = Field(description="Null in a whole run.")
    cache: Cache | None = None
    environment: Environment | None = None
    artifacts: list[str] | None = Field(default=None, description="Traces, pictures and videos of failures.")
    key: str | None
    reused: Reused | None
    afterFailures: Count
    attempts: list[str]
    warnings: list[str]
    log: str | None


class Family(_Exact):
    """All nodes of one family."""

    status: Status
    durationMs: Count
    runs: list[RunShown]


class SkippedValidator(_Exact):
    """A validator that found nothing because it did not look."""

    validator: str
    reason: str
    unavailable: bool = Field(description="It could not look; false: there was nothing to look at.")


class Validators(Family):
    """The validators."""

    skipped: list[SkippedValidator]


class SliceScope(_Exact):
    """The files that a slice is about."""

    scope: Scope
    slice: str
    planned: list[str] = Field(description="Named by the plan.")
    files: list[str] = Field(description="Named by the plan or changed, and there.")
    folders: list[str] = Field(description="Folders that the plan names.")
    missing: list[str] = Field(description="Planned and not there.")
    deleted: list[str] = Field(description="Known by git to be gone.")
    unknown: str | None = Field(description="Why the changes of this branch cannot be told.")


class Tests(Family):
    """The test nodes."""

    scope: SliceScope | None = None
    environment: Environment | None = None


class Stack(_Exact):
    """The application as this verify found it, or brought it up."""

    up: bool
    project: str | None
    baseUrl: str | None
    reusedBecause: str | None = Field(description="Why nothing had to be started; null when something was.")
    services: list[dict[str, Any]]
    hostServices: list[dict[str, Any]]


class E2e(Family):
    """The running application."""

    count: Count | None
    reason: str | None
    stack: Stack | None = Field(description="What was brought up; null when nothing was tried.")


class Families(_Exact):
    """The nodes by family."""

    build: Family
    tests: Tests
    validators: Validators
    e2e: E2e


class CarrierShown(_Exact):
    """A test that carries a scenario."""

    name: str
    status: Literal["passed", "failed", "skipped", "flaky"]
    file: str | None
    line: Line | None
    node: str


class ScenarioShown(_Exact):
    """One scenario of the plan and its proof."""

    id: Annotated[str, Field(pattern=r"^C[0-9]+$")]
    title: str
    proof: Literal["test", "e2e", "eval", "manual"]
    state: Literal["proven", "failed", "unproven", "manual"]
    reason: str | None
    tests: list[CarrierShown]
    nodes: list[str]


class StampRun(_Exact):
    """What the stamp keeps of one node."""

    id: str
    status: Status
    reason: str | None
    count: Count | None
    expectedCount: Count | None
    key: str | None
    reused: Reused | None
    afterFailures: Count


class Repeat(_Exact):
    """The last verify of exactly this code."""

    ts: str | None
    status: str | None
    sha: str | None


class Baseline(_Exact):
    """What `--record-baseline` wrote."""

    recorded: dict[str, Count]
    refused: str | None


class UnexplainedShown(_Exact):
    """A change of the feature that no executed test of a scenario reaches, as far as that is known."""

    file: str
    lines: tuple[Line, Line] | None = Field(description="First and last; null: the file is gone.")
    removed: Count = Field(description="Lines that went at this place, when nothing took theirs.")
    symbol: str | None = Field(description="Null: it lies in no definition.")
    why: Literal[
        "no-test-reaches", "reached-only-by-tests-without-scenario", "reached-only-by-tests-that-did-not-pass",
        "not-executed", "graph-missing", "graph-stale", "not-in-graph", "language-not-parsed", "tests-not-named",
        "tests-not-in-graph", "tests-not-run", "file-gone",
    ]  # fmt: skip
    known: bool = Field(description="False: nobody knows what reaches it; `why` says what is missing.")
    tests: list[str] = Field(description="Tests that do reach it, a few; for tests-not-in-graph those that may.")
    fix: str | None = Field(description="The command that makes it known; null: there is none.")


class UnnamedNode(_Exact):
    """A test node that does not name its tests, some of which reach a change."""

    node: str
    fix: str = Field(description="What would make it name them.")


class DataShown(_Exact):
    """A changed file without symbols: no test is asked for it."""

    file: str
    lines: list[tuple[Line, Line]]


class Verification(_Exact):
    """A finished verify, green or red."""

    version: Literal[1]
    ok: bool
    feature: str
    status: Literal["pass", "fail", "busy"]
    scope: Scope
    sha: str | None
    fingerprint: str
    ts: str
    source: Literal["local", "ci"]
    ciRun: str | None
    durationMs: Count
    nodes: Families
    e2eReason: str | None
    environment: Environment | None = Field(description="Where the suites ran; null: on this machine.")
    nodeIds: list[str]
    runs: list[StampRun]
    scenarios: list[ScenarioShown] | None = Field(description="Null: the plan cannot be read; feedback says why.")
    warnings: list[str]
    feedback: list[str]
    persisted: bool
    reason: str | None = Field(description="Why it was not stamped.")
    repeatOf: Repeat | None
    unexplained: list[UnexplainedShown] | None = Field(description="Null: not known; unexplainedReason says why.")
    unexplainedReason: str | None
    unexplainedData: list[DataShown] | None
    explained: dict[str, Count] | None = Field(description="How many changes the tests of each scenario reach.")
    unnamedNodes: list[UnnamedNode] | None
    baseline: Baseline | None = None
    cleanup: dict[str, Any] | None = Field(default=None, description="What became of the build servers of .NET.")
    code: Literal["baseline-refused"] | None = None
    message: str | None = None


class Refused(BaseModel):
    """Nothing was judged: a stable code, one sentence, the way out."""

    model_config = ConfigDict(extra="allow")
    ok: Literal[False]
    code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    message: str
    fix: str


class VerifyDocument(RootModel[Verification | Refused]):
    """The one JSON document on stdout of `morph-spec verify --json`, version 1."""
