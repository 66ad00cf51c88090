"""Which symbols a change touches: both sides, all kinds of files, and nothing dropped."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.diff import Changed, _different, _side, changed_symbols
from morph_tasks.codegraph.index import open_index
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import HandMade
from tests.conftest import Project

CART = """\
import os

RATE = 2


class Cart:
    size = 1

    def total(self):
        return 1

    def add(self, line):
        return line


def price(n):
    return n


def other(n):
    return n
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A committed file, and a graph of it."""
    project.write("src/cart.py", CART)
    project.write("docs/guide.md", "# guide\n")
    project.write(".gitignore", "graphify-out/\n")
    project.commit("code")
    graph = HandMade()
    for name, line in (("Cart.total", 9), ("Cart.add", 12), ("price", 16), ("other", 20)):
        graph.symbol(f"src/cart.py:{name}", line)
    graph.write(project.root)
    return project


def changed(project: Project, base: str | None = None) -> Changed:
    with open_index(project.root) as index:
        return changed_symbols(open_repo(project.root), index, base)


def touched(project: Project, base: str | None = None) -> list[str]:
    return [one.key.removeprefix("src/cart.py:") for one in changed(project, base).symbols]


def edit(project: Project, old: str, new: str) -> None:
    source = (project.root / "src/cart.py").read_text()
    assert old in source
    project.write("src/cart.py", source.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("return 1", "return 2", ["Cart.total"]),
        ("size = 1", "size = 3", ["Cart"]),
        ("def price(n)", "def price(n, m=1)", ["price"]),
        ("def price(n):", "@cached\ndef price(n):", ["price"]),
        ("def price(n):\n    return n\n\n\n", "", ["price"]),
        ("def price(n)", "def cost(n)", ["price"]),
        ("RATE = 2", "RATE = 3", ["src/cart.py"]),
        ("import os\n", "", ["src/cart.py"]),
        ("import os\n", "import os\nimport sys\n", []),
        ("RATE = 2\n", "RATE = 2\n# said\n\n", []),
        ("def price(n):\n    return n\n\n\ndef other(n):\n    return n\n",
         "def other(n):\n    return n\n\n\ndef price(n):\n    return n\n", []),
    ],
)  # fmt: skip
def test_the_symbols_of_an_edit(shop: Project, old: str, new: str, symbols: list[str]) -> None:
    edit(shop, old, new)
    assert touched(shop) == symbols


def test_a_file_that_counts_by_its_outside_counts_alone(shop: Project) -> None:
    edit(shop, "RATE = 2", "RATE = 3")
    found = changed(shop)
    assert found.alone == {found.symbols[0].id}
    edit(shop, "RATE = 3", "RATE = 2")
    (shop.root / "src/cart.py").unlink()
    assert "src/cart.py" in [one.key for one in changed(shop).symbols]


def test_staged_and_unstaged_count_together(shop: Project) -> None:
    edit(shop, "return 1", "return 2")
    shop.git("add", "-A")
    edit(shop, "return line", "return [line]")
    assert touched(shop) == ["Cart.total", "Cart.add"]
    shop.commit()
    assert touched(shop) == []


def test_a_deleted_file_counts_through_its_old_side(shop: Project) -> None:
    shop.git("rm", "-q", "src/cart.py")
    assert touched(shop) == ["src/cart.py", "Cart", "Cart.total", "Cart.add", "price", "other"]


def test_a_moved_file_counts_where_it_was(shop: Project) -> None:
    shop.git("mv", "src/cart.py", "src/basket.py")
    found = changed(shop)
    assert len(found.symbols) == 6
    assert [(one.path, one.reason) for one in found.unmatched] == [("src/basket.py", "new")]


def test_nothing_that_changed_is_dropped(shop: Project) -> None:
    edit(shop, "def other(n)", "def fresh():\n    return 1\n\n\ndef other(n)")
    shop.write("docs/guide.md", "# other\n")
    shop.write("src/new file.py", "def neu(): ...\n")
    shop.write("src/broken.ts", "class {{{{ ((( function")
    (shop.root / "link.py").symlink_to("src/cart.py")
    found = changed(shop)
    assert {(one.path, one.name, one.reason) for one in found.unmatched} == {
        ("src/cart.py", "fresh", "new"),
        ("docs/guide.md", None, "not-in-graph"),
        ("src/new file.py", None, "new"),
        ("src/broken.ts", None, "new"),
        ("link.py", None, "no-source"),
    }
    assert found.symbols == ()
    assert set(found.files) == {"src/cart.py", "docs/guide.md", "src/new file.py", "src/broken.ts", "link.py"}
    assert found.as_json()["unmatched"][0].keys() == {"path", "name", "line", "reason"}


def test_a_file_that_no_longer_parses_counts_whole(shop: Project) -> None:
    edit(shop, "def price(n):", "def price(n:")
    found = changed(shop)
    assert [one.key for one in found.symbols] == ["src/cart.py"]
    assert found.alone == frozenset()
    assert [one.reason for one in found.unmatched] == ["not-parsed"]


def test_a_change_that_only_moves_comments_is_named(shop: Project) -> None:
    edit(shop, "RATE = 2\n", "RATE = 2\n# said\n")
    assert [one.reason for one in changed(shop).unmatched] == ["no-code"]


def test_a_member_that_the_graph_lacks_counts_as_its_type(shop: Project) -> None:
    edit(shop, "    def add(self", "    def sum(self):\n        return 1\n\n    def add(self")
    shop.commit()
    edit(shop, "def sum(self):\n        return 1", "def sum(self):\n        return 2")
    found = changed(shop)
    assert [one.key for one in found.symbols] == ["src/cart.py:Cart"]
    assert [(one.name, one.reason) for one in found.unmatched] == [("Cart.sum", "not-in-graph")]


def test_a_commit_and_a_range(shop: Project) -> None:
    edit(shop, "return 1", "return 2")
    shop.commit("one")
    edit(shop, "return line", "return [line]")
    shop.commit("two")
    edit(shop, "def other(n)", "def other(n, m=1)")
    assert touched(shop, "HEAD~2") == ["Cart.total", "Cart.add", "other"]
    assert touched(shop, "HEAD~2..HEAD~1") == ["Cart.total"]
    assert touched(shop, "HEAD~1..") == ["Cart.add"]
    assert touched(shop, "HEAD") == touched(shop) == ["other"]


def test_three_dots_look_from_where_the_branch_left(shop: Project) -> None:
    shop.git("checkout", "-q", "-b", "side")
    edit(shop, "return 1", "return 2")
    shop.commit("side")
    shop.git("checkout", "-q", "main")
    edit(shop, "return line", "return [line]")
    shop.commit("main")
    assert touched(shop, "main...side") == ["Cart.total"]
    assert touched(shop, "main..side") == ["Cart.total", "Cart.add"]


@pytest.mark.parametrize("base", ["nope", "HEAD..nope", "--all", "-x", "HEAD:src/cart.py", ""])
def test_what_names_no_commit_is_refused(shop: Project, base: str) -> None:
    if base == "":
        base = "\n"
    with pytest.raises(Refusal) as caught:
        changed(shop, base)
    assert caught.value.code == "unknown-commit"


def test_histories_without_a_common_commit_are_refused(shop: Project) -> None:
    shop.git("checkout", "-q", "--orphan", "other")
    shop.commit("alone")
    with pytest.raises(Refusal) as caught:
        changed(shop, "main...other")
    assert caught.value.code == "unknown-commit"


def test_a_repository_without_a_commit_has_new_files(tmp_path: Path) -> None:
    made = Project(tmp_path / "new")
    made.root.mkdir()
    made.git("init", "-q")
    made.write("src/cart.py", CART)
    graph = HandMade()
    graph.symbol("src/cart.py:price", 16)
    graph.write(made.root)
    assert touched(made) == ["src/cart.py", "price"]


def test_names_that_git_quotes_and_line_ends_that_it_changes(shop: Project) -> None:
    name = 'src/ü "a"\tb\n.py'
    shop.write(name, "def odd(): ...\n")
    shop.git("config", "core.autocrlf", "input")
    (shop.root / "src/cart.py").write_bytes(CART.replace("\n", "\r\n").encode())
    found = changed(shop)
    assert found.symbols == ()
    assert (name, "new") in {(one.path, one.reason) for one in found.unmatched}
    assert "\n  src" not in "\n".join(found.lines()[1:]).replace(found.lines()[1], "")
    assert "\\t" in "\n".join(found.lines())


def test_of_overloads_the_one_that_changed_counts(shop: Project) -> None:
    source = "class A\n{\n    int Add(int a) => 1;\n    int Add(string b) => 2;\n}\n"
    shop.write("src/a.cs", source)
    shop.commit()
    graph = HandMade()
    graph.symbol("src/a.cs:A.Add", 3)
    graph.nodes["second"] = {**graph.nodes["src/a.cs:A.Add"], "id": "second", "source_location": "L4"}
    graph.links.append({"source": "src/a.cs:A", "target": "second", "relation": "method"})
    graph.write(shop.root)
    shop.write("src/a.cs", source.replace("=> 2", "=> 3"))
    assert [one.key for one in changed(shop).symbols] == ["second"]


def test_a_type_and_a_function_of_one_name_are_two(shop: Project) -> None:
    source = "interface Cart { sum: number }\nfunction Cart() { return 1 }\n"
    shop.write("src/a.ts", source)
    shop.commit()
    graph = HandMade()
    graph.symbol("src/a.ts:Cart", 7)  # the graph is of another commit: its lines do not tell
    graph.nodes["call"] = {**graph.nodes["src/a.ts:Cart"], "id": "call", "label": "Cart()", "_callable_class": False}
    graph.links.append({"source": "src/a.ts", "target": "call", "relation": "contains"})
    graph.write(shop.root)
    shop.write("src/a.ts", source.replace("return 1", "return 2"))
    assert [one.key for one in changed(shop).symbols] == ["call"]


def test_a_change_of_mode_alone_is_no_change_of_code(shop: Project) -> None:
    (shop.root / "src/cart.py").chmod(0o755)
    assert changed(shop).files == ()


def test_a_file_in_conflict_counts_whole(shop: Project) -> None:
    shop.git("checkout", "-q", "-b", "side")
    edit(shop, "return 1", "return 2")
    shop.commit("side")
    shop.git("checkout", "-q", "main")
    edit(shop, "return 1", "return 3")
    shop.commit("main")
    subprocess.run(["git", "merge", "-q", "side"], cwd=shop.root, capture_output=True, check=False)
    found = changed(shop)
    assert [(one.path, one.reason) for one in found.unmatched] == [("src/cart.py", "not-parsed")]
    assert [one.key for one in found.symbols] == ["src/cart.py"]


def test_a_link_in_the_place_of_a_file_counts_as_all_that_the_file_had(shop: Project) -> None:
    (shop.root / "src/cart.py").unlink()
    (shop.root / "src/cart.py").symlink_to("/etc/passwd")
    found = changed(shop)
    assert [(one.path, one.reason) for one in found.unmatched] == [("src/cart.py", "no-source")]
    assert {one.key for one in found.symbols} == {"src/cart.py"}


def test_a_submodule_is_named_and_not_looked_into(shop: Project, tmp_path: Path) -> None:
    inner = Project(tmp_path / "inner")
    inner.root.mkdir()
    inner.git("init", "-q")
    inner.write("a.py", "x = 1\n")
    inner.commit()
    subprocess.run(["git", "submodule", "add", "-q", str(inner.root), "part.py"], cwd=shop.root, check=True)
    found = changed(shop)
    assert ("part.py", "no-source") in {(one.path, one.reason) for one in found.unmatched}


def test_git_is_asked_a_few_times_however_many_files_there_are(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.repo.git import Repo

    asked: list[tuple[str, ...]] = []
    real = Repo.run
    monkeypatch.setattr(Repo, "run", lambda self, *args, **more: (asked.append(args), real(self, *args, **more))[1])
    for number in range(30):
        shop.write(f"src/m{number}.py", "def a(): ...\n")
    shop.commit()
    for number in range(30):
        shop.write(f"src/m{number}.py", "def a(): return 1\n")
    assert len(changed(shop).unmatched) == 30
    assert len(asked) <= 4


BODIES = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "2"])), max_size=5)


def source(parts: list[tuple[str, str]]) -> bytes:
    return "".join(f"def {name}():\n    return {value}\n\n\n" for name, value in parts).encode()


@settings(max_examples=60, deadline=None)
@given(BODIES, BODIES)
def test_a_definition_differs_unless_the_other_side_has_its_equal(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    before, after = _side("a.py", source(old)), _side("a.py", source(new))
    assert before and after
    found = {one.name for one, _ in _different(before, after)}
    assert found == {
        name for name in "abcd" if sorted(v for n, v in old if n == name) != sorted(v for n, v in new if n == name)
    }


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("{ get; set; }", "{ get; init; }", ["Amount"]),
        ("int Half => Amount / 2;", "int Half => Amount / 3;", ["Half"]),
        ("    public int Amount { get; set; }\n", "", ["Amount"]),
        ("int Amount", "int Sum", ["Bill"]),
        ("{ get; set; }", "{ get; set; }\n    public int More { get; }", ["Bill"]),
        ("class Bill", "class Bill : Base", ["Bill"]),
        ("{ get; set; }\n    [Key]", "{ get; }\n    [Id]", ["Bill"]),
    ],
)
def test_a_property_whose_declaration_changed_counts_alone(
    shop: Project, old: str, new: str, symbols: list[str]
) -> None:
    source = "class Bill\n{\n    public int Amount { get; set; }\n    [Key]\n    public int Half => Amount / 2;\n}\n"
    shop.write("src/a.cs", source)
    shop.commit()
    graph = HandMade()
    graph.symbol("src/a.cs:Bill", 1)
    graph.prop("src/a.cs:Bill.Amount", 3)
    graph.prop("src/a.cs:Bill.Half", 5)
    graph.write(shop.root)
    assert old in source
    shop.write("src/a.cs", source.replace(old, new))
    assert [one.name for one in changed(shop).symbols] == symbols


def test_a_longer_import_is_no_change_of_the_file(shop: Project) -> None:
    shop.write("src/cart.py", "from .money import Money\n" + CART)
    shop.commit()
    edit(shop, "import Money", "import (\n    Money,\n    cents,\n)")
    found = changed(shop)
    assert found.symbols == ()
    assert [one.reason for one in found.unmatched] == ["no-code"]


def test_an_open_end_compares_the_work_tree_with_where_the_branch_left(shop: Project) -> None:
    shop.git("checkout", "-q", "-b", "side")
    edit(shop, "return 1", "return 2")
    shop.commit("side")
    shop.git("checkout", "-q", "main")
    edit(shop, "def price(n)", "def price(n, m=1)")
    shop.commit("main")
    shop.git("checkout", "-q", "side")
    edit(shop, "def other(n)", "def other(n, m=1)")
    shop.write("src/new.py", "def neu(): ...\n")
    found = changed(shop, "main...")
    assert [one.name for one in found.symbols] == ["total", "other"]
    assert [one.path for one in found.unmatched] == ["src/new.py"]
    assert touched(shop, "main...HEAD") == ["Cart.total"]
    assert "price" in touched(shop, "main")


def test_files_of_the_tool_itself_are_nobodys_code(shop: Project) -> None:
    shop.write(".morph/features/cart/plan.md", "# plan\n")
    shop.write(".morphology.py", "def neu(): ...\n")
    found = changed(shop)
    assert [one.path for one in found.unmatched] == [".morphology.py"]
    assert found.files == (".morphology.py",)


def test_what_is_gone_and_no_longer_in_the_graph_is_called_gone(shop: Project) -> None:
    shop.write("src/old.py", "def alt(): ...\n")
    edit(shop, "def other(n)", "def lost(n):\n    return n\n\n\ndef other(n)")
    shop.commit()
    (shop.root / "src/old.py").unlink()
    edit(shop, "def lost(n):\n    return n\n\n\n", "")
    found = changed(shop)
    assert {(one.path, one.name, one.reason) for one in found.unmatched} == {
        ("src/old.py", None, "gone"),
        ("src/cart.py", "lost", "gone"),
    }
    assert "  src/old.py: gone, and no longer in the graph" in found.lines()


def test_a_change_without_a_symbol_says_so(shop: Project) -> None:
    shop.write("notes.txt", "said\n")
    said = shop.morph("graph", "affected", "--diff").out
    assert "no symbol of the graph changed, so nothing was asked" in said
    assert "\n\n\n" not in said


def test_prod_leaves_changed_test_code_out(shop: Project) -> None:
    shop.write("tests/test_cart.py", "def test_a():\n    assert 1\n")
    shop.commit()
    graph = HandMade()
    graph.symbol("tests/test_cart.py:test_a", 1)
    graph.symbol("src/cart.py:price", 16)
    graph.write(shop.root)
    shop.write("tests/test_cart.py", "def test_a():\n    assert 2\n")
    edit(shop, "def price(n)", "def price(n, m=1)")
    said = shop.morph("graph", "affected", "--diff", "--prod", "--json").json
    assert ([one["name"] for one in said["symbols"]], said["testSymbolsLeftOut"]) == (["price()"], 1)
    assert "; 1 in test code left out by --prod" in shop.morph("graph", "affected", "--diff", "--prod").out
    assert len(shop.morph("graph", "affected", "--diff", "--json").json["symbols"]) == 2


def test_what_two_changed_symbols_have_to_do_with_each_other_is_told_and_drawn(shop: Project) -> None:
    graph = HandMade()
    for name, line in (("Cart.total", 9), ("price", 16), ("other", 20)):
        graph.symbol(f"src/cart.py:{name}", line)
    graph.use("src/cart.py:Cart.total", "src/cart.py:price", line=10)
    graph.write(shop.root)
    edit(shop, "return 1", "return price(2)")
    edit(shop, "def price(n)", "def price(n, m=1)")
    said = shop.morph("graph", "affected", "--diff", "--json", "--mermaid").json
    (within,) = said["within"]
    assert (within["source"]["name"], within["target"]["name"], within["relation"]) == (
        "Cart.total()", "price()", "calls",
    )  # fmt: skip
    assert within["site"] == {"path": "src/cart.py", "line": 10}
    assert said["affected"] == []
    assert '-->|"calls"|' in said["mermaid"]
    told = shop.morph("graph", "affected", "--diff").out
    assert "among the changed symbols themselves\n  Cart.total()  calls  src/cart.py:10  of price()\n" in told
