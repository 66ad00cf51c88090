from abc import ABC, abstractmethod

__all__ = ["Plant", "Rose"]


class Plant(ABC):
    height = 0

    @abstractmethod
    def drink(self, litres: int) -> None: ...

    def cut(self) -> None:
        self.height = 0


class Rose(Plant):
    def drink(self, litres: int) -> None:
        self.height += litres


class Moss(Plant):
    def drink(self, litres: int) -> None:
        super().cut()


def sow(name: str) -> Plant:
    return Rose() if name == "rose" else Moss()
