"""Money for small programs. All public names are here; import from submodules at your own risk."""
from .currency import Currency
from .errors import MixedCurrencies, MoneyError, NotMoney, UnknownCurrency
from .exchange import Rates
from .format import format_money
from .money import Money
from .parse import parse
from .registry import all_currencies, currency, register

__version__ = "1.4.dev0"
__all__ = [
    "Currency",
    "MixedCurrencies",
    "Money",
    "MoneyError",
    "NotMoney",
    "Rates",
    "UnknownCurrency",
    "all_currencies",
    "currency",
    "format_money",
    "parse",
    "register",
]
