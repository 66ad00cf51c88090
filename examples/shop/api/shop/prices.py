"""What goods cost, in cents."""

from __future__ import annotations

DISCOUNT_FROM = 10_000
DISCOUNT_PERCENT = 10


def discounted(goods: int) -> int:
    """Return the price after the discount for large orders; half a cent goes to the buyer."""
    if goods < DISCOUNT_FROM:
        return goods
    return goods - (goods * DISCOUNT_PERCENT + 50) // 100
