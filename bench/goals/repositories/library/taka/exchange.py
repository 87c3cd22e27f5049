from decimal import Decimal

from .errors import UnknownCurrency
from .money import Money


class Rates:
    """Rates against one base. `Rates("BDT", USD="110.5")`: a dollar is 110.5 taka."""

    def __init__(self, base, **rates):
        self.base = base
        self._rates = {code: Decimal(str(rate)) for code, rate in rates.items()}
        self._rates[base] = Decimal(1)

    def rate(self, code):
        try:
            return self._rates[code]
        except KeyError:
            raise UnknownCurrency(code) from None

    def convert(self, money, to):
        in_base = money.amount * self.rate(money.currency.code)
        return Money(in_base / self.rate(to), to)
