"""What the index answers, on a small graph."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from morph_tasks.codegraph import index_key, layout
from morph_tasks.codegraph.index import Symbol, build, open_index
from morph_tasks.errors import Refusal
from tests.codegraph.rawgraphs import Raw, answers, every


def shop() -> Raw:
    """A cart with a total, in a module of its own; a till, a test and a page that use it."""
    made = Raw()
    for path in ("shop/cart.py", "shop/till.py", "tests/test_cart.py", "web/cart.py"):
        made.file(path)
    made.type("cart", "Cart", "shop/cart.py", 3)
    made.node("total", ".total()", "shop/cart.py", 5)
    made.node("price", "price()", "shop/cart.py", 9)
    made.type("webcart", "Cart", "web/cart.py", 1)
    made.node("webtotal", ".total()", "web/cart.py", 2)
    made.node("pay", "pay()", "shop/till.py", 4)
    made.node("check", "test_total()", "tests/test_cart.py", 2)
    made.node("why", "How totals are rounded.", "shop/cart.py", 1, file_type="rationale")
    made.link("file:shop/cart.py", "contains", "cart", "shop/cart.py", 3)
    made.link("file:shop/cart.py", "contains", "price", "shop/cart.py", 9)
    made.link("cart", "method", "total", "shop/cart.py", 5)
    made.link("webcart", "method", "webtotal", "web/cart.py", 2)
    made.link("why", "rationale_for", "cart", "shop/cart.py", 1)
    made.link("pay", "calls", "total", "shop/till.py", 6)
    made.link("check", "calls", "total", "tests/test_cart.py", 3)
    made.link("file:shop/till.py", "imports", "cart", "shop/till.py", 1)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shop().write(tmp_path, built_at_commit="f" * 40)
    return tmp_path


def keys(found: list[Symbol]) -> list[str]:
    return [symbol.key for symbol in found]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cart", ["cart"]),
        ("file:shop/cart.py", ["file:shop/cart.py"]),
        ("Cart", ["cart", "webcart"]),
        ("CART", ["cart", "webcart"]),
        ("total", ["total"]),
        (".total()", ["total", "webtotal"]),
        ("total()", ["total", "webtotal"]),
        ("Cart.total", ["total", "webtotal"]),
        ("Cart::total", ["total", "webtotal"]),
        ("Cart#total()", ["total", "webtotal"]),
        ("shop.cart.Cart", ["cart"]),
        ("shop.cart.Cart.total", ["total"]),
        ("web.Cart.total", ["webtotal"]),
        ("shop/cart.py", ["file:shop/cart.py"]),
        ("./shop//cart.py", ["file:shop/cart.py"]),
        ("till.py", ["file:shop/till.py"]),
        ("cart.py", ["file:shop/cart.py", "file:web/cart.py"]),
        ("shop/cart.py:Cart", ["cart"]),
        ("shop/cart.py:total", ["total"]),
        ("shop/cart.py:Cart.total", ["total"]),
        ("shop/cart.py:nothing", []),
        ("How totals are rounded.", []),
        ("nothing", []),
        ("", []),
        ("  ", []),
        ("Cart.nothing", []),
        ("'; DROP TABLE node; --", []),
    ],
)
def test_what_a_text_finds(root: Path, query: str, expected: list[str]) -> None:
    with open_index(root) as index:
        assert keys(index.find(query)) == expected


@pytest.mark.parametrize("query", ["\udcff", "\udcff.py", "a/\udcff.py:Cart", "Cart.\udcff"])
def test_bytes_that_are_no_utf8_are_a_question_like_any_other(tmp_path: Path, query: str) -> None:
    made = shop()
    made.node("odd", "odd()", "odd\udcff.py", 1)  # as Python spells the name of such a file
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        assert index.find(query) == []
        assert index.names([query]) == []
        assert keys(index.in_file("odd\udcff.py")) == ["odd"]


def test_a_symbol_says_all_that_is_known_of_it(root: Path) -> None:
    with open_index(root) as index:
        (total,) = index.find("shop/cart.py:total")
        expected = (total.id, "total", ".total()", "total", "Cart", "shop/cart.py", 5, "method", False, False, "")
        assert tuple(total) == expected
        assert index.symbol(total.id) == total
        kinds = {found.key: found.kind for found in every(index).values()}
        assert kinds["cart"] == "type" and kinds["price"] == "function" and kinds["file:shop/cart.py"] == "file"
        assert {found.key for found in every(index).values() if found.test} == {"check", "file:tests/test_cart.py"}


def test_a_file_lists_what_it_declares_by_line(root: Path) -> None:
    with open_index(root) as index:
        assert keys(index.in_file("shop/cart.py")) == ["cart", "total", "price"]
        assert index.in_file("nowhere.py") == []


def test_edges_have_their_site(root: Path) -> None:
    with open_index(root) as index:
        (total,) = index.find("shop/cart.py:total")
        known = every(index)
        into = [(known[e.source].key, e.relation, e.file, e.line, e.via) for e in index.into([total.id])]
        assert into == [
            ("cart", "method", "shop/cart.py", 5, "direct"),
            ("pay", "calls", "shop/till.py", 6, "direct"),
            ("check", "calls", "tests/test_cart.py", 3, "direct"),
        ]
        (pay,) = index.find("pay")
        assert [known[edge.target].key for edge in index.out_of([pay.id])] == ["total"]
        assert keys(index.members(index.find("cart")[0].id)) == ["total"]


def test_names_are_looked_up_together_without_the_difference_of_capitals(root: Path) -> None:
    with open_index(root) as index:
        assert keys(index.names({"CART", "price", "unheard"})) == ["cart", "price", "webcart"]
        assert index.names(set()) == []
        many = {f"name{number}" for number in range(3000)} | {"Pay"}
        assert keys(index.names(many)) == ["pay"]


def test_how_much_there_is(root: Path) -> None:
    with open_index(root) as index:
        assert index.counts() == {
            "nodes": 12, "testNodes": 2, "links": 8, "coalescible": 0, "external": 0, "ambiguous": 0,
            "recoveredDispatch": 0, "recoveredCalls": 0,
        }  # fmt: skip
        assert index.built_at == "f" * 40
        assert index.recovery is False


def test_a_package_of_the_tree_is_not_external_and_a_module_from_outside_is(tmp_path: Path) -> None:
    made = Raw()
    made.node("pkg", "example.com/shop", "go.mod", 1, type="package")
    made.stub("json", "json", type="external", external=True, file_type="concept")
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        assert {found.label: found.external for found in every(index).values()} == {
            "example.com/shop": False,
            "json": True,
        }
        assert {found.kind for found in every(index).values()} == {"package"}


def test_a_graph_that_does_not_say_when_it_was_built(tmp_path: Path) -> None:
    shop().write(tmp_path)
    with open_index(tmp_path) as index:
        assert index.built_at is None


def test_no_graph_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for ask in (open_index, build):
        with pytest.raises(Refusal) as refused:
            ask(tmp_path)
        assert (refused.value.code, refused.value.exit_code, refused.value.fix) == (
            "no-graph",
            1,
            "morph-spec graph build",
        )


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which files are read whole."""
    noted: list[str] = []
    real = index_key.read
    base = os.path.basename
    monkeypatch.setattr("morph_tasks.codegraph.index.read", lambda path: noted.append(base(path)) or real(path))
    return noted


def age(root: Path) -> None:
    """Let the graph look as if it were written an hour ago, so that its times can be trusted."""
    graph = layout.graph_file(root)
    when = graph.stat().st_mtime_ns - 3600 * 10**9
    os.utime(graph, ns=(when, when))


def test_an_index_that_stands_is_opened_without_reading_the_graph(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_key, "settled", lambda seen, when: True)
    build(root)
    noted = reads(monkeypatch)
    open_index(root).close()
    assert noted == []


def test_another_content_of_the_same_length_and_time_is_noticed(root: Path) -> None:
    """Nothing but the change time can tell, and a file that was written just now is read again."""
    open_index(root).close()
    graph = layout.graph_file(root)
    about = graph.stat()
    graph.write_bytes(graph.read_bytes().replace(b'"pay()"', b'"owe()"'))
    os.utime(graph, ns=(about.st_atime_ns, about.st_mtime_ns))
    with open_index(root) as index:
        assert [found.label for found in index.find("owe")] == ["owe()"]


def test_a_graph_that_was_only_touched_keeps_its_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root)
    made = layout.index_file(root).stat().st_ino
    age(root)
    noted = reads(monkeypatch)
    monkeypatch.setattr(index_key, "settled", lambda seen, when: True)
    monkeypatch.setattr("morph_tasks.codegraph.index._assembled", None)
    open_index(root).close()
    assert noted == ["graph.json"]
    assert layout.index_file(root).stat().st_ino != made  # with the new times in it
    open_index(root).close()
    assert noted == ["graph.json"]


def test_a_copied_folder_keeps_its_index(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    build(root)
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(root / "graphify-out", copy / "graphify-out")
    assert answers(copy) == answers(root)
    assert sorted(path.name for path in (copy / "graphify-out").iterdir()) == ["graph.json", "morph-index.sqlite"]


def test_times_just_now_are_not_trusted(root: Path) -> None:
    seen = index_key.look(layout.graph_file(root))
    written = layout.graph_file(root).stat().st_mtime_ns
    assert not index_key.settled(seen, written + 10_000_000)
    assert index_key.settled(seen, written + 3600 * 10**9)
    assert index_key.look(root / "nothing") == index_key.ABSENT


def test_a_file_whose_time_was_set_back_may_change_unnoticed() -> None:
    """A copy keeps the time of its source: only the time of the change of its entry tells that it is new."""
    when = 10**18
    assert not index_key.settled(f"5-0-{when}-1-1", when)
    assert not index_key.settled(f"5-{when}-0-1-1", when)
    assert index_key.settled("5-0-0-1-1", when)
