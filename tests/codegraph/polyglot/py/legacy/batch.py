from .pricing import Order, Shelf, quote


def run() -> int:
    order = Order()
    Shelf().put("a")
    return order.total() + quote(3)
