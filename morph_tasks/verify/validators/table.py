"""The validators there are: each is a module of this folder, loaded when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from morph_tasks.verify.digests import file_digest
from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.validators.model import Checked, Validator

# id -> module
VALIDATORS: dict[str, str] = {
    "code-budget": "morph_tasks.verify.validators.code_budget",
    "secrets": "morph_tasks.verify.validators.secrets",
    "reuse": "morph_tasks.verify.validators.reuse",
    "test-weakening": "morph_tasks.verify.validators.test_weakening",
}


def validator_nodes(root: Path, config: Config) -> list[Node]:
    """Return a node for each validator."""
    return [Node("validators", name, validator=name, declared=False) for name in VALIDATORS]


def facts(
    repo: Repo, config: Config, name: str, feature: str | None = None, digest: Callable[[str], str | None] = file_digest
) -> dict[str, Any]:
    """Return what decides a validator besides the content of the tree; what cannot be told is a fact as well.

    `digest` tells the content of a file, for a validator that goes by some outside of git.
    """
    try:
        validator = load(name)
        more = {"digest": digest} if getattr(validator, "DIGESTS", False) else {}
        return validator.facts(repo, config, **_of_feature(validator, feature), **more)
    except Exception as error:
        return {"unknown": _why(error)}


def run(repo: Repo, config: Config, name: str, feature: str | None = None) -> Checked:
    """Return what a validator finds. A measurement that fails is a skip with its reason, never an error."""
    from morph_tasks.verify.validators.model import skipped

    try:
        validator = load(name)
        unfit = validator.applies(repo, config)
        return skipped(unfit) if unfit else validator.check(repo, config, **_of_feature(validator, feature))
    except Exception as error:
        return skipped(_why(error), silent=False)


def load(name: str) -> Validator:
    """Return the module of a validator."""
    return cast("Validator", import_module(VALIDATORS[name]))


def warm() -> None:
    """Load every validator; for a thread that does so while commands of other nodes run."""
    for name in VALIDATORS:
        load(name)


def _of_feature(validator: Validator, feature: str | None) -> dict[str, Any]:
    """Return the feature for a validator that asks for it."""
    return {"feature": feature} if getattr(validator, "FEATURE", False) else {}


def _why(error: Exception) -> str:
    """Return what went wrong. The text of an unforeseen error could quote the file it stumbled over."""
    from morph_tasks.errors import Refusal

    if isinstance(error, Refusal):
        return error.what
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f" in {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else ""
    return f"{type(error).__name__}{place}"
