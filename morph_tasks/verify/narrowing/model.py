"""What a run of one slice takes of a node: the whole command, a narrower one, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

Mode = Literal["narrowed", "whole", "out-of-scope", "full"]


@dataclass(frozen=True)
class Selection:
    """What was chosen for one node. `files` are those of the slice that the node owns, relative to the root.

    `zero_guard` says what proves that a narrowed run executed a test: `count`, or `count-or-exit`.
    """

    mode: Mode
    reason: str
    declared_command: str
    command: str
    files: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    zero_guard: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what `verify --json` and the evidence say of it."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "declaredCommand": self.declared_command,
            "files": list(self.files),
            "selectors": list(self.selectors),
            "zeroGuard": self.zero_guard,
        }


@dataclass(frozen=True)
class Narrowed:
    """A command that runs only the tests of some files; `note` says what of the slice is left to other nodes."""

    command: str
    selectors: tuple[str, ...]
    zero_guard: str = "count"
    note: str = ""


class Narrower(Protocol):
    """A module of this folder that narrows the commands of one runner.

    It may also have `owns(root, cwd, command, path) -> bool | None` (True: a project of the command owns the path,
    wherever the node's folder is) and `blocks(text) -> list[int]` (the counts of a chain's summaries, each is
    judged).
    """

    def narrow(self, root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
        """Return the narrower command, or why the whole one has to run.

        `files` exist, are relative to `root`, are spelled as on disk and are owned by the node; folders are not among
        them.
        """
        ...

    def is_zero(self, log: str, exit_code: int | None) -> bool:
        """Tell whether a red run says that no test matched."""
        ...
