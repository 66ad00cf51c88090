"""Which symbol a text means, and what is said when it means none or several."""

import shlex
from pathlib import Path

import pytest

from morph_tasks.codegraph.ask import place, printable, resolve, shown
from morph_tasks.codegraph.ask_refusals import bare, option_lines
from morph_tasks.codegraph.index import open_index
from morph_tasks.errors import Refusal
from tests.codegraph.handmade import HandMade


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
        assert payload["grep"] == ["git", "grep", "-n", "-w", "-e", "Cart"]
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
        assert shlex.split(refusal.fix) == ["git", "grep", "-n", "-w", "-e", "Cart"]
        assert {one["path"] for one in refusal.payload["near"]} >= {"src/cart.py", "src/view.py"}


def test_a_word_that_a_shell_would_read_is_quoted(tmp_path: Path) -> None:
    made().write(tmp_path)
    with open_index(tmp_path) as index, pytest.raises(Refusal) as caught:
        resolve(index, "a$(id) b")
    assert shlex.split(caught.value.fix)[-1] == "a$(id) b"
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
        ("src/cart.py", "cart.py"), ("Mod#call", "call"), (":", ":"),
    ],
)  # fmt: skip
def test_the_last_name_of_a_text(text: str, name: str) -> None:
    assert bare(text) == name
