"""Where the text names a symbol and the graph does not say why."""

from pathlib import Path

import pytest

from morph_tasks.codegraph.answer import Answer, Asked
from morph_tasks.codegraph.asking import Tree, about
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
    assert found.lines()[-1] == "  … and 252 more; affected --mentions lists them"


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
    assert found.lines() == ["no line outside of it has the word zzz"]


def ask(
    project: Project, graph: HandMade, *keys: str, depth: int = 1, prod: bool = False, every: bool = False
) -> Answer:
    """Ask a graph for symbols together, as a change does."""
    graph.write(project.root)
    repo = open_repo(project.root)
    with open_index(project.root) as index:
        seeds = [index.find(key)[0] for key in keys]
        return about(Tree.of(repo), index, seeds, Asked(depth, prod, mentions=every))


def told(answer: Answer) -> list[tuple[str, int]]:
    assert isinstance(answer.mentions, Mentions)
    return places(answer.mentions)


def test_a_consumer_does_not_hide_the_lines_that_no_edge_explains(shop: Project) -> None:
    shop.write("b.py", "from a import price\n\n\ndef one():\n    price(1)\n\n\ndef two(x):\n    x.price()\n")
    graph = HandMade()
    graph.symbol("a.py:price", 1)
    graph.use("b.py:one", "a.py:price", line=5)
    answer = ask(shop, graph, GRAPH)
    assert len(answer.hits) == 1
    assert told(answer) == [("a.py", 5), ("b.py", 1), ("b.py", 9), ("docs.md", 1)]
    assert answer.as_json()["mentionsInCode"] == 3
    assert "and 4 lines with the word price that the graph does not explain (3 in code):" in answer.lines()
    assert "  b.py:9: x.price()" in answer.lines()
    assert "  … and 1 more; affected --mentions lists them" in answer.lines()
    assert any("docs.md:1" in line for line in ask(shop, graph, GRAPH, every=True).lines())


def test_what_is_in_one_definition_with_an_edge_is_explained(shop: Project) -> None:
    shop.write(
        "b.py",
        "from a import (\n    price,\n)\n\n\ndef one():\n    price(1)\n    price(2)\n\n\ndef two(x):\n    x.price()\n",
    )
    graph = HandMade()
    graph.use("b.py", "a.py:price", "imports", 1)
    graph.use("b.py:one", "a.py:price", line=7)
    assert [one for one in told(ask(shop, graph, GRAPH)) if one[0] == "b.py"] == [("b.py", 12)]


def test_every_line_explained_is_said_so_and_not_as_no_line(shop: Project) -> None:
    (shop.root / "docs.md").unlink()
    shop.write("a.py", "def price(n):\n    return n\n")
    shop.write("b.py", "def one():\n    price(1)\n")
    graph = HandMade()
    graph.use("b.py:one", "a.py:price", line=2)
    assert "the graph explains every line with the word price" in ask(shop, graph, GRAPH).lines()


def test_lines_that_the_graph_gives_to_another_symbol_are_counted_with_its_name(project: Project) -> None:
    project.write(
        "mail.py", "class Mailer:\n    def send(self): ...\n\n\nclass Smtp:\n    def send(self):\n        return 1\n"
    )
    project.write("use.py", "def run(mailer: Mailer):\n    mailer.send()\n")
    project.commit()
    graph = HandMade()
    graph.symbol("mail.py:Mailer", 1)
    graph.symbol("mail.py:Mailer.send", 2)
    graph.symbol("mail.py:Smtp", 5)
    graph.symbol("mail.py:Smtp.send", 6)
    graph.use("use.py:run", "mail.py:Mailer.send", line=2)
    answer = ask(project, graph, "Smtp.send")
    assert (answer.hits, told(answer)) == ([], [])
    said = "1 line has the word send; the graph gives it to another symbol: 1 to Mailer.send() (mail.py:2)"
    assert said in answer.lines()
    assert not any("no line" in line for line in answer.lines())
    assert [(one["name"], one["lines"]) for one in answer.as_json()["mentionsElsewhere"]] == [("Mailer.send()", 1)]


def test_a_decorator_above_a_symbol_is_not_inside_of_it_but_its_setter_is(project: Project) -> None:
    project.write("a.py", '@handler("quote")\ndef quote():\n    quote()\n')
    project.write(
        "b.py", "class B:\n    @property\n    def rate(self): ...\n\n    @rate.setter\n    def rate(self, x): ...\n"
    )
    project.commit()
    graph = HandMade()
    graph.symbol("a.py:quote", 2)
    graph.symbol("b.py:B", 1)
    graph.symbol("b.py:B.rate", 3)
    assert told(ask(project, graph, "quote")) == [("a.py", 1)]
    assert ("b.py", 5) not in told(ask(project, graph, "B.rate"))


def test_each_changed_symbol_without_a_consumer_keeps_its_lines(shop: Project) -> None:
    shop.write("b.py", "def gone():\n    pass\n")
    shop.write("c.py", "def run(x):\n    x.gone()\n\n\ndef other():\n    price()\n")
    graph = HandMade()
    graph.symbol("b.py:gone", 1)
    graph.use("c.py:other", "a.py:price", line=6)
    answer = ask(shop, graph, "gone", "price")
    assert len(answer.hits) == 1
    assert ("c.py", 2) in told(answer)
    at = answer.lines().index("1 line with the word gone that the graph does not explain:")
    assert answer.lines()[at + 1] == "  c.py:2: x.gone()"


def test_a_type_is_searched_by_the_names_of_its_members_too(project: Project) -> None:
    project.write("tax.cs", "static class Rounding {\n  static decimal Round2(this decimal x) => x;\n}\n")
    project.write("use.cs", "class Use {\n  decimal A() { var t = B(); return t.Round2(); }\n}\n")
    project.commit()
    graph = HandMade()
    graph.symbol("tax.cs:Rounding", 1)
    graph.symbol("tax.cs:Rounding.Round2", 2)
    answer = ask(project, graph, "Rounding")
    assert told(answer) == [("use.cs", 2)]
    assert "1 line with the word Round2 that the graph does not explain:" in answer.lines()


def test_the_receivers_of_a_type_are_the_type_itself(project: Project) -> None:
    project.write(
        "disk.go",
        "package store\n\ntype Disk struct{}\n\nfunc (d *Disk) Save() {\n\tvar e Disk\n\t_ = e\n}\n\n"
        "func Other() {\n\tvar e Disk\n\t_ = e\n}\n",
    )
    project.commit()
    graph = HandMade()
    graph.symbol("disk.go:Disk", 3)
    graph.symbol("disk.go:Disk.Save", 5)
    assert told(ask(project, graph, "Disk")) == [("disk.go", 11)]


def test_code_comes_first_then_tests_then_prose_and_prod_leaves_tests_out(shop: Project) -> None:
    shop.write("aa.po", "price\n")
    shop.write("tests/test_b.py", "x = price\n")
    shop.write("z.py", "x = price\n")
    shop.write("b.py", "price()\n")
    graph = HandMade()
    graph.symbol("a.py:price", 1)
    assert [path for path, _ in told(ask(shop, graph, GRAPH))] == [
        "a.py", "b.py", "z.py", "tests/test_b.py", "aa.po", "docs.md",
    ]  # fmt: skip
    answer = ask(shop, graph, GRAPH, prod=True)
    assert "tests/test_b.py" not in dict(told(answer))
    assert "1 line of test code left out by --prod" in answer.lines()
    assert answer.as_json()["mentionsInTestsLeftOut"] == 1


def test_beside_very_many_consumers_the_text_is_not_compared_and_that_is_said(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morph_tasks.codegraph.asking.FEW", 1)
    shop.write("b.py", "def gone():\n    pass\n")
    shop.write("c.py", "x.gone()\n")
    graph = HandMade()
    graph.symbol("b.py:gone", 1)
    graph.use("d.py:one", "a.py:price", line=1)
    graph.use("d.py:two", "a.py:price", line=2)
    answer = ask(shop, graph, GRAPH)
    assert answer.as_json()["mentions"] is None
    assert "--mentions" in answer.as_json()["mentionsError"]
    assert "the text was not compared beside 2 symbols; affected --mentions compares it" in answer.lines()
    assert told(ask(shop, graph, GRAPH, every=True))
    assert told(ask(shop, graph, GRAPH, "gone")) == [("c.py", 1)]
    assert any("the text was not compared" in line for line in ask(shop, graph, GRAPH, "gone").lines())


@pytest.mark.parametrize("ruled", [True, False])
def test_tests_of_dotnet_that_the_rules_leave_out_are_unknown_and_not_none(project: Project, ruled: bool) -> None:
    project.write(".graphifyignore", "**/*.Tests/**\n" if ruled else "# none\n")
    project.write("Bill.cs", "class Bill { }\n")
    project.write("Shop.Tests/BillTests.cs", "class BillTests { Bill b; }\n")
    project.commit()
    graph = HandMade()
    graph.use("Use.cs:Use", "Bill.cs:Bill", "references", 1)
    answer = ask(project, graph, "Bill")
    said = answer.as_json()
    assert (said["counts"]["test"], said["testsNotInGraph"]) == ((None, True) if ruled else (0, False))
    summary = next(answer.summary())
    assert ("test projects of .NET are not in the graph" in summary) == ruled
    assert ("0 in test code" in summary) != ruled
    assert told(answer) == [("Shop.Tests/BillTests.cs", 1)]
    assert "  Shop.Tests/BillTests.cs:1: class BillTests { Bill b; }  (file not in the graph)" in answer.lines()


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


def test_names_of_members_are_counted_beside_consumers_the_rarest_first(project: Project) -> None:
    project.write("a.py", "class Box:\n    def put(self): ...\n\n    def rare(self): ...\n")
    project.write("b.py", "Box().put()\nx.rare()\n" + "x.put()\n" * 5)
    project.commit()
    graph = HandMade()
    graph.symbol("a.py:Box", 1)
    graph.symbol("a.py:Box.put", 2)
    graph.symbol("a.py:Box.rare", 4)
    graph.use("c.py:run", "a.py:Box", line=1)
    answer = ask(project, graph, "Box")
    assert answer.as_json()["mentionsByWord"] == {"Box": 1, "rare": 1, "put": 6}
    said = "and 6 lines with names of its members that the graph does not explain: rare 1, put 5; affected --mentions"
    assert f"{said} lists them" in answer.lines()
    assert told(answer) == [("b.py", line) for line in range(1, 8)]
    assert "  b.py:2: x.rare()  (file not in the graph)" in ask(project, graph, "Box", every=True).lines()
    project.write("b.py", "Box().put()\nx.rare()\n")
    lines = ask(project, graph, "Box").lines()
    assert "  b.py:2: x.rare()  (file not in the graph)" in lines
    assert sum("b.py:1" in line for line in lines) == 1


def test_one_place_that_uses_two_changed_symbols_is_a_consumer_of_both(shop: Project) -> None:
    shop.write("b.py", "def cost():\n    pass\n")
    graph = HandMade()
    graph.symbol("b.py:cost", 1)
    graph.use("c.py:run", "a.py:price", line=1)
    graph.use("c.py:run", "b.py:cost", line=1)
    found = ask(shop, graph, GRAPH, "cost").mentions
    assert isinstance(found, Mentions)
    assert (found.unused.words, found.used.words) == ((), ("cost", "price"))


def test_an_import_of_another_symbol_over_several_lines_is_that_ones(shop: Project) -> None:
    shop.write("b.py", "def price():\n    pass\n")
    shop.write("c.py", "from b import (\n    price,\n)\n\nx.price()\n")
    graph = HandMade()
    graph.symbol("a.py:price", 1)
    graph.use("c.py", "b.py:price", "imports", 1)
    assert [one for one in told(ask(shop, graph, GRAPH)) if one[0] == "c.py"] == [("c.py", 5)]


def test_names_that_are_called_by_a_sign_are_no_words(project: Project) -> None:
    project.write("a.py", "class Box:\n    def __len__(self): ...\n")
    project.write("b.py", "class Other:\n    def __len__(self): ...\n")
    project.commit()
    graph = HandMade()
    graph.symbol("a.py:Box", 1)
    graph.symbol("a.py:Box.__len__", 2)
    found = ask(project, graph, "Box").mentions
    assert isinstance(found, Mentions)
    assert (found.names, found.total) == (("Box",), 0)


def test_a_module_that_is_imported_by_its_folder_is_searched_by_that_name(project: Project) -> None:
    project.write("stock/__init__.py", "x = 1\n")
    project.write("b.txt", "import stock\n__init__\n")
    project.commit()
    graph = HandMade()
    graph.symbol("stock/__init__.py")
    assert told(ask(project, graph, "stock/__init__.py")) == [("b.txt", 1)]


def test_who_calls_what_a_method_overrides_is_in_the_answer_and_no_mention(project: Project) -> None:
    project.write(
        "a.py", "class Base:\n    def run(self): ...\n\n\nclass Sub(Base):\n    def run(self):\n        return 1\n"
    )
    project.write("b.py", "def go(x: Base):\n    x.run()\n    y = x.run\n")
    project.commit()
    graph = HandMade()
    for name, line in (("Base", 1), ("Base.run", 2), ("Sub", 5), ("Sub.run", 6)):
        graph.symbol(f"a.py:{name}", line)
    graph.use("a.py:Sub", "a.py:Base", "inherits", 5)
    graph.use("b.py:go", "a.py:Base.run", line=2)
    answer = ask(project, graph, "Sub.run")
    assert [one.symbol.name for one in answer.hits] == ["go"]
    assert "the graph explains every line with the word run" in answer.lines()
