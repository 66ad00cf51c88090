from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.scenarios.tags import ANCHORS, tags


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("adds [C3]", ("C3",)),
        ("[C1][C2] adds", ("C1", "C2")),
        ("[C1, C2] adds", ("C1", "C2")),
        ("TestTotal/[C1,_C2]_adds", ("C1", "C2")),
        ("test_total[C3]", ("C3",)),
        ("cart:C3 adds", ("cart:C3",)),
        ("[cart:C3] adds", ("cart:C3",)),
        ("total::scenario_c3_adds", ("C3",)),
        ("TestScenario_C12", ("C12",)),
        ("TestScenarioC12Adds", ("C12",)),
        ("testScenarioC12adds", ()),
        ("Subscenario_C1", ()),
        ("Test_Scenario_C12", ("C12",)),
        ("[C03]", ("C3",)),
        ("[C3] twice [C3]", ("C3",)),
        ("cell [C3x]", ()),
        ("array C3", ()),
        ("http://host:C3/", ()),
        ("src/a.test.ts:C3", ()),
        ("std::C3", ()),
        ("", ()),
    ],
)
def test_ids_in_a_name(name: str, found: tuple[str, ...]) -> None:
    assert tags(name) == found


@given(st.text(max_size=60))
def test_every_id_is_announced_by_an_anchor(name: str) -> None:
    data = name.encode("utf-8", "surrogatepass")
    assert not tags(name) or any(anchor in data for anchor in ANCHORS)


@given(st.text(alphabet="[]C:,_ 0123cartscenario", max_size=40))
def test_ids_are_whole_and_single(name: str) -> None:
    found = tags(name)
    data = name.encode()
    assert len(set(found)) == len(found)
    assert not found or any(anchor in data for anchor in ANCHORS)
    assert all(one.rpartition("C")[2].isdigit() for one in found)
