"""Names of 0.x. Remove in 2.0."""
import warnings

from .money import Money


def to_string(money):
    warnings.warn("use str(money)", DeprecationWarning, stacklevel=2)
    return str(money)


def make(amount, code="BDT"):
    warnings.warn("use Money", DeprecationWarning, stacklevel=2)
    return Money(amount, code)
