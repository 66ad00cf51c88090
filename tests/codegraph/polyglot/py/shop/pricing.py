import functools


def quote(price: int) -> int:
    return rounded(price * 2)


def rounded(price: int) -> int:
    return price - price % 5


def audited(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


class Discount:
    rate = 3

    def apply(self, price: int) -> int:
        return price - self.rate

    @classmethod
    def none(cls) -> "Discount":
        return cls()

    @staticmethod
    def cap(price: int) -> int:
        return min(price, 100)
