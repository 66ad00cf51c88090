from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.validators.repeats.verdicts import Target, Verdict


def _targets(symbol: str) -> list[Target]:
    return list(Verdict("REUSE", symbol, False, "F1").targets)


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Cart", [Target("cart")]),
        ("`Cart`", [Target("cart")]),
        ("format_price()", [Target("formatprice")]),
        ("Cart.total", [Target("total", "cart")]),
        ("Cart::total", [Target("total", "cart")]),
        ("Cart#total", [Target("total", "cart")]),
        ("shop/cart.py:Cart.total", [Target("total", "cart", "shop/cart.py")]),
        ("./shop/cart.py:Cart", [Target("cart", "", "shop/cart.py")]),
        ("Cart (cart.py)", [Target("cart", "", "cart.py")]),
        ("Cart, formatPrice", [Target("cart"), Target("formatprice")]),
        ("Cart and Order", [Target("cart"), Target("order")]),
        ("Cart e Order", [Target("cart"), Target("order")]),
        ("the formatPrice of the shop", [Target("formatprice")]),
        ("the cart of the shop", []),
        ("", []),
    ],
)
def test_what_a_text_names(symbol: str, found: list[Target]) -> None:
    assert _targets(symbol) == found


@given(st.text(max_size=60))
def test_any_text_can_be_asked(symbol: str) -> None:
    for target in _targets(symbol):
        assert target.name
