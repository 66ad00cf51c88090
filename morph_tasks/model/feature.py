"""`feature.json`: what is known of a feature, and how a wrong value is refused."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from morph_tasks.errors import Refusal

Text = Annotated[str, StringConstraints(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
WorkType = Literal["feature", "bug", "chore", "hotfix"]
Status = Literal["draft", "in_progress", "abandoned", "archived"]


class _Open(BaseModel):
    """Keys that this version does not know are kept."""

    model_config = ConfigDict(extra="allow")


class Approval(_Open):
    """One entry of `approvalGates`."""

    approved: Flag
    timestamp: Text | None = Field(default=None, description="When, in UTC.")
    approvedBy: Text | None = Field(default=None, description="`auto`, `manual` or `policy:<work type>`.")
    approver: Text | None = Field(default=None, description="Who signed, when a person did.")
    planHash: Text | None = Field(default=None, description="The plan that was approved (`plan` gate).")
    planBase: dict[str, Any] | None = Field(
        default=None, description="The default branch and its commits that the tree held then (`plan` gate)."
    )
    selfAssessed: Flag = Field(default=False, description="Reviewed by whoever wrote it (`review` gate).")
    overrode: list[Text] = Field(default=[], description="Reasons to pause that the signature passed over.")


class Decision(_Open):
    """One entry of `gateDecisions`."""

    pause: Flag
    reason: Text | None = Field(default=None, description="Why the gate pauses.")
    signals: dict[str, Any] = Field(default={}, description="The facts the decision saw.")
    trust: Literal["auto", "manual"] = "auto"
    decidedAt: Text | None = Field(default=None, description="When, in UTC.")
    source: Text | None = Field(default=None, description="`gate-check`, or `manual` for a decision by hand.")


class Stamp(_Open):
    """The roll-up of a verify."""

    status: Text = Field(description="`pass` is the only green.")
    ts: Text | None = None
    sha: Text | None = None
    fingerprint: Text | None = Field(default=None, description="The content that was verified.")
    scope: Text | None = None
    nodes: dict[str, Any] = Field(default={}, description="Status of each family of nodes.")
    e2eReason: Text | None = Field(default=None, description="Why the end-to-end node did not run.")


class Feature(_Open):
    """The whole file."""

    model_config = ConfigDict(extra="allow", title="morph-spec feature")

    name: Text | None = Field(default=None, description="For people; the folder's name when absent.")
    feature: Text | None = Field(default=None, description="The slug, as the folder is called.")
    description: Text | None = None
    request: Text | None = Field(default=None, description="The words the feature was asked for with.")
    workType: WorkType = "feature"
    status: Status = "draft"
    createdAt: Text | None = None
    updatedAt: Text | None = None
    archivedAt: Text | None = None
    branch: Text | None = None
    approvalGates: dict[str, Approval] = Field(default={}, description="By gate: `plan`, `uiux`, `review`.")
    gateDecisions: dict[str, Decision] = Field(default={}, description="By gate.")
    verification: Stamp | None = Field(default=None, description="The last whole verify.")
    verifications: list[Stamp] = Field(default=[], description="Earlier ones, newest last.")
    outputs: dict[str, Any] = Field(default={}, description="Files the phases have left, by name.")


def validate(data: Any, where: str) -> None:
    """Check the known keys; raises Refusal `invalid-feature` that names every path, found and expected."""
    try:
        Feature.model_validate(data)
    except ValidationError as error:
        problems = [_problem(item) for item in error.errors(include_url=False)]
        first, more = problems[0], f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise Refusal(
            "invalid-feature",
            f"{where}: {first['path']}: found {first['found']}, expected {first['expected']}{more}",
            fix=f"correct {first['path']} in {where}, or restore the file from git",
            file=where,
            problems=problems,
        ) from None


def _problem(item: Any) -> dict[str, str]:
    path = ""
    for part in item["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    expected = str(item["msg"]).removeprefix("Input should be ")
    if item["type"] == "missing":
        return {"path": path, "found": "nothing", "expected": "a value (the key is required)"}
    return {"path": path or "$", "found": _shown(item["input"]), "expected": expected}


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
