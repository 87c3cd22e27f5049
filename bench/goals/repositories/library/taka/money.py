from decimal import Decimal, InvalidOperation
from functools import total_ordering

from . import shares
from .errors import MixedCurrencies, NotMoney
from .registry import currency as find
from .rounding import rounded


@total_ordering
class Money:
    """An amount in a currency. Immutable. Amounts are rounded to the currency's decimals when made."""

    __slots__ = ("amount", "currency")

    def __init__(self, amount, currency="BDT", rounding="half_up"):
        found = find(currency)
        try:
            value = amount if isinstance(amount, Decimal) else Decimal(str(amount))
        except InvalidOperation:
            raise NotMoney(amount) from None
        object.__setattr__(self, "currency", found)
        object.__setattr__(self, "amount", rounded(value, found.decimals, rounding))

    def __setattr__(self, name, value):
        raise AttributeError("Money does not change")

    def _same(self, other):
        if not isinstance(other, Money):
            return False
        if other.currency.code != self.currency.code:
            raise MixedCurrencies(f"{self.currency.code} and {other.currency.code}")
        return True

    def __add__(self, other):
        if other == 0:  # for sum()
            return self
        if not self._same(other):
            return NotImplemented
        return Money(self.amount + other.amount, self.currency)

    __radd__ = __add__

    def __sub__(self, other):
        if not self._same(other):
            return NotImplemented
        return Money(self.amount - other.amount, self.currency)

    def __mul__(self, factor):
        if isinstance(factor, Money):
            return NotImplemented
        return Money(self.amount * Decimal(str(factor)), self.currency)

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        """Rounds: shares made with it need not add up. See `split`."""
        return Money(self.amount / Decimal(str(divisor)), self.currency)

    def __neg__(self):
        return Money(-self.amount, self.currency)

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.currency.code == other.currency.code and self.amount == other.amount

    def __lt__(self, other):
        if not self._same(other):
            return NotImplemented
        return self.amount < other.amount

    def __hash__(self):
        return hash((self.amount, self.currency.code))

    def __bool__(self):
        return bool(self.amount)

    def __str__(self):
        return f"{self.currency.code} {self.amount}"

    def __repr__(self):
        return f"Money('{self.amount}', '{self.currency.code}')"

    def split(self, parts):
        return [Money(each, self.currency) for each in shares.evenly(self.amount, parts, self.currency.decimals)]

    def allocate(self, *weights):
        return [Money(each, self.currency) for each in shares.allocate(self.amount, weights, self.currency.decimals)]

    def percent(self, rate):
        return self * (Decimal(str(rate)) / 100)
