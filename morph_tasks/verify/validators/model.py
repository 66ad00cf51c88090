"""What a validator is, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Checked:
    """What a validator found: `reason` is a code (of a fail) or the reason of a skip, `detail` holds a line each.

    `unavailable`: there may be something to find, and it could not look.
    """

    status: Literal["pass", "fail", "skip"]
    reason: str | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()
    unavailable: bool = False


def skipped(why: str, *, silent: bool = True) -> Checked:
    """Return a skip. One that is not `silent` could have found something: it says so."""
    return Checked("skip", why, why, () if silent else (f"was not checked: {why}",), (), not silent)


def unavailable(why: str) -> Checked:
    """Return the skip of a validator that cannot look as long as its facts stay as they are: it is not asked again."""
    return Checked("skip", why, why, unavailable=True)


def printable(path: str) -> str:
    """Return a path that stays on one line, whatever its bytes are."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in path)


class Validator(Protocol):
    """A module of this folder that holds a validator.

    One with a true `FEATURE` is given the feature as well (`feature=`, None when there is none) by `facts` and `check`;
    `facts` of one with a true `DIGESTS` a function that tells the content of a file by its path.
    """

    NAME: str

    def applies(self, repo: Repo, config: Config) -> str | None:
        """Return why there is nothing to check, None when there is."""

    def facts(self, repo: Repo, config: Config, **of: Any) -> dict[str, Any]:
        """Return what decides besides the content of the tree, as JSON values."""

    def check(self, repo: Repo, config: Config, **of: Any) -> Checked:
        """Look at the tree as it is now."""
