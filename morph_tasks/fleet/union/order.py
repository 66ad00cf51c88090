"""In which order to merge: few conflicts first, what others are built on before them, small before large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.fleet.union.candidates import Candidate, Default
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Placed:
    """A feature at its place in the order, and why it stands there."""

    feature: str
    why: str

    def as_json(self) -> dict[str, str]:
        return {"feature": self.feature, "why": self.why}


def suggest(
    sizes: Mapping[str, int], conflicts: Iterable[Sequence[str]], below: Mapping[str, frozenset[str]]
) -> list[Placed]:
    """Return the features of `sizes` (how many paths each changes) in the order to merge them.

    `conflicts`: the features of each conflict; `below`: the features whose commits a feature's branch holds. A
    feature comes after those below it, whatever else speaks for it: merging it would bring them along.
    """
    rivals: dict[str, set[str]] = {name: set() for name in sizes}
    for pair in conflicts:
        for name in pair:
            if name in rivals:
                rivals[name] |= set(pair) - {name}
    placed: list[Placed] = []
    left = set(sizes)
    while left:
        ready = [name for name in left if not (below.get(name, frozenset()) & left)]
        name = min(ready or left, key=lambda one: (len(rivals[one]), sizes[one], one))
        left.discard(name)
        placed.append(Placed(name, _why(name, rivals[name], sizes[name], below.get(name, frozenset()) & set(sizes))))
    return placed


def branches_below(repo: Repo, found: Sequence[Candidate], default: Default) -> dict[str, frozenset[str]]:
    """Return for each feature those whose branch its own branch contains; of two at one commit, the later by name."""
    tips: dict[str, list[str]] = {}
    for one in found:
        if one.tip:
            tips.setdefault(one.tip, []).append(one.feature)
    if not tips:
        return {}
    given = "".join(f"{tip}\n" for tip in tips) + f"^{default.commit}\n"
    lines = repo.git("rev-list", "--parents", "--stdin", stdin=given.encode()).decode().split("\n")
    parents = {commit: above for commit, *above in (line.split(" ") for line in lines if line)}
    result = {}
    for one in found:
        if one.tip:
            held = {name for commit in _reached(one.tip, parents) for name in tips.get(commit, ()) if commit != one.tip}
            held |= {name for name in tips[one.tip] if name < one.feature}
            result[one.feature] = frozenset(held)
    return result


def _reached(tip: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [tip]
    while waiting:
        commit = waiting.pop()
        if commit in parents and commit not in found:
            found.add(commit)
            waiting += parents[commit]
    return found


def _why(name: str, rivals: set[str], size: int, below: frozenset[str]) -> str:
    said = "no conflict"
    if rivals:
        said = f"conflicts with {', '.join(sorted(rivals))}"
    said += f", {size} path{'s' if size != 1 else ''}"
    return f"{said}; after {', '.join(sorted(below))}: its branch holds that work" if below else said
