"""Which symbol a text means, and what is said when it means none or several."""

import shlex
from pathlib import Path

import pytest

from morph_tasks.codegraph.ask import place, printable, resolve, shown
from morph_tasks.codegraph.ask_refusals import bare, not_found, option_lines
from morph_tasks.codegraph.index import open_index
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import HandMade
from tests.conftest import Project


def made() -> HandMade:
    graph = HandMade()
    graph.symbol("src/cart.py:Cart.total", 3)
    graph.symbol("src/cart.py:Cart.Cart", 2)  # a constructor
    graph.symbol("src/view.py:Cart.total", 7)
    graph.symbol("src/view.py:price", 9)
    graph.symbol("tests/test_view.py:price", 1)
    return graph


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("src/cart.py:Cart", "src/cart.py:Cart"),
        ("src/cart.py:Cart.total", "src/cart.py:Cart.total"),
        ("src/view.py:price", "src/view.py:price"),
        ("src/view.py", "src/view.py"),
    ],
)
def test_a_text_names_one_symbol(tmp_path: Path, text: str, key: str) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index:
        assert resolve(index, text).key == key


def test_several_symbols_are_options_and_each_option_names_one(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index:
        with pytest.raises(Refusal) as caught:
            resolve(index, "Cart")
        refusal = caught.value
        assert (refusal.code, refusal.exit_code) == ("ambiguous", 1)
        payload = refusal.payload
        assert payload["state"] == "ambiguous"
        assert {(one["path"], one["id"], one["kind"]) for one in payload["options"]} == {
            ("src/cart.py", "src/cart.py:Cart", "type"),
            ("src/view.py", "src/view.py:Cart", "type"),
        }  # the constructor is no third
        assert payload["grep"] == ["git", "grep", "-n", "-w", "-e", "Cart", "--", ":/"]
        for one in payload["options"]:
            assert resolve(index, one["query"]).key == one["id"]
            assert one["query"] in " ".join(option_lines(payload["options"], 2))


def test_overloads_of_one_place_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    graph = HandMade()
    graph.symbol("a.cs:Cart.Add", 3)
    for number in (1, 2):
        graph.nodes[f"add{number}"] = {**graph.nodes["a.cs:Cart.Add"], "id": f"add{number}"}
        graph.links.append({"source": "a.cs:Cart", "target": f"add{number}", "relation": "method"})
    graph.write(tmp_path)
    with open_index(tmp_path) as index:
        with pytest.raises(Refusal) as caught:
            resolve(index, "Cart.Add")
        assert {one["query"] for one in caught.value.payload["options"]} == {"a.cs:Cart.Add", "add1", "add2"}


def test_no_symbol_names_the_search_to_use_instead(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index:
        with pytest.raises(Refusal) as caught:
            resolve(index, "Basket's.Cart")
        refusal = caught.value
        assert (refusal.code, refusal.exit_code, refusal.payload["state"]) == ("not-found", 1, "not-found")
        assert shlex.split(refusal.fix) == ["git", "grep", "-n", "-w", "-e", "Cart", "--", ":/"]
        assert {one["path"] for one in refusal.payload["near"]} >= {"src/cart.py", "src/view.py"}


def test_a_word_that_a_shell_would_read_is_quoted(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index, pytest.raises(Refusal) as caught:
        resolve(index, "a$(id) b")
    assert shlex.split(caught.value.fix)[-4:] == ["-e", "a$(id) b", "--", ":/"]
    assert "-F" in caught.value.fix  # and git reads no pattern in it
    assert "'" in caught.value.fix


def test_what_people_read(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index:
        names = [shown(resolve(index, key)) for key in ("src/cart.py:Cart.total", "src/view.py:price", "src/cart.py")]
    assert names == ["Cart.total()", "price()", "src/cart.py"]
    assert (place("a.py", 3), place("a.py", None), place(None, 3)) == ("a.py:3", "a.py", "")
    assert printable("a\x1b[31mb\nc") == "a\\x1b[31mb\\nc"
    assert printable("Ünï") == "Ünï"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Cart", "Cart"), ("Cart.total()", "total"), ("src/cart.py:Cart.total", "total"), ("a::B::c", "c"),
        ("src/cart.py", "cart.py"), ("src/cart.py:21", "cart.py"), ("Mod#call", "call"), (":", ":"),
        ("cart.py:21", "cart.py"), ("cart.py:21:4", "cart.py"), ("cart.py", "cart.py"), ("Cart.go", "go"),
        ("Cart.cs:21", "Cart.cs"), ("Cart.total:21", "total"),
    ],
)  # fmt: skip
def test_the_last_name_of_a_text(text: str, name: str) -> None:
    assert bare(text) == name


@pytest.mark.parametrize("text", ["Cart.totl", "src/cart.py:Cart.totl", "Cart.tootal()"])
def test_a_name_that_is_spelled_nearly_so_is_near_and_its_owner_comes_first(tmp_path: Path, text: str) -> None:
    graph = HandMade()
    graph.symbol("src/a.py:Bill.total", 3)
    graph.symbol("src/cart.py:Cart.total", 3)
    graph.symbol("src/view.py:Cart.total", 7)
    graph.write(tmp_path)
    with open_index(tmp_path) as index:
        with pytest.raises(Refusal) as caught:
            resolve(index, text)
        near = caught.value.payload["near"]
        assert [one["name"] for one in near] == ["Cart.total()", "Cart.total()", "Bill.total()"]
        assert [resolve(index, one["query"]).key for one in near] == [one["id"] for one in near]


def test_what_is_like_nothing_has_nothing_near_and_the_graph_says_what_it_does_not_hold(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index, pytest.raises(Refusal) as caught:
        resolve(index, "ErrEmpty")
    assert caught.value.payload["near"] == []
    assert "hardly a constant, field or variable" in caught.value.what


@pytest.mark.parametrize(
    ("text", "key"),
    [("src/view.py:8", "src/view.py:Cart.total"), ("src/view.py:9:4", "src/view.py:price"),
     ("src/cart.py:L3", "src/cart.py:Cart.total")],
)  # fmt: skip
def test_a_place_means_the_definition_there(tmp_path: Path, text: str, key: str) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index:
        with pytest.raises(Refusal) as caught:
            resolve(index, text)
        assert resolve(index, caught.value.payload["meant"]).key == key
    assert "cart.py" in caught.value.fix or "view.py" in caught.value.fix


@pytest.mark.parametrize("text", ["src", "src/", "./src"])
def test_a_folder_is_no_symbol_and_names_its_files(tmp_path: Path, text: str) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index, pytest.raises(Refusal) as caught:
        resolve(index, text)
    assert "is a folder with 2 files" in caught.value.what
    assert [one["query"] for one in caught.value.payload["near"]] == ["src/cart.py", "src/view.py"]


def test_a_namespace_does_not_stand_for_the_folder_of_its_name(tmp_path: Path) -> None:
    graph = made()
    graph.nodes["ns"] = {
        "id": "ns", "label": "Src", "type": "namespace", "file_type": "code", "source_file": "src/a.cs",
        "source_location": "L1",
    }  # fmt: skip
    graph.write(tmp_path)
    with open_index(tmp_path) as index:
        assert resolve(index, "Src").key == "ns"
        with pytest.raises(Refusal) as caught:
            resolve(index, "src")
    assert [one["id"] for one in caught.value.payload["options"]] == ["ns", "src/cart.py", "src/view.py"]


def test_the_other_name_of_an_export_leads_to_what_it_names(project: Project) -> None:
    graph = made()
    graph.symbol("web/orders.ts:OrdersApi", 3)
    graph.write(project.root)
    project.write("web/orders.ts", "\n\nexport class OrdersApi {}\n")
    project.write("web/index.ts", "export { OrdersApi as Orders } from './orders';\n")
    repo = open_repo(project.root)
    with open_index(project.root) as index:
        refusal = not_found(index, "Orders", repo)
        assert (refusal.payload["meant"], refusal.payload["near"][0]["id"]) == ("OrdersApi", "web/orders.ts:OrdersApi")
        assert not_found(index, "Order", repo).payload["meant"] is None
        assert not_found(index, "Orders[", repo).payload["meant"] is None
        assert not_found(index, "Model.Orders", repo).payload["meant"] is None  # another owner's


@pytest.mark.parametrize("text", ["Model.pk", "pk", "e", "Field.default", "Cart.the", "the"])
def test_prose_and_other_clauses_give_no_name(project: Project, text: str) -> None:
    graph = made()
    for name in ("ValueError", "AutoField", "field", "known"):
        graph.symbol(f"src/names.py:{name}", 3)
    graph.write(project.root)
    project.write("notes.md", "known as pk, and ValueError as the\n")
    project.write("src/names.ts", "// field as e\nconst a = known as pk; /* import { AutoField as pk } */\n")
    project.write(
        "src/names.py",
        '"""\nfrom src.names import AutoField as pk\n"""\n# field as e, known as the\n'
        "try:\n    pass\nexcept ValueError as e:\n    pass\nwith field() as default:\n    pass\n",
    )
    with open_index(project.root) as index:
        refusal = not_found(index, text, open_repo(project.root))
    assert refusal.payload["meant"] is None
    assert "is another name" not in refusal.what


def test_several_candidates_are_near_and_none_is_meant(project: Project) -> None:
    graph = HandMade()
    graph.symbol("shop/cart.py:Cart", 1)
    graph.symbol("shop/bag.py:Bag", 1)
    graph.write(project.root)
    project.write("shop/cart.py", "class Cart: ...\n")
    project.write("shop/bag.py", "class Bag: ...\n")
    project.write("a.py", "from shop.cart import Cart as Basket\n")
    project.write("b.py", "from shop.bag import Bag as Basket\n")
    with open_index(project.root) as index:
        refusal = not_found(index, "Basket", open_repo(project.root))
        assert refusal.payload["meant"] is None and "is another name" not in refusal.what
        assert {one["id"] for one in refusal.payload["near"]} == {"shop/cart.py:Cart", "shop/bag.py:Bag"}
        for text in ("b.Basket", "b.py:Basket"):
            assert not_found(index, text, open_repo(project.root)).payload["meant"] == "Bag"
