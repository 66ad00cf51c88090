"""Where the text names a symbol and the graph does not say why."""

from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.mentions import Mentions, mentions
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import HandMade
from tests.conftest import Project

GRAPH = "a.py:price"


def look(project: Project, key: str = GRAPH, graph: HandMade | None = None) -> Mentions:
    made = graph or HandMade()
    made.symbol("a.py:price", 1)
    made.write(project.root)
    with open_index(project.root) as index:
        return mentions(open_repo(project.root), index, index.find(key))


def places(found: Mentions) -> list[tuple[str, int]]:
    return [(one.path, one.line) for one in found.found or ()]


@pytest.fixture
def shop(project: Project) -> Project:
    project.write(".gitignore", "graphify-out/\nignored.txt\n")
    project.write("a.py", "def price(n):\n    return price(n - 1)\n\n\nlater = price\n")
    project.write("docs.md", "the price is right\nprices are not\nPrice neither\n")
    project.commit()
    return project


def test_whole_words_outside_of_the_symbol_itself(shop: Project) -> None:
    found = look(shop)
    assert places(found) == [("a.py", 5), ("docs.md", 1)]
    assert found.total == 2
    assert found.found and found.found[0].text == "later = price"
    assert found.lines()[0].startswith("2 lines with the word price")


def test_new_files_are_searched_and_ignored_ones_are_not(shop: Project) -> None:
    shop.write("new file.txt", "price\n")
    shop.write("ignored.txt", "price\n")
    assert ("new file.txt", 1) in places(look(shop))
    assert "ignored.txt" not in dict(places(look(shop)))


def test_what_an_edge_or_another_symbol_of_the_name_explains_is_left_out(shop: Project) -> None:
    shop.write("b.py", "def price():\n    pass\n\nprice()\n")
    shop.commit()
    graph = HandMade()
    graph.symbol("b.py:price", 1)
    graph.use("b.py:run", "b.py:price", line=4)
    assert "b.py" not in dict(places(look(shop, graph=graph)))


def test_a_file_is_searched_by_its_name_without_endings(shop: Project) -> None:
    shop.write("c.txt", "import a\n")
    assert ("c.txt", 1) in places(look(shop, "a.py"))
    assert "a.py" not in dict(places(look(shop, "a.py")))


def test_many_mentions_are_counted_and_the_first_are_told(shop: Project) -> None:
    shop.write("many.txt", "price\n" * 300)
    found = look(shop)
    assert found.total == 302
    assert len(found.found or ()) == 50
    assert found.lines()[-1] == "  … and 252 more"


def test_a_long_line_is_cut_and_control_signs_are_spelled(shop: Project) -> None:
    shop.write("long.txt", "price \x1b[31m" + "x" * 5000 + "\n")
    line = next(one for one in look(shop).lines() if "long.txt" in one)
    assert len(line) < 250
    assert "\x1b" not in line


def test_nothing_found_is_said(shop: Project) -> None:
    graph = HandMade()
    graph.symbol("a.py:zzz", 5)
    found = look(shop, "a.py:zzz", graph)
    assert (found.found, found.total) == ((), 0)
    assert found.lines() == ["no other line of the tree has the word zzz"]


def test_a_search_that_fails_is_no_empty_answer(shop: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = HandMade()
    made.symbol("a.py:price", 1)
    made.write(shop.root)
    repo = open_repo(shop.root)
    with open_index(shop.root) as index:
        monkeypatch.setenv("PATH", str(tmp_path))
        found = mentions(repo, index, index.find(GRAPH))
    assert found.found is None
    assert found.as_json() is None
    assert found.total is None
    assert "git" in (found.error or "")
    assert "not searched" in found.lines()[0]
