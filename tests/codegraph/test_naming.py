"""Names, lines and kinds from what graphify writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.naming import bare, fold, kind_of, line_of, names_its_file
from morph_tasks.codegraph.raw import RawNode


@pytest.mark.parametrize(
    ("label", "name"),
    [(".total()", "total"), ("total()", "total"), ("Cart", "Cart"), ("total(int)", "total"), ("...", "..."), ("", ""),
     ("cart.py", "cart.py"), (".eslintrc", "eslintrc"), ("a (b)", "a "), ("()", "()")],
)  # fmt: skip
def test_a_bare_name(label: str, name: str) -> None:
    assert bare(label) == name


@pytest.mark.parametrize(
    ("place", "line"),
    [("L12", 12), ("L12-L30", 12), ("12", 12), ("L0", 0), ("", None), (None, None), ("L", None), ("Lx", None),
     ("L٣", None), ("L" + "9" * 30, None)],
)  # fmt: skip
def test_a_line(place: str | None, line: int | None) -> None:
    assert line_of(place) == line


@settings(deadline=None)
@given(st.text())
def test_folding_is_graphifys_own(text: str) -> None:
    from graphify.affected import _normalize_label

    assert fold(text) == _normalize_label(text)


@pytest.mark.parametrize(
    ("label", "file", "answer"),
    [("cart.py", "shop/cart.py", True), ("shop/cart.py", "x/shop/cart.py", True), ("Cart", "shop/Cart", True),
     ("op/cart.py", "shop/cart.py", False), ("cart", "shop/cart.py", False), ("cart.py", r"shop\cart.py", True)],
)  # fmt: skip
def test_the_label_of_a_file(label: str, file: str, answer: bool) -> None:
    assert names_its_file(label, file) is answer


def test_kinds() -> None:
    def kind(label: str, *, method: bool = False, parent: bool = False, **more: object) -> str:
        node = RawNode(id="x", label=label, source_file="shop/cart.py", file_type="code")
        for name, value in more.items():
            setattr(node, name, value)
        return kind_of(node, is_method=method, is_parent=parent)

    assert kind("cart.py") == "file"
    assert kind("Cart", is_class=True) == "type"
    assert kind("Cart", parent=True) == "type"
    assert kind("RATE") == "other"
    assert kind("price()") == "function"
    assert kind("price()", method=True) == "method"
    assert kind(".price()") == "method"
    assert kind("Shop", type="namespace") == "namespace"
    assert kind("shop", type="package") == "package"
    assert kind("json", type="external") == "package"
    assert kind("Why it is so (and not else)", file_type="rationale") == "other"
