import pytest

from cart.totals import Line, shipping, total


def test_a_small_cart_pays_shipping():
    assert total([Line(1_000, pieces=2)]) == 2_490


def test_shipping_is_free_from_exactly_fifty():
    assert shipping(4_999) == 490
    assert shipping(5_000) == 0


def test_pieces_count_towards_free_shipping():
    assert total([Line(2_500, pieces=3)]) == 7_500


def test_an_empty_cart_is_refused():
    with pytest.raises(ValueError, match="lines"):
        total([])
