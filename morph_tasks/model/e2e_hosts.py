"""`e2e.hostServices[]` and `e2e.auth`: what a project may say about its host processes and its test users."""

# ruff: noqa: N815  (field names are the JSON keys)

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic.functional_validators import AfterValidator, BeforeValidator, ModelWrapValidatorHandler
from pydantic_core import InitErrorDetails, PydanticCustomError

Path = Annotated[str, StringConstraints(strict=True, min_length=1, pattern=r"^[^\x00]+$")]
# An argument of a program holds 128 KiB.
Command = Annotated[str, StringConstraints(strict=True, max_length=100_000, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
# `[0-9A-Za-z._-]+` of the reference; a file name holds 255 bytes, beside the project and a suffix.
ServiceName = Annotated[str, StringConstraints(strict=True, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]
EnvKey = Annotated[str, StringConstraints(strict=True, pattern=r"^[^=\x00]+$")]
Milliseconds = Annotated[int, Field(strict=True, gt=0, le=2_147_483_647)]

DEFAULT_TIMEOUT_MS = 180_000


def _env_value(value: Any) -> Any:
    # Not left to the union: it would name each of its members.
    fits = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not fits or (isinstance(value, str) and "\0" in value):
        raise PydanticCustomError("env_value", "a text or a number")
    return value


EnvValue = Annotated[str | int | float, BeforeValidator(_env_value)]


class HostService(BaseModel):
    """One entry of `e2e.hostServices`: a process of the host beside the compose stack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ServiceName = Field(description="Names the service, its log and every message; unique in the list.")
    cwd: Path = Field(default=".", description="Folder of `build` and `start`, relative to the root of the tree.")
    build: Command | None = Field(default=None, description="Run before `start`; one that fails, fails the service.")
    start: Command = Field(description="The process, started detached by /bin/sh; it stays in the foreground.")
    env: dict[EnvKey, EnvValue] = Field(
        default={}, description="Added to the process and stack environment; `${NAME}` in a value is resolved."
    )
    health: Path | None = Field(
        default=None, description="URL asked until it answers below 500; absent: alive after 2 s is ready."
    )
    timeoutMs: Milliseconds = Field(
        default=DEFAULT_TIMEOUT_MS, description="Ceiling of build, start and health together, in milliseconds."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _say_which(cls, data: Any, handler: ModelWrapValidatorHandler[HostService]) -> HostService:
        """Name the service in each problem: an index says little about a list that people reorder."""
        try:
            return handler(data)
        except ValidationError as error:
            name = data.get("name") if isinstance(data, dict) else None
            which = f" in the host service `{name}`" if isinstance(name, str) else " in a host service without a name"
            problems = [_problem(item, which) for item in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(error.title, problems) from None


def _problem(item: Any, which: str) -> InitErrorDetails:
    said = {
        "missing": "a value (the key is required)",
        "extra_forbidden": "no such key (known: name, cwd, build, start, env, health, timeoutMs)",
        "string_pattern_mismatch": "text of another form",
    }.get(item["type"], str(item["msg"]).removeprefix("Input should be "))
    loc = item["loc"]
    if loc == ("name",) and item["type"] == "string_pattern_mismatch":
        said = "letters, digits, `.`, `_` and `-` only"
    elif item["type"] == "string_pattern_mismatch" and loc and loc[0] in ("start", "build"):
        said = "a command that is not blank"
    value = None if item["type"] == "missing" else item["input"]
    # The text is no template here: pydantic fills in braces only where it is given values for them.
    problem = PydanticCustomError("host_service", f"{said}{which}")
    return InitErrorDetails(type=problem, loc=loc, input=value)


def _unique(services: list[HostService]) -> list[HostService]:
    names = [service.name for service in services]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"each name once; the host service `{name}` is there {names.count(name)} times (`name`)")
    return services


HostServices = Annotated[list[HostService], AfterValidator(_unique)]


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("a path inside of the tree")
    return path


TreePath = Annotated[Path, AfterValidator(_inside)]


class AuthSettings(BaseModel):
    """The key `e2e.auth`: how the test users get in."""

    model_config = ConfigDict(extra="allow", frozen=True)

    mode: Literal["seed", "storageState", "bypass", "none"] | None = Field(
        default=None, description="What prepares the sign-in; without it a `seedCommand` is not run."
    )
    seedCommand: Command | None = Field(
        default=None, description="Run by /bin/sh from the root of the tree, once for each fresh stack."
    )
    storageStatePath: TreePath | None = Field(
        default=None, description="File that holds the signed-in browser state, relative to the root of the tree."
    )
    envFile: TreePath | None = Field(
        default=None, description="File of credentials (`.env.e2e`), ignored by git; its port keys are not used."
    )
