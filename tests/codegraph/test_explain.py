"""The neighbourhood of a symbol, both ways."""

from pathlib import Path

import pytest

from morph_tasks.codegraph.ask import shown
from morph_tasks.codegraph.asking import Tree
from morph_tasks.codegraph.explain import Explained, explain
from morph_tasks.codegraph.index import open_index
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import HandMade
from tests.conftest import Project


def look(project: Project, made: HandMade, text: str) -> Explained:
    made.write(project.root)
    with open_index(project.root) as index:
        return explain(Tree.of(open_repo(project.root)), index, text)


def made() -> HandMade:
    graph = HandMade()
    graph.symbol("a.py:Cart.total", 3)
    graph.symbol("a.py:Cart.add", 6)
    graph.use("a.py:Cart.total", "a.py:Cart.add", line=4)
    graph.use("a.py:Cart.total", "p.py:price", line=5)
    graph.use("a.py:Cart", "b.py:Base", "inherits", 2)
    graph.use("w.py:page", "a.py:Cart.total", line=8)
    graph.use("w.py", "a.py:Cart", "imports", 1)
    graph.use("tests/test_a.py:test_total", "a.py:Cart.total", line=9)
    return graph


def test_who_uses_it_and_what_it_uses_with_places_members_and_tests(project: Project) -> None:
    found = look(project, made(), "Cart")
    assert [(one.symbol.key, one.edge.relation, one.edge.line, one.symbol.test) for one in found.used_by] == [
        ("w.py:page", "calls", 8, False),
        ("w.py", "imports", 1, False),
        ("tests/test_a.py:test_total", "calls", 9, True),
    ]
    assert [one.member and one.member.name for one in found.used_by] == ["total", None, "total"]
    assert [(one.symbol.key, one.edge.relation) for one in found.uses] == [
        ("p.py:price", "calls"), ("b.py:Base", "inherits"),
    ]  # fmt: skip
    assert [one.name for one in found.members] == ["total", "add"]
    assert found.inside and found.inside.key == "a.py"
    assert found.mentions and found.mentions.total == 0


def test_a_member_has_its_siblings_as_neighbours(project: Project) -> None:
    found = look(project, made(), "Cart.total")
    assert [one.symbol.key for one in found.uses] == ["a.py:Cart.add", "p.py:price"]
    assert found.inside and found.inside.key == "a.py:Cart"
    assert found.as_json()["usedBy"][0]["site"] == {"path": "w.py", "line": 8}


def test_what_nobody_uses_is_looked_for_in_the_text(project: Project) -> None:
    project.write("notes.txt", "the page is here\n")
    found = look(project, made(), "page")
    assert found.used_by == []
    assert found.mentions and [(one.path, one.line) for one in found.mentions.found or ()] == [("notes.txt", 1)]
    assert "nothing in the graph uses it" in found.lines()


def test_several_of_the_name_are_refused_with_the_command_that_was_typed(project: Project) -> None:
    graph = made()
    graph.symbol("z.py:Cart", 1)
    with pytest.raises(Refusal) as caught:
        look(project, graph, "Cart")
    assert caught.value.fix.startswith("morph-spec graph explain ")


def test_the_picture_has_both_sides_and_a_symbol_on_both_stands_twice(project: Project) -> None:
    graph = made()
    graph.use("p.py:price", "a.py:Cart.add", line=2)
    picture = look(project, graph, "Cart").picture()
    assert sorted(box.band for box in picture.boxes if box.name == "price()") == [-1, 1]
    known = {box.id for box in picture.boxes}
    assert all({arrow.source, arrow.target} <= known for arrow in picture.arrows)
    assert len(known) == len(picture.boxes)
    assert picture.bands == {-1: "uses it", 0: "asked for", 1: "it uses"}


def test_labels_cannot_write_to_the_terminal(project: Project, tmp_path: Path) -> None:
    graph = made()
    graph.nodes["w.py:page"]["label"] = "pa\x1b[2Jge()"
    graph.use("w.py:page", "a.py:Cart", "calls\x1b[31m", 8)
    graph.nodes["w.py:page"]["source_file"] = "w\n.py"
    assert not any("\x1b" in line or "\n" in line for line in look(project, graph, "Cart").lines())


def test_a_property_is_held_by_its_type_and_has_its_name(project: Project) -> None:
    graph = HandMade()
    graph.symbol("a.cs:Bill.Tax", 6)
    graph.prop("a.cs:Bill.Amount", 4)
    graph.use("a.cs:Bill.Tax", "a.cs:Bill.Amount", line=6)
    graph.links.append({
        "source": "p.cs:Page", "target": "a.cs:Bill.Amount", "relation": "references", "source_file": "p.cs",
        "source_location": "L9",
    })  # fmt: skip
    graph.symbol("p.cs:Page", 1)
    found = look(project, graph, "Bill")
    assert [shown(one) for one in found.members] == ["Bill.Amount", "Bill.Tax()"]
    assert found.uses == []
    assert [(one.symbol.name, one.member and one.member.name) for one in found.used_by] == [("Page", "Amount")]
    found = look(project, graph, "Bill.Amount")
    assert [one.symbol.name for one in found.used_by] == ["Tax", "Page"]
    assert found.inside and found.inside.name == "Bill"
    assert found.lines()[0].startswith("Bill.Amount  other  a.cs:4")


def test_a_type_in_parts_says_where_each_part_is(project: Project) -> None:
    graph = HandMade()
    graph.symbol("a.cs:Bill", 3)
    graph.symbol("b.cs", 1)
    part = {"source": "b.cs", "target": "a.cs:Bill", "relation": "contains", "source_file": "b.cs"}
    graph.links.append({**part, "source_location": "L5"})
    found = look(project, graph, "Bill")
    assert found.lines()[1] == "declared in 2 parts: a.cs:3, b.cs:5"
    assert found.as_json()["parts"] == [{"path": "a.cs", "line": 3}, {"path": "b.cs", "line": 5}]
    graph.links.pop()
    assert look(project, graph, "Bill").as_json()["parts"] == []


def test_a_long_name_does_not_move_the_columns(project: Project) -> None:
    graph = made()
    long = "w.py:a_name_that_is_much_longer_than_all_of_the_others_together"
    graph.use(long, "a.py:Cart.total", line=12)
    lines = look(project, graph, "Cart.total").lines()
    at = lines.index(f"  {long.partition(':')[2]}()")
    assert lines[at + 1].split() == ["calls", "w.py:12"]
    columns = {line.index("calls") for line in lines if " calls " in line and "w.py" in line}
    assert columns == {lines[at + 1].index("calls")}
