from shop.checkout import Checkout, default
from shop.mail import FakeMailer
from shop.models import Order
from shop.tax import ZeroTax


def make_order() -> Order:
    return Order(ZeroTax())


def check_pay() -> None:
    fake = FakeMailer()
    checkout = Checkout(fake)
    assert checkout.pay(make_order()) == -3
    assert fake.sent == ["shop"]


class CheckPreview:
    def prepare(self) -> None:
        self.checkout = default()

    def check_preview(self) -> None:
        assert self.checkout.preview() == 0

    def total(self) -> int:
        return 0

    def check_total(self) -> None:
        assert self.total() == 0
