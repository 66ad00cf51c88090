"""The index gives graphify's own answer to `affected`, as well as the better one."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.index import Index, open_index
from morph_tasks.codegraph.raw_affected import raw_affected, resolve_seed
from tests.codegraph.rawgraphs import CSHARP, HERE, Raw, extract, put
from tests.conftest import BIN

ROOT = HERE.parents[1]


def theirs(root: Path, query: str, depth: int) -> list[str] | None:
    """Return what graphify prints for a question; None when it knows no such node."""
    argv = [BIN / "graphify", "affected", query, "--depth", str(depth)]
    said = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return None if said[0].startswith("No unique node match") else [line for line in said if line.startswith("- ")]


def ours(index: Index, root: Path, query: str, depth: int) -> list[str] | None:
    """Return the same lines from the index."""
    seed = resolve_seed(index, query, root)
    if seed is None:
        return None
    return [f"- {hit.label} [{hit.relation}] {hit.file}:L{hit.line}" for hit in raw_affected(index, seed, depth=depth)]


def test_the_command_itself_says_the_same(tmp_path: Path) -> None:
    root = extract(CSHARP, tmp_path / "cs")
    with open_index(root) as index:
        for query in ("IStore", "Repository", "Shop/Domain/Cart.cs", ".Total()", "Cart"):
            assert ours(index, root, query, 2) == theirs(root, query, 2), query


def compare(root: Path, *, sample: int) -> int:
    """Ask both about nodes of a graph, in every form of a question; return how many answers were not empty."""
    from graphify.affected import affected_nodes, load_graph
    from graphify.affected import resolve_seed as their_seed

    graph = load_graph(root / "graphify-out/graph.json")
    chance, filled = random.Random(sample), 0
    nodes = list(graph.nodes(data=True))
    with open_index(root) as index:
        keys = dict(index.rows("SELECT id, key FROM node"))
        for key, about in chance.sample(nodes, min(sample, len(nodes))):
            label, file = str(about.get("label")), str(about.get("source_file"))
            for query in {
                key,
                label,
                label.strip(".").removesuffix("()"),
                file,
                f"./{file}",
                label.upper(),
                label[:6],
            } - {""}:
                seed, mine = their_seed(graph, query, root), resolve_seed(index, query, root)
                assert seed == (None if mine is None else keys[mine]), query
                if seed is None or mine is None:
                    continue
                depth = chance.choice([1, 2, 2, 3])
                found = [(hit.node_id, hit.depth, hit.via_relation) for hit in affected_nodes(graph, seed, depth=depth)]
                same = [(keys[hit.id], hit.depth, hit.relation) for hit in raw_affected(index, mine, depth=depth)]
                assert same == found, (query, depth)
                filled += bool(found)
    return filled


@pytest.mark.parametrize("tree", ["polyglot", "csharp"])
def test_all_symbols_of_the_fixtures(tree: str, tmp_path: Path) -> None:
    root = extract(HERE / tree, tmp_path / "tree")
    assert compare(root, sample=10_000) > 50


def test_many_symbols_of_a_real_package(tmp_path: Path) -> None:
    """The rooms of this package that deal with plans and with the repository: some thousand nodes."""
    for room in ("plan", "repo", "model"):
        shutil.copytree(
            ROOT / "morph_tasks" / room, tmp_path / "source" / room, ignore=shutil.ignore_patterns("__pycache__")
        )
    root = extract(tmp_path / "source", tmp_path / "tree")
    assert compare(root, sample=120) > 100


key = st.sampled_from([f"n{number}" for number in range(7)])
relation = st.sampled_from(
    ["calls", "references", "method", "contains", "inherits", "implements", "defines", "rationale_for"]
)
links = st.fixed_dictionaries(
    {"source": key, "target": key, "relation": relation},
    optional={"source_file": st.sampled_from(["a.py", "b.py"]), "source_location": st.sampled_from(["L2", "L3"])},
)
nodes = st.fixed_dictionaries({"id": key, "label": st.sampled_from(["A", "b()", ".b()", "B", "a.py"])}, optional={
    "source_file": st.sampled_from(["a.py", "x/a.py"]), "source_location": st.sampled_from(["L1", "L5"]),
})  # fmt: skip
graphs = st.fixed_dictionaries({
    "nodes": st.lists(nodes, max_size=7), "links": st.lists(links, max_size=16), "multigraph": st.booleans(),
})  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(graphs, st.integers(0, 3))
def test_any_graph(graph: dict[str, Any], depth: int) -> None:
    from graphify.affected import affected_nodes, load_graph
    from graphify.affected import resolve_seed as their_seed

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        read = load_graph(put(root, json.dumps(graph)))
        with open_index(root) as index:
            keys = dict(index.rows("SELECT id, key FROM node"))
            for query in [*read.nodes, "A", "a", "b", ".b()", "a.py", "./a.py", "x/a.py", "py"]:
                seed, mine = their_seed(read, query, root), resolve_seed(index, query, root)
                assert seed == (None if mine is None else keys[mine])
                if seed is not None and mine is not None:
                    found = [(hit.node_id, hit.depth) for hit in affected_nodes(read, seed, depth=depth)]
                    same = [(keys[hit.id], hit.depth) for hit in raw_affected(index, mine, depth=depth)]
                    assert sorted(same) == sorted(found)


def test_an_overridden_member_that_uses_the_type_twice_is_reported_once(tmp_path: Path) -> None:
    made = Raw()
    for owner in ("Base", "Sub"):
        made.type(owner, owner, "a.py")
        made.link(owner, "method", made.node(f"{owner}.go", ".go()", "a.py", 5), "a.py")
    made.link("Sub", "method", made.node("Sub.stop", ".stop()", "a.py", 7), "a.py")
    made.link("Sub", "inherits", "Base", "a.py")
    for member in ("Sub.go", "Sub.stop"):
        made.link("Base.go", "calls", member, "a.py")
    made.write(tmp_path)
    assert compare(tmp_path, sample=10) > 0
    with open_index(tmp_path) as index:
        seed = resolve_seed(index, "Sub", tmp_path)
        assert seed is not None
        assert [hit.label for hit in raw_affected(index, seed)] == [".go()"]


def test_only_the_relations_of_graphify_are_followed() -> None:
    from graphify.affected import DEFAULT_AFFECTED_RELATIONS

    from morph_tasks.codegraph.raw_affected import RELATIONS

    assert set(DEFAULT_AFFECTED_RELATIONS) == RELATIONS
    assert re.search("rationale_for", str(RELATIONS)) is None
