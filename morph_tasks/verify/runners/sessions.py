"""Which summaries count when an output holds several: chained runs are kept, echoes and nested runs are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Start:
    """The start of a run; `size` is the number of tests it announces, `weak` when its end may be silent."""

    at: int
    size: int | None = None
    weak: bool = False


@dataclass(frozen=True)
class End(Generic[T]):
    """The summary of a run; `size` is the number of tests it accounts for."""

    at: int
    value: T
    size: int | None = None


@dataclass(frozen=True)
class Paired(Generic[T]):
    """The summaries that count, and whether a run started that has none."""

    ends: tuple[T, ...]
    open: bool
    last: int = 0


@dataclass
class _Run(Generic[T]):
    starts: list[Start] = field(default_factory=list)
    end: End[T] | None = None
    misfit: End[T] | None = None

    def begin(self, start: Start) -> None:
        if start.weak:
            return
        self.starts = [start] if self.starts[-1].weak else [*self.starts, start]

    def finish(self, end: End[T]) -> None:
        """Take an end: one of the wrong size is only kept for want of a better one, one of an inner run closes that."""
        if self.starts and _misfits(self.starts[0], end):
            inner = any(not _misfits(start, end) for start in self.starts[1:])
            self.misfit = self.misfit if inner else end
        elif len(self.starts) > 1 and self.starts[0].size is None and self.end is None:
            self.starts = self.starts[:-1]
        else:
            self.end = end


def pair(starts: Iterable[Start], ends: Iterable[End[T]], calls: int | None = None, *, bare: str = "last") -> Paired[T]:
    """Match starts and ends like brackets; the last fitting end of the outermost run counts.

    `calls` is the number of summaries the command can print (None: not known). Without any start, `bare` says
    whether all ends count or the last one.
    """
    begun, ended = sorted(starts, key=_place), sorted(ends, key=_place)
    if calls == 1 or not begun:
        most = calls or (len(ended) if bare == "all" else 1)
        kept = ended[-most:]
        loud = [start.at for start in begun if not start.weak]
        return _paired(kept, bool(loud) and (not kept or loud[-1] > kept[-1].at))
    ordered: list[Start | End[T]] = sorted([*begun, *ended], key=_place)
    runs = _runs(ordered)
    chosen = [end for run in runs if (end := run.end or run.misfit)]
    return _paired(chosen, any(not (run.end or run.misfit) and not run.starts[0].weak for run in runs))


def _runs(ordered: Sequence[Start | End[T]]) -> list[_Run[T]]:
    runs: list[_Run[T]] = []
    for mark in ordered:
        if isinstance(mark, Start):
            if runs and runs[-1].end is None:
                runs[-1].begin(mark)
            else:
                runs.append(_Run([mark]))
        else:
            if not runs:
                runs.append(_Run())
            runs[-1].finish(mark)
    return runs


def _place(mark: Start | End[T]) -> int:
    return mark.at


def _misfits(start: Start, end: End[T]) -> bool:
    return start.size is not None and end.size is not None and start.size != end.size


def _paired(ends: Sequence[End[T]], is_open: bool) -> Paired[T]:
    return Paired(tuple(end.value for end in ends), is_open, ends[-1].at if ends else 0)
