import shop.pricing as prices
import shop.stock
from shop.stock import open_shelf


def margin(price: int) -> int:
    return prices.quote(price) - prices.Discount.cap(price)


def inventory() -> int:
    shelf = open_shelf()
    return shelf.worth()


def cheapest() -> int:
    return shop.stock.open_shelf().first().cost()


HANDLERS = {"margin": margin}


def dispatch(name: str) -> int:
    return HANDLERS[name](1)
