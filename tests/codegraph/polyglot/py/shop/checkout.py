from shop import Order as Purchase
from shop import mail
from shop import quote as price_of
from shop.mail import Mailer

from .pricing import Discount, audited
from .tax import STANDARD


class Checkout:
    def __init__(self, mailer: Mailer, discount: Discount | None = None) -> None:
        self._mailer = mailer
        self._discount = discount or Discount.none()

    def pay(self, purchase: Purchase) -> int:
        due = self._discount.apply(purchase.total())
        self._mailer.send("shop")
        return due

    @audited
    def preview(self) -> int:
        purchase = Purchase(STANDARD)
        return purchase.total() + price_of(1)


def default() -> Checkout:
    return Checkout(mail.SmtpMailer())


def tax_of(net: int) -> int:
    return STANDARD.on(net)
