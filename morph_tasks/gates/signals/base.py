"""What a signal is given and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

PLAN, UIUX, REVIEW = "plan", "uiux", "review"
EVERY_GATE = (PLAN, UIUX, REVIEW)


@dataclass(frozen=True)
class Facts:
    """Where the signals look. `folder`: the feature's; `data`: its `feature.json`; `given`: what the session says."""

    repo: Repo
    slug: str
    folder: Path
    data: dict[str, Any]
    gate: str
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def stamp(self) -> dict[str, Any] | None:
        """Return the stamp of the last whole verify; None when nothing was verified."""
        return self.data.get("verification") or None

    @property
    def work_type(self) -> str:
        return str(self.data.get("workType") or "feature")


@dataclass(frozen=True)
class Reading:
    """What a signal saw (recorded with the decision) and why it pauses the gate, if it does.

    `warning`: what people should hear although it pauses nothing.
    """

    values: dict[str, Any] = field(default_factory=dict)
    pause: str | None = None
    warning: str | None = None


class Signal(Protocol):
    """A module of this folder. The texts make the table in `docs/gates.md`."""

    @property
    def NAME(self) -> str: ...  # noqa: N802
    @property
    def READS(self) -> str: ...  # noqa: N802
    @property
    def PAUSES_WHEN(self) -> str: ...  # noqa: N802
    @property
    def GATES(self) -> tuple[str, ...]: ...  # noqa: N802

    def read(self, facts: Facts) -> Reading: ...
