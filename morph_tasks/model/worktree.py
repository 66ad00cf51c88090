"""The blocks `worktree` and `finishBackup` of the configuration."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema

Path = Annotated[str, StringConstraints(strict=True, min_length=1, pattern=r"^[^\x00]+$")]
Switch = Annotated[bool, Field(strict=True)]


class _Open(BaseModel):
    """Keys that this version does not know are kept."""

    model_config = ConfigDict(extra="allow")


class Reap(_Open):
    """The key `worktree.reap`."""

    graceMinutes: Annotated[float, Field(ge=0, le=525_600)] = Field(
        default=30, description="How long a sub-agent must have been silent before its work tree is removed."
    )


class Worktree(_Open):
    """The key `worktree`."""

    root: Path | None = Field(
        default=None,
        description="Folder for new work trees: absolute, `~/…`, or relative to the main work tree, but outside "
        "of it. Absent: `worktrees/` in the main work tree.",
    )
    links: list[Path] | None = Field(
        default=None,
        description="Paths of the main work tree that others share by a link; absent: `node_modules`, `.claude` and "
        "`.morph/framework`, where they exist and git does not track them.",
    )
    baseRef: Literal["fresh", "head"] | None = Field(
        default=None,
        description="Where the branch of a task's work tree begins: `fresh` the default branch, `head` what is checked "
        "out; absent: the branch of the feature one stands on, else the default one.",
    )
    editorSettings: Switch = Field(default=True, description="Keep `.vscode/settings.json` from watching work trees.")
    reap: Reap | None = Field(default=None, description="When the work trees of sub-agents are removed.")


class Retention(_Open):
    """The key `finishBackup.retention`."""

    maxCount: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=20, description="How many of the newest backups are always kept, of features and of tasks each."
    )
    maxAgeDays: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="Older ones go even so; absent: age does not matter."
    )
    secretMaxAgeDays: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=7, description="After how many days the `.env*` files of a backup are removed."
    )


class FinishBackup(_Open):
    """The key `finishBackup`."""

    retention: Annotated[Any, WithJsonSchema({"anyOf": [Retention.model_json_schema(), {"const": False}]})] = Field(
        default=None, description="What is kept of the backups; false: everything."
    )


# Accepts anything: what cannot be read must skip the pruning, and nothing else.
FinishBackupBlock = Annotated[Any, WithJsonSchema(FinishBackup.model_json_schema())]
