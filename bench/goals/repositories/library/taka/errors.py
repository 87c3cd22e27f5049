class MoneyError(Exception):
    """Everything that this package raises on purpose."""


class UnknownCurrency(MoneyError, LookupError):
    """No currency of this code is registered."""


class MixedCurrencies(MoneyError, TypeError):
    """Two currencies in one sum."""


class NotMoney(MoneyError, ValueError):
    """The text is not an amount."""
