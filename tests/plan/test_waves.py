from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.plan.paths import same_file_key
from morph_tasks.plan.waves import WIDEST, cycles, graph, id_order, waves


@dataclass(frozen=True)
class Work:
    id: str
    depends: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def work(number: int, depends: str = "", files: str = "") -> Work:
    return Work(f"F{number}", tuple(depends.split()), tuple(files.split()))


FILES = st.lists(st.sampled_from(["a", "b", "./a", "A", "c", "d/e", "d//e"]), max_size=3).map(tuple)


@st.composite
def plans(draw: st.DrawFn, *, forward: bool = True) -> list[Work]:
    """Draw slices; `forward`: each depends on earlier ones only, so that there is no circle."""
    count = draw(st.integers(0, 14))
    numbers = draw(st.permutations(range(1, count + 1)))
    found = []
    for at, number in enumerate(numbers):
        others = numbers[:at] if forward else numbers
        needed = draw(st.lists(st.sampled_from(others), max_size=3)) if others else []
        found.append(Work(f"F{number}", tuple(f"F{one}" for one in needed), draw(FILES)))
    return draw(st.permutations(found))


def test_levels_and_files_and_width() -> None:
    assert waves([]) == []
    assert waves([work(2, "F1"), work(1)]) == [["F1"], ["F2"]]
    assert waves([work(number) for number in (10, 2, 1, 4, 3, 5)]) == [["F1", "F2", "F3", "F4"], ["F5", "F10"]]
    assert waves([work(1, files="a"), work(2, files="a b"), work(3, files="b")]) == [["F1", "F3"], ["F2"]]
    assert waves([work(1, files="src/a.py"), work(2, files="./src//A.py")]) == [["F1"], ["F2"]]
    assert waves([work(1, "F9"), work(2, "F1 F1")]) == [["F1"], ["F2"]]


def test_a_slice_waits_for_its_level_though_its_files_are_free() -> None:
    assert waves([work(1), work(2, "F1"), work(3, "F2"), work(4)]) == [["F1", "F4"], ["F2"], ["F3"]]


@settings(deadline=None)
@given(plans())
def test_every_slice_has_one_place_after_what_it_needs(slices: list[Work]) -> None:
    found = waves(slices)
    place = {name: number for number, wave in enumerate(found) for name in wave}
    assert sorted(place) == sorted(one.id for one in slices)
    assert sum(map(len, found)) == len(slices)
    assert all(place[need] < place[one.id] for one in slices for need in one.depends)


@settings(deadline=None)
@given(plans())
def test_no_wave_is_too_wide_or_shares_a_file(slices: list[Work]) -> None:
    files = {one.id: {same_file_key(path) for path in one.files} for one in slices}
    for wave in waves(slices):
        assert 1 <= len(wave) <= WIDEST
        assert wave == sorted(wave, key=id_order)
        assert sum(len(files[name]) for name in wave) == len(set().union(*(files[name] for name in wave)))


@settings(deadline=None)
@given(plans())
def test_waves_refine_the_generations_of_the_graph(slices: list[Work]) -> None:
    whole: nx.DiGraph = nx.DiGraph()
    whole.add_nodes_from(one.id for one in slices)
    whole.add_edges_from((need, one.id) for one in slices for need in one.depends)
    left = [name for wave in waves(slices) for name in wave]
    for generation in nx.topological_generations(whole):
        part, left = left[: len(generation)], left[len(generation) :]
        assert sorted(part) == sorted(generation)


@settings(deadline=None)
@given(plans(), st.randoms())
def test_the_order_of_writing_does_not_count(slices: list[Work], random: st.DataObject) -> None:
    other = list(slices)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert waves(other) == waves(slices)


@settings(deadline=None)
@given(plans(forward=False))
def test_circles_are_found_and_are_circles(slices: list[Work]) -> None:
    whole: nx.DiGraph = nx.DiGraph()
    whole.add_nodes_from(one.id for one in slices)
    whole.add_edges_from((one.id, need) for one in slices for need in one.depends)
    rings = cycles(slices)
    knots = [
        knot for knot in nx.strongly_connected_components(whole) if len(knot) > 1 or whole.has_edge(*list(knot) * 2)
    ]
    assert len(rings) == len(knots)
    for ring in rings:
        assert ring[0] == min(ring, key=id_order)
        assert all(whole.has_edge(one, other) for one, other in zip(ring, [*ring[1:], ring[0]], strict=True))
    if rings:
        with pytest.raises(Refusal) as refused:
            waves(slices)
        assert refused.value.code == "dependency-cycle"


def test_a_circle_of_one() -> None:
    assert cycles([work(1, "F1"), work(2)]) == [["F1"]]


def test_of_two_slices_with_one_id_the_first_counts() -> None:
    assert waves([work(1, "F2"), work(2), work(1)]) == [["F2"], ["F1"]]
    assert graph({"F1": work(1, "F2 F2 F9"), "F2": work(2)}) == {"F1": ("F2",), "F2": ()}


def test_many_slices_on_one_file_are_looked_at_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    class Counted(set[str]):
        def isdisjoint(self, other: object) -> bool:
            nonlocal looks
            looks += 1
            return super().isdisjoint(other)  # type: ignore[arg-type]

    monkeypatch.setattr("morph_tasks.plan.waves.set", Counted, raising=False)
    assert len(waves([work(number, files="a") for number in range(1, 1001)])) == 1000
    assert 0 < looks <= 1000 * 64
