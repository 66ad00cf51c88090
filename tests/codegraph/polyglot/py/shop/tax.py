class TaxTable:
    def on(self, net: int) -> int:
        return net // 10


class ZeroTax(TaxTable):
    def on(self, net: int) -> int:
        return 0


STANDARD = TaxTable()
