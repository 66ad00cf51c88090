from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.index_read import Index
from morph_tasks.codegraph.reach import Link, links, near
from tests.codegraph.handmade import HandMade, shop

ALL = {"src/prices.py", "src/cart.py", "src/checkout.py", "src/alone.py"}


def linked(root: Path, made: HandMade, files: set[str]) -> dict[tuple[str, str], Link]:
    made.write(root)
    with open_index(root) as index:
        return {(one.changed, one.consumer): one for one in links(index, files)[0]}


def told(one: Link) -> list[str]:
    return [f"{step.symbol} {step.relation} {step.uses} {step.at}" for step in one.path[1:]]


def test_direct_with_the_symbols_and_the_line(tmp_path: Path) -> None:
    found = linked(tmp_path, shop(), ALL)
    one = found["src/prices.py", "src/cart.py"]
    assert (one.distance, told(one), one.more) == (1, ["Cart.total() calls price() src/cart.py:9"], 0)
    assert one.path[0].symbol == "price()" and one.path[0].file == "src/prices.py"
    assert ("src/cart.py", "src/prices.py") not in found, "the cart may change without prices noticing"


@pytest.mark.parametrize("middle", [set(), {"src/cart.py"}])
def test_over_a_third_file_whether_somebody_plans_it_or_not(tmp_path: Path, middle: set[str]) -> None:
    found = linked(tmp_path, shop(), {"src/prices.py", "src/checkout.py"} | middle)
    one = found["src/prices.py", "src/checkout.py"]
    assert one.distance == 2
    assert told(one) == ["Cart.total() calls price() src/cart.py:9", "pay() calls Cart.total() src/checkout.py:5"]


def test_no_farther_than_two(tmp_path: Path) -> None:
    made = shop()
    made.use("src/page.py:show", "src/checkout.py:pay")
    assert set(linked(tmp_path, made, {"src/prices.py", "src/page.py"})) == set()


def test_the_nearest_way_alone_is_told(tmp_path: Path) -> None:
    made = shop()
    made.use("src/checkout.py:pay", "src/prices.py:price", "calls", 7)
    found = linked(tmp_path, made, ALL)
    assert found["src/prices.py", "src/checkout.py"].distance == 1


def test_imports_of_imports_say_nothing(tmp_path: Path) -> None:
    made = HandMade()
    made.use("b.py", "mid.py", "imports_from", 1)
    made.use("mid.py", "a.py", "imports_from", 1)
    assert linked(tmp_path, made, {"a.py", "b.py"}) == {}


def test_a_module_that_calls_at_import_and_one_that_hands_on_do(tmp_path: Path) -> None:
    made = HandMade()
    made.use("b.py", "mid.py", "imports_from", 1)
    made.use("mid.py", "a.py:price", "calls", 3)
    made.use("c.ts", "index.ts", "imports_from", 1)
    made.use("index.ts", "d.ts", "re_exports", 2)
    found = linked(tmp_path, made, {"a.py", "b.py", "c.ts", "d.ts"})
    assert {pair: one.distance for pair, one in found.items()} == {("a.py", "b.py"): 2, ("d.ts", "c.ts"): 2}


def test_what_a_package_hands_on_reaches_those_who_import_it_and_not_their_neighbours(tmp_path: Path) -> None:
    """`from . import money` names the package and the module; what else the package re-exports is none of it."""
    made = HandMade()
    for name in ("cart", "money"):
        made.use("shop/__init__.py", f"shop/{name}.py", "re_exports", 1)
    made.use("shop/report.py", "shop/__init__.py", "imports_from", 1)
    made.use("shop/report.py", "shop/money.py", "imports_from", 1)
    made.use("shop/till.py", "shop/__init__.py", "imports_from", 4)
    found = linked(tmp_path, made, {"shop/cart.py", "shop/money.py", "shop/report.py", "shop/till.py"})
    assert {pair: one.distance for pair, one in found.items()} == {
        ("shop/money.py", "shop/report.py"): 1,
        ("shop/money.py", "shop/till.py"): 2,
        ("shop/cart.py", "shop/till.py"): 2,
    }


def test_what_a_package_calls_when_it_is_imported_reaches_all_who_import_it(tmp_path: Path) -> None:
    made = HandMade()
    made.use("shop/__init__.py", "shop/log.py:start", "calls", 3)
    made.use("shop/report.py", "shop/__init__.py", "imports_from", 1)
    made.use("shop/report.py", "shop/money.py", "imports_from", 1)
    assert ("shop/log.py", "shop/report.py") in linked(tmp_path, made, {"shop/log.py", "shop/report.py"})


def test_members_of_a_type_that_inherits_from_what_changes(tmp_path: Path) -> None:
    made = HandMade()
    made.use("sub.py:Sub", "base.py:Base", "inherits", 4)
    made.use("user.py:use", "sub.py:Sub.run", "calls", 6)
    [one] = linked(tmp_path, made, {"base.py", "user.py"}).values()
    assert told(one) == ["Sub inherits Base sub.py:4", "use() calls Sub.run() user.py:6"]


def test_what_says_more_is_preferred_and_the_others_are_counted(tmp_path: Path) -> None:
    made = HandMade()
    made.use("b.py", "a.py", "imports_from", 1)
    made.use("b.py:f", "a.py:A", "uses", 3)
    made.use("b.py:g", "a.py:h", "calls", 8)
    [one] = linked(tmp_path, made, {"a.py", "b.py"}).values()
    assert (told(one), one.more) == (["g() calls h() b.py:8"], 1)


def test_a_partial_type_belongs_to_each_of_its_files(tmp_path: Path) -> None:
    made = HandMade()
    made.symbol("one.cs:Cart")
    made.symbol("two.cs")
    made._link("two.cs", "one.cs:Cart", "contains", "two.cs", 3)
    made.use("user.cs:Run", "one.cs:Cart", "references", 7)
    found = linked(tmp_path, made, {"two.cs", "user.cs"})
    assert set(found) == {("two.cs", "user.cs")}, "whoever edits the second part changes the type"


def test_a_use_belongs_to_the_part_that_makes_it(tmp_path: Path) -> None:
    made = HandMade()
    made.symbol("one.cs:Cart")
    made.symbol("two.cs")
    made._link("two.cs", "one.cs:Cart", "contains", "two.cs", 3)
    made.symbol("price.cs:Price")
    made._link("one.cs:Cart", "price.cs:Price", "references", "two.cs", 5)
    assert set(linked(tmp_path, made, {"one.cs", "two.cs", "price.cs"})) == {("price.cs", "two.cs")}


def test_what_dispatches_is_a_way_to_its_callers_and_depends_on_nothing(tmp_path: Path) -> None:
    made = HandMade()
    made.use("pay.py:Payment.pay", "card.py:Card.pay", "dispatches_to", 3)
    made.use("card.py:Card.pay", "bank.py:send", "calls", 4)
    made.use("till.py:buy", "pay.py:Payment.pay", "calls", 5)
    files = {"card.py", "till.py", "pay.py", "bank.py"}
    found = linked(tmp_path, made, files)
    assert {pair: one.distance for pair, one in found.items()} == {
        ("card.py", "till.py"): 2, ("pay.py", "till.py"): 1, ("bank.py", "card.py"): 1,
    }  # fmt: skip
    assert told(found["card.py", "till.py"])[0] == "Payment.pay() dispatches_to Card.pay() pay.py:3"
    with open_index(tmp_path) as index:
        assert ("pay.py", "dependent") not in {(one.file, one.how) for one in near(index, {"card.py"})[0]}


def test_files_the_graph_has_not_are_named(tmp_path: Path) -> None:
    shop().write(tmp_path)
    with open_index(tmp_path) as index:
        assert links(index, {"src/cart.py", "page.html", "it's\n.py"})[1] == ("it's\n.py", "page.html")
        assert near(index, {"page.html"}) == ([], ("page.html",))


def test_the_neighbours_on_both_sides(tmp_path: Path) -> None:
    shop().write(tmp_path)
    with open_index(tmp_path) as index:
        found = {(one.how, one.file): one for one in near(index, {"src/cart.py"})[0]}
    assert set(found) == {("dependent", "src/checkout.py"), ("dependency", "src/prices.py")}
    assert found["dependency", "src/prices.py"].path[-1].at == "src/cart.py:9"
    assert all(one.planned == "src/cart.py" for one in found.values())


def test_few_questions_for_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = Index.rows

    def counted(self: Index, sql: str, values: Any = ()) -> list[Any]:
        asked.append(sql)
        return rows(self, sql, values)

    def count(many: int) -> int:
        made = HandMade()
        for number in range(many):
            made.use(f"b{number}.py:f", f"m{number}.py:g")
            made.use(f"m{number}.py:g", f"a{number}.py:h")
        made.write(tmp_path)
        with open_index(tmp_path) as index:
            asked.clear()
            found, _ = links(index, {f"{name}{number}.py" for number in range(many) for name in "ab"})
        assert len(found) == many
        return len(asked)

    monkeypatch.setattr(Index, "rows", counted)
    assert count(60) == count(2) <= 8


_names = st.sampled_from([f"{name}.py:{one}" for name in "abcd" for one in ("f", "g", "K.m")])
_edges = st.lists(st.tuples(_names, _names, st.sampled_from(["calls", "inherits", "imports_from"])), max_size=12)


@settings(max_examples=60, deadline=None)
@given(edges=_edges)
def test_links_are_those_that_a_plain_walk_finds(tmp_path_factory: Any, edges: list[tuple[str, str, str]]) -> None:
    """Compares with the definition: an edge between two files, or two edges over a symbol of a third one."""
    made = HandMade()
    for name in "abcd":
        made.symbol(f"{name}.py")
    for source, target, relation in edges:
        made.use(source, target, relation)
    files = {"a.py", "b.py", "c.py"}
    place = {key: node["source_file"] for key, node in made.nodes.items()}
    near_pairs = {(place[t], place[s]) for s, t, _ in edges if place[s] != place[t]}
    far = set()
    owner = {f"{name}.py:K.m": f"{name}.py:K" for name in "abcd"}
    for s1, t1, r1 in edges:
        for s2, t2, _ in edges:
            over = t2 == s1 or (r1 == "inherits" and owner.get(t2) == s1)
            if over and place[s1] not in (place[t1], place[s2]) and place[t1] != place[s2]:
                far.add((place[t1], place[s2]))
    found = linked(tmp_path_factory.mktemp("graph"), made, files)
    wanted = dict.fromkeys(far, 2) | dict.fromkeys(near_pairs, 1)
    inside = {pair: way for pair, way in wanted.items() if set(pair) <= files}
    assert {pair: one.distance for pair, one in found.items()} == inside
