"""`.morph/config/config.json`: what a project may say, and how a wrong value is refused."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from morph_tasks.model.e2e import E2e
from morph_tasks.model.evals import EvalSettings
from morph_tasks.model.heavy import HeavyBlock
from morph_tasks.model.worktree import FinishBackupBlock, Worktree

Text = Annotated[str, StringConstraints(strict=True)]
# An argument of a program holds 128 KiB; an id names files, beside a time and a suffix.
Command = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100_000, pattern=r"\S")]
NodeId = Annotated[str, StringConstraints(strict=True, max_length=100, pattern=r"^[a-z0-9][a-z0-9-]*$")]
EnvName = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Glob = Annotated[str, StringConstraints(strict=True, min_length=1)]
Milliseconds = Annotated[int, Field(strict=True, gt=0, le=2_147_483_647)]
Count = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]

Runner = Literal[
    "pytest",
    "unittest",
    "vitest",
    "node-test",
    "jest",
    "mocha",
    "go",
    "cargo",
    "dotnet",
    "playwright",
    "rspec",
    "phpunit",
    "ctest",
    "bun",
    "deno",
    "karma",
    "surefire",
    "gradle",
    "none",
    "evals",
]


class _Open(BaseModel):
    """Keys that this version does not know are kept."""

    model_config = ConfigDict(extra="allow")


class _NodeConfig(_Open):
    id: NodeId = Field(description="Names the node; unique in its list.")
    command: Command = Field(description="Run by /bin/sh from `cwd`, as it is; only for a slice it may be narrowed.")
    cwd: Text = Field(default=".", description="Folder of the command, relative to the root of the tree.")
    inputs: list[Glob] | None = Field(
        default=None, min_length=1, description="Globs of the files that decide the result; absent: the whole tree."
    )
    env: list[EnvName] = Field(default=[], description="Environment variables whose values belong to the key.")
    timeoutMs: Milliseconds | None = Field(default=None, description="Ceiling of this node, in milliseconds.")
    reuse: Flag | None = Field(default=None, description="False: measure at every verify.")
    pool: Text | None = Field(default=None, description="Nodes of one named pool never run at the same time.")
    needs: list[NodeId] | None = Field(default=None, description="Build nodes this one waits for; absent: all.")


class BuildNode(_NodeConfig):
    """One entry of `project.build`."""

    outputs: list[Glob] = Field(
        default=[], description="Files the build makes; their content is what the nodes behind it depend on."
    )


class TestNode(_NodeConfig):
    """One entry of `project.tests`."""

    runner: Runner | None = Field(default=None, description="How the output is read; inferred when absent.")
    expectedCount: Count | None = Field(default=None, description="Baseline, written by `verify --record-baseline`.")
    build: list[Text] | None = Field(default=None, min_length=1, description="Projects to build first (dotnet only).")
    e2e: Flag = Field(default=False, description="Needs the running application.")
    linuxImage: Text | None = Field(default=None, description="Container image for `--linux`.")
    junit: Glob | list[Glob] | None = Field(default=None, description="Where the runner writes JUnit XML.")
    retries: Annotated[int, Field(strict=True, ge=0, le=10)] = Field(
        default=0, description="Further attempts after a failure; a pass after a fail is `flaky`."
    )
    flaky: Literal["allow"] | None = Field(default=None, description="`allow`: a flaky pass may be proof.")
    flakyReason: Text | None = Field(default=None, description="Why a flaky pass is accepted.")
    groups: Any = Field(default=None, description="Not used any more; a warning names it.")
    evals: EvalSettings | None = Field(default=None, description="Settings of the `evals` runner, and of no other.")


class Project(_Open):
    """The key `project`."""

    name: Text | None = Field(default=None, description="What people call the project.")
    stack: Text | None = Field(default=None, description="Tags joined by `+`, such as `python+docker`.")
    integrations: list[Text] | None = Field(default=None, description="Such as `docker`.")
    backendPath: Text | None = Field(default=None, description="Folder or file of the .NET solution.")
    frontendPath: Text | None = Field(default=None, description="Folder of the frontend.")
    testCommand: Command | None = Field(default=None, description="The one test command, when `tests` is absent.")
    testTimeoutMs: Milliseconds | None = Field(default=None, description="Default ceiling of test nodes.")
    ci: Flag | None = Field(default=None, description="False: the project has no continuous integration to ask.")
    build: list[BuildNode] | None = Field(
        default=None, description="Build nodes; absent: inferred, []: there is nothing to build."
    )
    tests: list[TestNode] | None = Field(default=None, description="Test nodes; absent: inferred, []: there are none.")
    pools: dict[str, Annotated[int, Field(strict=True, gt=0)]] | None = Field(
        default=None, description="How many nodes of a named pool may run at once."
    )


class Config(_Open):
    """The whole file."""

    model_config = ConfigDict(extra="allow", title="morph-spec project configuration")

    schema_: Text | None = Field(default=None, alias="$schema", description="Where the schema of this file lies.")
    language: Literal["en", "pt", "pt-BR"] | None = Field(default=None, description="Language of the templates.")
    trust: Literal["auto", "manual"] | None = Field(default=None, description="Who may approve gates by default.")
    project: Project = Field(default=Project(), description="What is built and tested.")
    heavy: HeavyBlock = Field(default=None, description="Slots for heavy jobs of one user.")
    e2e: E2e | None = Field(default=None, description="How the application is run.")
    worktree: Worktree | None = Field(default=None, description="Where the work trees of features and tasks lie.")
    finishBackup: FinishBackupBlock = Field(default=None, description="How long the backups of a finish are kept.")
