"""Which files are read, what is written, and what becomes of files that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.affected import affected
from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.recovered import decode, edges_of
from morph_tasks.codegraph.recovery import languages, service
from morph_tasks.errors import Refusal
from tests.codegraph.recovery.tree import edges, recovered, written

USED = {
    "lib.py": "class Box:\n    def open(self):\n        pass\n",
    "app.py": "from lib import Box\n\n\ndef run():\n    Box().open()\n",
}
TEXT = (
    "( ) { } [ ] < > . , ; : = => := @ * ?. ?? 1 'a' x Y Z class def func type struct interface namespace using import "
    "from export default new await async return for in of this self static public partial"
)
WORDS = [*TEXT.split(), "\n", "\n\n    "]
OPENED = ("app.py:run", "lib.py:Box.open")


def test_edges_are_written_with_their_site(tmp_path: Path) -> None:
    done = service.recover(written(tmp_path, USED))
    assert (done.files, done.failed) == (2, ())
    told = decode(layout.recovered_file(tmp_path).read_bytes())
    assert told is not None
    assert len(edges_of(told)) == done.edges
    assert (*OPENED, "calls", "app.py", 5) in edges_of(told)


def test_what_the_graph_joins_already_is_not_written_again(tmp_path: Path) -> None:
    written(tmp_path, USED)
    graph = json.loads(layout.graph_file(tmp_path).read_text())
    graph["links"] = [{"source": OPENED[0], "target": OPENED[1], "relation": "calls"}]
    layout.graph_file(tmp_path).write_text(json.dumps(graph))
    service.recover(tmp_path)
    assert OPENED not in edges(tmp_path)


def test_a_file_that_does_not_parse_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    done = service.recover(written(tmp_path, {**USED, "torn.py": "def (:\n"}))
    assert (done.files, done.failed) == (2, ("torn.py",))
    assert OPENED in edges(tmp_path)


def test_only_files_that_the_graph_knows_are_read(tmp_path: Path) -> None:
    written(tmp_path, USED)
    (tmp_path / "other.py").write_text("def (:\n")
    assert service.recover(tmp_path).failed == ()


def test_what_machines_write_is_not_read(tmp_path: Path) -> None:
    lines = {"min.js": "function f(){};" * 2_000, "big.py": "x = 1\n" * 200_000}
    assert service.recover(written(tmp_path, {**USED, **lines})).files == 2


def test_a_path_that_leads_out_of_the_tree_is_not_opened(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    written(root, USED)
    outside = tmp_path / "outside.py"
    outside.write_text("def (:\n")
    (root / "link.py").symlink_to(outside)
    graph = json.loads(layout.graph_file(root).read_text())
    for path in ("../outside.py", str(outside), "link.py", "nul\0.py", "gone.py"):
        graph["nodes"].append({"id": path, "label": Path(path).name, "source_file": path, "source_location": "L1"})
    layout.graph_file(root).write_text(json.dumps(graph))
    done = service.recover(root)
    assert (done.files, done.failed) == (2, ())


def test_without_a_graph_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        service.recover(tmp_path)
    assert not layout.recovered_file(tmp_path).exists()


def test_a_broken_graph_is_refused(tmp_path: Path) -> None:
    written(tmp_path, USED)
    layout.graph_file(tmp_path).write_text("{")
    with pytest.raises(Refusal) as refused:
        service.recover(tmp_path)
    assert refused.value.code == "corrupt-graph"


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    recovered(tmp_path, USED)
    before = layout.recovered_file(tmp_path).read_bytes()
    service.recover(tmp_path)
    assert layout.recovered_file(tmp_path).read_bytes() == before


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.cs"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), max_size=60))
def test_a_reader_returns_or_says_that_the_file_does_not_parse(path: str, words: list[str]) -> None:
    """Whatever stands in a file, no other error gets out of a reader."""
    reader = languages.reader(path)
    assert reader
    try:
        facts = reader(path, " ".join(words).encode())
    except (SyntaxError, ValueError, RecursionError):
        return
    assert facts.scopes
    assert all(0 <= use.scope < len(facts.scopes) for use in facts.uses)


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.go", "a.cs"])
def test_expressions_that_run_too_deep_do_not_end_the_pass(path: str, tmp_path: Path) -> None:
    opening = {"a.py": "x = ", "a.ts": "const x = ", "a.go": "package a\nvar x = ", "a.cs": "class A { int x = "}[path]
    files = {**USED, path: opening + "f(" * 3_000 + ")" * 3_000}
    assert service.recover(written(tmp_path, files)).files >= 2
    assert OPENED in edges(tmp_path)


BUILDING = {
    "lib.py": "class Box:\n    def __init__(self):\n        pass\n\n\nclass Case(Box):\n    pass\n",
    "app.py": "from lib import Box, Case\n\n\ndef one():\n    Box()\n\n\ndef two():\n    return Case()\n\n\n"
    "def three(box: Box):\n    return box\n",
}


def test_who_calls_a_type_is_kept_once_and_answers_for_its_constructor(tmp_path: Path) -> None:
    """Also for the one that a subclass inherits; who only names the type does not run it."""
    found = recovered(tmp_path, BUILDING)
    assert "lib.py:Box.__init__" not in {target for _, target in found}
    with open_index(tmp_path) as index:
        (built,) = index.find("lib.py:Box.__init__")
        callers = {index.symbol(edge.source).name: edge for edge in index.into([built.id]) if edge.relation == "calls"}
        assert {name: (edge.file, edge.line) for name, edge in callers.items()} == {
            "one": ("app.py", 5),
            "two": ("app.py", 9),
        }
        (one,) = index.find("app.py:one")
        assert built.id in {edge.target for edge in index.out_of([one.id])}
        assert {hit.symbol.name for hit in affected(index, [built], depth=1)} == {"one", "two"}


def test_a_constructor_whose_type_the_graph_does_not_call_has_an_edge_of_its_own(tmp_path: Path) -> None:
    """The pair is known as a reference, which would hide the call."""
    written(tmp_path, BUILDING)
    graph = json.loads(layout.graph_file(tmp_path).read_text())
    graph["links"] = [{"source": "app.py:one", "target": "lib.py:Box", "relation": "references"}]
    layout.graph_file(tmp_path).write_text(json.dumps(graph))
    service.recover(tmp_path)
    assert edges(tmp_path)["app.py:one", "lib.py:Box.__init__"] == "calls"


def test_what_is_named_first_and_called_below_is_called(tmp_path: Path) -> None:
    app = "from lib import Box\n\n\ndef one(box: Box):\n    return Box()\n"
    assert recovered(tmp_path, {**BUILDING, "app.py": app})["app.py:one", "lib.py:Box"] == "calls"


def test_an_inherited_field_is_a_use_of_its_receiver_alone(tmp_path: Path) -> None:
    """That the receiver has it from a base the graph knows by `inherits`."""
    lib = "class Box:\n    def __init__(self):\n        self.size = 1\n\n\nclass Case(Box):\n    pass\n"
    app = "from lib import Box, Case\n\n\ndef one(case: Case):\n    return case.size\n"
    found = recovered(tmp_path, {"lib.py": lib, "app.py": app})
    assert ("app.py:one", "lib.py:Case") in found
    assert ("app.py:one", "lib.py:Box") not in found
