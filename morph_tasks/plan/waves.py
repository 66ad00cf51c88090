"""Which slices can be worked on at the same time: levels of the dependency graph, split where files are shared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from morph_tasks.errors import Refusal
from morph_tasks.plan.paths import same_file_key

WIDEST = 4
# Enough for every real plan; a wall for a text that is made to be slow.
_LOOKED_AT = 64


class Work(Protocol):
    """What a slice must tell to be put into a wave."""

    @property
    def id(self) -> str: ...
    @property
    def depends(self) -> Sequence[str]: ...
    @property
    def files(self) -> Sequence[str]: ...


def waves(slices: Iterable[Work]) -> list[list[str]]:
    """Return the ids in waves, each of at most 4 without a file in common, ids in order.

    A slice comes in a later wave than all it depends on. Unknown ids do not count. Raises Refusal `dependency-cycle`.
    """
    by_id = first_by_id(slices)
    found = []
    for level in _levels(by_id):
        found += _split([by_id[name] for name in level])
    return found


def cycles(slices: Iterable[Work]) -> list[list[str]]:
    """Return one cycle of each knot in the graph, in the order of dependence, the lowest id first."""
    by_id = first_by_id(slices)
    if not any(one.depends for one in by_id.values()):
        return []
    try:
        _levels(by_id)
    except Refusal:
        return _named(by_id)
    return []


def first_by_id(slices: Iterable[Work]) -> dict[str, Work]:
    """Return the slices by id; of two with one id, the first."""
    found: dict[str, Work] = {}
    for one in slices:
        found.setdefault(one.id, one)
    return found


def graph(by_id: dict[str, Work]) -> dict[str, tuple[str, ...]]:
    """Return for each slice the known slices that it depends on."""
    return {name: tuple(one for one in dict.fromkeys(work.depends) if one in by_id) for name, work in by_id.items()}


def id_order(name: str) -> tuple[int, str]:
    """Return the key that puts F2 before F10."""
    number = name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-").lstrip("0")
    return len(number), number


def _levels(by_id: dict[str, Work]) -> list[list[str]]:
    # Not networkx: importing it costs more than the whole command, and the library has this.
    from graphlib import CycleError, TopologicalSorter

    sorter = TopologicalSorter(graph(by_id))
    try:
        sorter.prepare()
    except CycleError:
        raise Refusal("dependency-cycle", "the slices depend on each other in a circle") from None
    found = []
    while sorter.is_active():
        ready = sorter.get_ready()
        found.append(sorted(ready, key=id_order))
        sorter.done(*ready)
    return found


def _split(level: list[Work]) -> list[list[str]]:
    """Put each slice into the first wave that has room and none of its files."""
    found: list[tuple[list[str], set[str]]] = []
    open_waves: list[tuple[list[str], set[str]]] = []
    for work in level:
        files = {same_file_key(path) for path in work.files}
        wave = next((one for one in open_waves[:_LOOKED_AT] if one[1].isdisjoint(files)), None)
        if wave is None:
            wave = ([], set())
            found.append(wave)
            open_waves.append(wave)
        wave[0].append(work.id)
        wave[1].update(files)
        if len(wave[0]) == WIDEST:
            open_waves.remove(wave)
    return [ids for ids, _ in found]


def _named(by_id: dict[str, Work]) -> list[list[str]]:
    import networkx as nx

    whole = nx.DiGraph([(name, one) for name, needed in graph(by_id).items() for one in needed])
    found = []
    for knot in nx.strongly_connected_components(whole):
        part = whole.subgraph(knot)
        if len(knot) == 1 and not part.number_of_edges():
            continue
        first = min(knot, key=id_order)
        ring = [edge[0] for edge in nx.find_cycle(part, first)]
        start = ring.index(min(ring, key=id_order))
        found.append(ring[start:] + ring[:start])
    return sorted(found, key=lambda ring: id_order(ring[0]))
