from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shop.models import Order


def describe(order: Order) -> str:
    return order.key()


def late() -> int:
    from shop.pricing import Discount

    with_rate = Discount()
    return with_rate.apply(3)


def untyped(order):
    return order
