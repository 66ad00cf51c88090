"""For any small graph the index says what a plain walk over the lists says."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.marks import is_test
from tests.codegraph.rawgraphs import every, put

FILES = ["shop/cart.py", "shop/till.py", "tests/test_cart.py"]
LABELS = ["Cart", "Till", "total()", "pay()", ".total()", ".Pay()", "Ärger", "ärger()"]
RELATIONS = ["calls", "references", "method", "contains", "inherits", "imports"]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a graph in which every name has a definition, and all is in one language."""
    nodes = [
        {
            "id": f"n{number}",
            "label": draw(st.sampled_from(LABELS)),
            "source_file": draw(st.sampled_from(FILES)),
            "source_location": f"L{draw(st.integers(1, 9))}",
            "file_type": "code",
        }
        for number in range(draw(st.integers(1, 7)))
    ]
    ends = st.sampled_from([node["id"] for node in nodes])
    link = st.fixed_dictionaries(
        {
            "source": ends,
            "target": ends,
            "relation": st.sampled_from(RELATIONS),
            "source_file": st.sampled_from(FILES),
            "source_location": st.integers(1, 9).map(lambda line: f"L{line}"),
        }
    )
    return {"nodes": nodes, "links": draw(st.lists(link, max_size=14)), "multigraph": draw(st.booleans())}


def bare(label: str) -> str:
    return label.removesuffix("()").removeprefix(".")


def told(link: dict[str, Any]) -> tuple[Any, ...]:
    return link["source"], link["relation"], link["target"], link["source_file"], int(link["source_location"][1:])


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from([*LABELS, "total", "cart", "TILL", "ärger", "nothing"]))
def test_the_index_says_what_the_lists_say(graph: dict[str, Any], word: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), json.dumps(graph))
        for _ in range(2):  # made, then opened
            with open_index(Path(folder)) as index:
                known = {number: symbol.key for number, symbol in every(index).items()}
                numbers = {key: number for number, key in known.items()}
                assert sorted(known.values()) == sorted(node["id"] for node in graph["nodes"])
                some = [node["id"] for node in graph["nodes"][::2]]
                for ask, end in ((index.into, "target"), (index.out_of, "source")):
                    edges = ask([numbers[key] for key in some])
                    found = [(known[e.source], e.relation, known[e.target], e.file, e.line) for e in edges]
                    assert sorted(found) == sorted(told(link) for link in graph["links"] if link[end] in some)
                    assert {edge.via for edge in edges} <= {"direct"}
                for key in some:
                    held = {
                        x["target"]
                        for x in graph["links"]
                        if x["source"] == key and x["relation"] in ("method", "contains")
                    }
                    assert {member.key for member in index.members(numbers[key])} == held
                named = {x["id"] for x in graph["nodes"] if bare(x["label"]).casefold() == bare(word).casefold()}
                assert {found.key for found in index.names([bare(word)])} == named
                assert {found.key for found in index.find(bare(word))} <= named
                assert bool(index.find(bare(word))) == bool(named)
                in_file = {x["id"] for x in graph["nodes"] if x["source_file"] == FILES[0]}
                lines = [found.line or 0 for found in index.in_file(FILES[0])]
                assert {found.key for found in index.in_file(FILES[0])} >= in_file and lines == sorted(lines)
                counts = index.counts()
                tests = sum(is_test(node["source_file"]) for node in graph["nodes"])
                assert (counts["nodes"], counts["links"], counts["testNodes"]) == (
                    len(graph["nodes"]),
                    len(graph["links"]),
                    tests,
                )


@st.composite
def wild(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a graph with stubs, several languages and ends that nothing describes."""
    files = ["a.py", "b.py", "c.ts", "d.cs", "e.cs", "f.go", "", None]
    key = st.sampled_from([f"n{number}" for number in range(8)])
    node = st.fixed_dictionaries(
        {
            "id": key,
            "label": st.sampled_from(["Cart", "cart()", ".Pay()", "IPay"]),
            "source_file": st.sampled_from(files),
        },
        optional={
            "source_location": st.sampled_from(["L1", "L7", "", None]),
            "_callable_class": st.booleans(),
            "type": st.sampled_from(["external", "namespace"]),
            "metadata": st.fixed_dictionaries(
                {"namespace": st.sampled_from(["A", "A.B", "C"])}, optional={"is_partial": st.booleans()}
            ),
        },
    )
    link = st.fixed_dictionaries(
        {
            "source": key,
            "target": key,
            "relation": st.sampled_from([*RELATIONS, "implements", "imports_from", "re_exports", "dispatches_to"]),
            "source_file": st.sampled_from(files),
        },
        optional={"metadata": st.fixed_dictionaries({"ref_qualifier": st.sampled_from(["A", "B", "System"])})},
    )
    return {"nodes": draw(st.lists(node, max_size=8)), "links": draw(st.lists(link, max_size=12))}


@settings(max_examples=100, deadline=None)
@given(wild())
def test_of_any_graph_no_link_is_lost_or_left_on_what_is_hidden(graph: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), json.dumps(graph))
        with open_index(Path(folder)) as index:
            seen = every(index)
            edges = index.rows("SELECT source, target, layers, via FROM edge")
            assert all(source in seen and target in seen for source, target, layers, _ in edges if layers & 2)
            ends = {(link["source"], link["target"]) for link in graph["links"]}
            assert sum(1 for edge in edges if edge[2] & 1) == len(ends)
            keys = dict(index.rows("SELECT id, key FROM node"))
            assert {(keys[source], keys[target]) for source, target, layers, _ in edges if layers & 1} == ends
            families = {"py": "python", "ts": "jsts", "cs": "dotnet", "go": "go"}
            for edge in index.out_of(seen):
                to = seen[edge.target]
                if edge.relation in ("calls", "references", "inherits") and edge.file and to.line and to.kind == "type":
                    suffixes = [path.rpartition(".")[2] for path in (edge.file, to.file)]
                    assert len({families[suffix] for suffix in suffixes}) == 1
