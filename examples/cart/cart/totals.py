"""What a cart costs. All amounts are integers in cents."""

from __future__ import annotations

from dataclasses import dataclass

SHIPPING = 490
FREE_SHIPPING_FROM = 5_000


@dataclass(frozen=True)
class Line:
    """One article of the cart; `price` is that of a single piece."""

    price: int
    pieces: int = 1


def shipping(goods: int) -> int:
    """Return the shipping of goods of this value; free from 50.00 on."""
    return 0 if goods > FREE_SHIPPING_FROM else SHIPPING


def total(lines: list[Line]) -> int:
    """Return what the buyer pays; raises ValueError for a cart without lines."""
    if not lines:
        raise ValueError("lines: a cart needs at least one")
    goods = sum(line.price * line.pieces for line in lines)
    return goods + shipping(goods)
