"""Which methods run in the place of another one: as `graph affected` sees it, by dispatch and by overriding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from morph_tasks.codegraph.affected import DISPATCH, related

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index, Symbol

Pair = tuple[int, int]


class Dispatch:
    """Answers for many methods at once; what is known of a method or a type is asked once.

    Production code is taken to run no override that stands in test code: each test class has its `setUp`.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._types: dict[tuple[bool, int], set[int]] = {}
        self._members: dict[int, list[Symbol]] = {}
        self._known: dict[tuple[bool, int], set[int]] = {}

    def down(self, ids: Iterable[int]) -> list[Pair]:
        """Return (method, what a call of it may run in its place)."""
        return self._pairs(ids, up=False)

    def up(self, ids: Iterable[int]) -> list[Pair]:
        """Return (method, what it may run in the place of)."""
        return self._pairs(ids, up=True)

    def _pairs(self, ids: Iterable[int], *, up: bool) -> list[Pair]:
        asked = list(ids)
        fresh = {one for one in asked if (up, one) not in self._known}
        self._known |= {(up, one): set() for one in fresh}
        known = self._index.symbols(fresh).values()
        methods = {one.id: one for one in known if one.kind in ("method", "function")}
        for mine, other in [*self._sent(methods, up=up), *self._namesakes(methods, up=up)]:
            self._known[up, mine].add(other)
        return [(one, other) for one in asked for other in sorted(self._known[up, one])]

    def _sent(self, methods: Collection[int], *, up: bool) -> Iterator[Pair]:
        for edge in self._index.into(methods) if up else self._index.out_of(methods):
            if edge.relation == DISPATCH:
                yield (edge.target, edge.source) if up else (edge.source, edge.target)

    def _namesakes(self, methods: Mapping[int, Symbol], *, up: bool) -> Iterator[Pair]:
        """Yield the methods with the members of the same label in the types above or below their own."""
        owners: dict[int, list[Symbol]] = defaultdict(list)
        for edge in self._index.into(methods):
            if edge.relation == "method":
                owners[edge.source].append(methods[edge.target])
        fresh = [one for one in owners if (up, one) not in self._types]
        self._types |= {(up, one): types for one, types in related(self._index, fresh, up=up).items()}
        self._look_into({other for owner in owners for other in self._types[up, owner]})
        for owner, own in owners.items():
            by_label: dict[str, list[Symbol]] = defaultdict(list)
            for one in own:
                by_label[one.label].append(one)
            for other in self._types[up, owner]:
                for member in self._members[other]:
                    for mine in by_label.get(member.label, ()):
                        lower, upper = (mine, member) if up else (member, mine)
                        if mine.id != member.id and (upper.test or not lower.test):
                            yield mine.id, member.id

    def _look_into(self, types: Iterable[int]) -> None:
        fresh = [one for one in types if one not in self._members]
        self._members |= {one: [] for one in fresh}
        inside = [edge for edge in self._index.out_of(fresh) if edge.relation == "method"]
        known = self._index.symbols({edge.target for edge in inside})
        for edge in inside:
            if edge.target in known:
                self._members[edge.source].append(known[edge.target])
