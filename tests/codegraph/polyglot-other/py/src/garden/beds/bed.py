from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .plants import Plant, Rose


class Bed:
    soil = "loam"

    def __init__(self, *plants: Plant) -> None:
        self.plants = list(plants)
        self.rows: dict[str, list[Plant]] = {}

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Plant]:
        return iter(self.plants)

    @property
    def tallest(self) -> Plant:
        return self.plants[0]

    def water(self) -> Bed:
        for plant in self.plants:
            plant.drink(1)
        return self

    def prune(self) -> None:
        for row in self.rows.values():
            for plant in row:
                plant.cut()

    @classmethod
    def of_roses(cls) -> Bed:
        return cls(Rose())
