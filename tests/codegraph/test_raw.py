"""Reading what graphify wrote, and what something else did to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.raw import parse
from morph_tasks.codegraph.table import RAW, tabulate
from morph_tasks.errors import Refusal
from tests.codegraph.rawgraphs import every, put, shown

NODES = [{"id": "a", "label": "a()", "source_file": "a.py", "source_location": "L3"}, {"id": "b", "label": "B"}]
LINK = {"source": "a", "target": "b", "relation": "calls", "source_file": "a.py", "source_location": "L4"}


def read(**graph: Any) -> Any:
    return parse(json.dumps(graph).encode(), Path("graph.json"))


def test_links_may_be_called_edges() -> None:
    assert len(read(nodes=NODES, edges=[LINK]).all_links()) == 1
    assert len(read(nodes=NODES, links=[LINK], edges=[LINK, LINK]).all_links()) == 1


@pytest.mark.parametrize("more", [{}, {"links": None}, {"hyperedges": []}])
def test_a_graph_without_a_list_of_links_is_none_instead_of_one_where_nothing_is_used(more: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="no list of nodes and of links"):
        read(nodes=NODES, **more)


def test_what_is_not_known_is_passed_over() -> None:
    graph = read(
        nodes=[NODES[0] | {"colour": {"deep": [1, 2]}}], links=[LINK | {"weight": 0.5}], more={"a": 1}, graph={}
    )
    assert (graph.nodes[0].label, graph.all_links()[0].target) == ("a()", "b")


@pytest.mark.parametrize(
    "odd",
    [
        {"label": 7}, {"label": None}, {"label": ["x"]}, {"source_file": 3.5}, {"source_location": 12},
        {"metadata": "none"}, {"metadata": {"arity": "two", "namespace": 4}}, {"type": {}}, {"external": "yes"},
        {"_callable_class": 1}, {"id": 12}, {"label": "\ud800"},
    ],
)  # fmt: skip
def test_values_of_the_wrong_kind_do_not_lose_the_rest(odd: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, json.dumps({"nodes": [*NODES, {"id": "c", "label": "c()"} | odd], "links": [LINK]}))
    with open_index(tmp_path) as index:
        assert {found.key for found in every(index).values()} >= {"a", "b"}
        assert "a calls B (direct)" in shown(index)


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    put(tmp_path, '{"nodes": [{"id": "a", "label": "a()", "score": NaN}], "links": []}')
    with open_index(tmp_path) as index:
        assert [found.key for found in index.find("a")] == ["a"]


def test_a_byte_order_mark(tmp_path: Path) -> None:
    put(tmp_path, b"\xef\xbb\xbf" + json.dumps({"nodes": NODES, "links": []}).encode())
    with open_index(tmp_path) as index:
        assert index.counts()["nodes"] == 2


def test_an_end_that_no_node_describes_is_still_a_node(tmp_path: Path) -> None:
    put(tmp_path, json.dumps({"nodes": NODES[:1], "links": [LINK | {"target": "ghost"}]}))
    with open_index(tmp_path) as index:
        assert shown(index) == {"a calls ghost (direct)"}


def test_of_two_links_between_the_same_nodes_the_last_wins_in_the_raw_layer_alone() -> None:
    twice = [LINK, {"source": "a", "target": "b", "relation": "references", "source_location": "L9"}]
    table = tabulate(read(nodes=NODES, links=twice))
    names = list(table.relations)
    raw = [(names[row[2]], table.path_of(row[3]), row[4]) for row in table.rows if row[5] & RAW]
    assert raw == [("references", "a.py", 9)]
    assert len(table.links_of("calls", "references")) == 2
    several = tabulate(read(nodes=NODES, links=twice, multigraph=True))
    assert sum(row[5] & RAW for row in several.rows) == 2


def test_a_node_that_is_described_twice_is_one(tmp_path: Path) -> None:
    put(tmp_path, json.dumps({"nodes": [*NODES, {"id": "a", "label": "later()"}], "links": []}))
    with open_index(tmp_path) as index:
        (found,) = index.find("later")
        assert (found.key, found.file, found.line) == ("a", "a.py", 3)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
items = st.dictionaries(
    st.sampled_from(
        ["id", "label", "source", "target", "relation", "source_file", "source_location", "metadata", "type"]
    ),
    values,
)


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {"nodes": st.lists(items | values, max_size=6), "links": st.lists(items | values, max_size=6)}
    )
    | values
)
def test_any_json_is_a_graph_or_refused(document: Any) -> None:
    try:
        table = tabulate(parse(json.dumps(document).encode("utf-8", "surrogatepass"), Path("graph.json")))
    except Refusal as refused:
        assert refused.code == "corrupt-graph"
    else:
        assert all(row[0] < len(table.nodes) and row[1] < len(table.nodes) for row in table.rows)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Refusal):
        parse(data, Path("graph.json"))
