from dataclasses import dataclass, field

from .pricing import quote
from .tax import TaxTable


class Entity:
    def key(self) -> str:
        return self.prefix() + "1"

    def prefix(self) -> str:
        return "entity-"


@dataclass
class Line:
    sku: str
    price: int

    def cost(self) -> int:
        return quote(self.price)


class Order(Entity):
    def __init__(self, taxes: TaxTable) -> None:
        self.taxes = taxes
        self.lines: list[Line] = []

    def prefix(self) -> str:
        return "order-"

    def add(self, line: Line) -> "Order":
        self.lines.append(line)
        return self

    def total(self) -> int:
        net = sum(line.cost() for line in self.lines)
        return net + self.taxes.on(net)


@dataclass
class Parcel:
    orders: list[Order] = field(default_factory=list)

    def weigh(self) -> int:
        return len(self.orders)
