from ..models import Line


class Shelf:
    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def put(self, line: Line) -> None:
        self._lines[line.sku] = line

    def worth(self) -> int:
        return sum(line.cost() for line in self._lines.values())

    def first(self) -> Line:
        return next(iter(self._lines.values()))


def open_shelf() -> Shelf:
    return Shelf()
