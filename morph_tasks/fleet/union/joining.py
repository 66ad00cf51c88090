"""Merge features one after the other, beside every work tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.fleet.union.conflicts import changed_attributes, make_commit, merge

if TYPE_CHECKING:
    from morph_tasks.fleet.union.candidates import Candidate, Default
    from morph_tasks.fleet.union.conflicts import Brought
    from morph_tasks.fleet.union.scratch import Scratch


@dataclass(frozen=True)
class Joined:
    """The default branch with features on top. `left_out`: feature -> the paths that kept it out."""

    commit: str
    tree: str
    merged: tuple[str, ...]
    left_out: dict[str, tuple[str, ...]]


class Joiner:
    """Makes unions of some features; what was merged once is not merged again."""

    def __init__(
        self, room: Scratch, default: Default, found: Iterable[Candidate], brought: Mapping[str, Brought]
    ) -> None:
        self._room = room
        self._default = default
        self._found: Mapping[str, Candidate] = {one.feature: one for one in found}
        self._attributes = changed_attributes(brought)
        self._known: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {
            (default.commit, str(one.tip)): (brought[name].commit, ()) for name, one in self._found.items()
        }

    def join(self, features: Iterable[str]) -> Joined:
        """Merge features in this order; one that conflicts with those before it is left out."""
        at, when = self._default.commit, self._default.when
        merged: list[str] = []
        left_out: dict[str, tuple[str, ...]] = {}
        for name in features:
            one = self._found[name]
            later = max(when, one.when)
            commit, paths = self._step(at, str(one.tip), later)
            if paths:
                left_out[name] = paths
            else:
                at, when = commit, later
                merged.append(name)
        tree = self._room.tree.text("rev-parse", f"{at}^{{tree}}")
        return Joined(at, tree, tuple(merged), left_out)

    def _step(self, at: str, tip: str, when: int) -> tuple[str, tuple[str, ...]]:
        """Return the merge of two commits, or the paths that keep them apart."""
        if (at, tip) not in self._known:
            if self._attributes:
                self._room.attributes_of(at)
            found = merge(self._room, at, tip)
            commit = make_commit(self._room, found.tree, (at, tip), when) if found.clean else at
            self._known[at, tip] = commit, found.conflicts
        return self._known[at, tip]
