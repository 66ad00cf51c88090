"""Plans that will fight: two that change one file, or one that changes what a file of the other depends on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from morph_tasks.codegraph.reach import Link, Step

SAME, DEPENDENT = "same-file", "dependent"

Files = Mapping[str, tuple[str, ...]]  # path: the slices that name it


@dataclass(frozen=True)
class Side:
    """One plan's part of a collision."""

    feature: str
    slices: tuple[str, ...]
    file: str

    def as_json(self) -> dict[str, Any]:
        return {"feature": self.feature, "slices": list(self.slices), "file": self.file}


@dataclass(frozen=True)
class Collision:
    """`one` changes what `other` has, too (distance 0), or depends on (1), or depends on over one symbol (2).

    `path`: from the changed file to the one that depends on it; `more`: how many other paths there are.
    """

    kind: str
    distance: int
    one: Side
    other: Side
    path: tuple[Step, ...] = ()
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "distance": self.distance,
            "features": [self.one.as_json(), self.other.as_json()],
            "path": [step.as_json() for step in self.path],
            "morePaths": self.more,
        }

    def sides(self, feature: str) -> tuple[Side, Side]:
        """Return the side of a feature and the one opposite."""
        return (self.one, self.other) if self.one.feature == feature else (self.other, self.one)


def collisions(
    plans: Mapping[str, Files], links: Iterable[Link], *, own: str = "", whole: Mapping[str, Files] | None = None
) -> list[Collision]:
    """Return what collides, the worst first; with `own` only what that feature has part in.

    `links`: between files of the plans, as `reach.links` finds them; none when there is no graph. `whole`: the plans
    with the files in the folders that they name, where the links are between those.
    """
    found = [*_same_file(plans, own), *_dependent(plans if whole is None else whole, links, own)]
    return sorted(
        found, key=lambda one: (one.distance, one.one.feature, one.other.feature, one.one.file, one.other.file)
    )


def same_file_key(path: str) -> str:
    """Return what two names of one file have in common, where a file system does not tell case."""
    return unicodedata.normalize("NFC", path).casefold()


def _same_file(plans: Mapping[str, Files], own: str) -> Iterator[Collision]:
    owners = _owners(plans)
    for key, sides in owners.items():
        for at, one in enumerate(sides):
            # A plan may name a folder, which is there and has no slash: all below it is the same.
            others = [*sides[at + 1 :], *(side for above in _above(key) for side in owners.get(above, ()))]
            for other in others:
                if one.feature != other.feature and own in ("", one.feature, other.feature):
                    first, second = sorted((one, other), key=lambda side: side.feature)
                    yield Collision(SAME, 0, first, second)


def _owners(plans: Mapping[str, Files]) -> dict[str, list[Side]]:
    found: dict[str, list[Side]] = {}
    for feature, files in sorted(plans.items()):
        for path, slices in files.items():
            found.setdefault(same_file_key(path), []).append(Side(feature, slices, path))
    return found


def _above(key: str) -> Iterator[str]:
    while "/" in key:
        key = key.rpartition("/")[0]
        yield key


def _dependent(plans: Mapping[str, Files], links: Iterable[Link], own: str) -> Iterator[Collision]:
    by_path: dict[str, list[Side]] = {}
    for feature, files in sorted(plans.items()):
        for path, slices in files.items():
            by_path.setdefault(path, []).append(Side(feature, slices, path))
    keys = {feature: {same_file_key(path) for path in files} for feature, files in plans.items()}
    for link in links:
        changed, depends = same_file_key(link.changed), same_file_key(link.consumer)
        between = {same_file_key(step.file) for step in link.path[1:-1] if step.file}
        for one in by_path.get(link.changed, ()):
            for other in by_path.get(link.consumer, ()):
                if one.feature == other.feature or own not in ("", one.feature, other.feature):
                    continue
                # What both change, or what is nearer, is told already, and worse.
                told = changed in keys[other.feature] or depends in keys[one.feature]
                if not told and between.isdisjoint(keys[one.feature] | keys[other.feature]):
                    yield Collision(DEPENDENT, link.distance, one, other, link.path, link.more)


def pairs(found: Sequence[Collision]) -> list[tuple[str, str]]:
    """Return the features that collide, two by two."""
    return sorted({(min(names), max(names)) for one in found if (names := (one.one.feature, one.other.feature))})
