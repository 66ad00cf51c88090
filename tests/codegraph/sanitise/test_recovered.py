"""Edges that were found beside graphify's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.layout import recovered_file
from morph_tasks.codegraph.recovered import Edge, decode, edges_of, encode
from tests.codegraph.rawgraphs import Raw, answers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = Raw()
    for name in ("a", "b", "c"):
        made.node(name, f"{name}()", f"{name}.py", 1)
    made.link("a", "calls", "b", "a.py", 5)
    made.write(tmp_path)
    return tmp_path


def recover(root: Path, *edges: dict[str, Any]) -> None:
    names = ("source", "target", "relation", "file", "line")
    recovered_file(root).write_bytes(encode([tuple(edge[name] for name in names) for edge in edges]))


def edge(source: str, target: str, relation: str = "calls", **more: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "relation": relation, "file": f"{source}.py", "line": 7} | more


def test_they_are_added_with_their_site(root: Path) -> None:
    recover(root, edge("c", "b"), edge("a", "c", "dispatches_to"))
    with open_index(root) as index:
        assert index.recovery
        assert (index.counts()["recoveredCalls"], index.counts()["recoveredDispatch"]) == (1, 1)
        (found,) = index.out_of([f.id for f in index.find("c")])
        assert (found.file, found.line, found.via) == ("c.py", 7, "recovered-call")


def test_unknown_ends_known_edges_and_doubles_are_left_out(root: Path) -> None:
    recover(root, edge("c", "nowhere"), edge("a", "b"), edge("c", "b"), edge("c", "b", line=8), edge("c", "c"))
    assert answers(root, via="recovered-call") == {"c calls b"}


def broken(**other: Any) -> str:
    """Return a file of which one column is wrong."""
    return json.dumps(json.loads(encode([("c", "b", "calls", "c.py", 7)])) | other)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"ids": [1]}', '{"version": 2}']
    + [
        broken(**one)
        for one in (
            {"version": 1},
            {"sources": [9]},
            {"sources": [-1]},
            {"targets": [-1]},
            {"kinds": [1]},
            {"lines": []},
        )
    ],
)
def test_a_file_that_cannot_be_read_adds_nothing(root: Path, text: str) -> None:
    recovered_file(root).write_text(text)
    assert answers(root) == {"a calls b (direct)"}


def test_a_folder_in_its_place_is_passed_over(root: Path) -> None:
    recovered_file(root).mkdir()
    for _ in range(2):
        assert answers(root) == {"a calls b (direct)"}


def test_another_file_makes_another_index(root: Path) -> None:
    assert answers(root, via="recovered-call") == set()
    recover(root, edge("c", "b"))
    assert answers(root, via="recovered-call") == {"c calls b"}
    recovered_file(root).unlink()
    assert answers(root, via="recovered-call") == set()
    with open_index(root) as index:
        assert not index.recovery


ends = st.sampled_from("abcd")


@given(st.lists(st.tuples(ends, ends, ends, st.none() | ends, st.none() | st.integers(1, 99))))
def test_what_is_written_is_read_back(rows: list[Edge]) -> None:
    known = decode(encode(rows, [("a", "b", "calls", 3)]))
    assert known is not None
    assert edges_of(known) == rows
    assert known.refuted == [("a", "b", "calls", 3)]
