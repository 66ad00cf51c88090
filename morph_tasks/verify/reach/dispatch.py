"""Which methods run in the place of another one: as `graph affected` sees it, by dispatch and by overriding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from morph_tasks.codegraph.affected import DISPATCH, INHERITANCE

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Edge, Index

Pair = tuple[int, int]


class Dispatch:
    """Answers for many methods at once; what is known of a type is asked once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._types: dict[tuple[bool, int], set[int]] = {}

    def down(self, ids: Iterable[int]) -> list[Pair]:
        """Return (method, what a call of it may run in its place)."""
        methods = self._methods(ids)
        sent = [(one.source, one.target) for one in self._index.out_of(methods) if one.relation == DISPATCH]
        return [*sent, *self._namesakes(methods, up=False)]

    def up(self, ids: Iterable[int]) -> list[Pair]:
        """Return (method, what it may run in the place of)."""
        methods = self._methods(ids)
        sent = [(one.target, one.source) for one in self._index.into(methods) if one.relation == DISPATCH]
        return [*sent, *self._namesakes(methods, up=True)]

    def _methods(self, ids: Iterable[int]) -> dict[int, str]:
        known = self._index.symbols(ids).values()
        return {one.id: one.label for one in known if one.kind in ("method", "function")}

    def _namesakes(self, methods: dict[int, str], *, up: bool) -> Iterator[Pair]:
        """Yield the methods with the members of the same label in the types above or below their own."""
        owners: dict[int, list[int]] = defaultdict(list)
        for edge in self._index.into(methods):
            if edge.relation == "method":
                owners[edge.source].append(edge.target)
        self._learn(owners, up=up)
        others = {other for owner in owners for other in self._types[up, owner]}
        inside: dict[int, list[int]] = defaultdict(list)
        for edge in self._index.out_of(others):
            if edge.relation == "method":
                inside[edge.source].append(edge.target)
        labels = {
            one.id: one.label for one in self._index.symbols({one for many in inside.values() for one in many}).values()
        }
        for owner, own in owners.items():
            by_label = {methods[one]: one for one in own}
            for other in sorted(self._types[up, owner]):
                for member in inside.get(other, ()):
                    mine = by_label.get(labels.get(member, ""))
                    if mine is not None and mine != member:
                        yield mine, member

    def _learn(self, owners: Collection[int], *, up: bool) -> None:
        """Find every type that each of the owners derives from, or that derives from it."""
        near: dict[int, set[int]] = defaultdict(set)
        layer = {one for one in owners if (up, one) not in self._types}
        asked = set(layer)
        while layer:
            for start, end in self._derived(layer, up=up):
                near[start].add(end)
            layer = {end for one in layer for end in near.get(one, ())} - asked
            asked |= layer
        for owner in owners:
            if (up, owner) in self._types:
                continue
            found: set[int] = set()
            stack = list(near.get(owner, ()))
            while stack:
                one = stack.pop()
                if one not in found and one != owner:
                    found.add(one)
                    stack += near.get(one, ())
            self._types[up, owner] = found

    def _derived(self, layer: Collection[int], *, up: bool) -> Iterator[Pair]:
        edges: list[Edge] = self._index.out_of(layer) if up else self._index.into(layer)
        for edge in edges:
            if edge.relation in INHERITANCE:
                yield (edge.source, edge.target) if up else (edge.target, edge.source)
