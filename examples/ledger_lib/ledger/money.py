"""Amounts are whole cents (int). Texts look like 1,234.50 and -3.00."""

import re

AMOUNT = re.compile(r"(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?")
LARGEST = 10**15


def parse(text):
    """The cents that a text stands for. Raises ValueError if it is no amount, or too large."""
    match = AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount: {text!r}")
    sign, whole, part = match.groups()
    cents = int(whole.replace(",", "")) * 100 + int(part or 0)
    if cents > LARGEST:
        raise ValueError(f"too large: {text!r}")
    return -cents if sign else cents


def show(cents):
    """The amount as people write it: 123450 is 1,234.50."""
    whole, part = divmod(cents, 100)
    return f"{whole:,}.{part:02}"


def share(cents, weights):
    """Split an amount by whole-number weights; the shares add up to it, the first ones get the odd cents.

    Raises ValueError if there is no weight above zero, or one below.
    """
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights: none below zero, one above")
    shares = [cents * weight // total for weight in weights]
    for index in range(cents - sum(shares)):
        shares[index] += 1
    return shares


def percent(cents, rate):
    """`rate` per cent of an amount, rounded half up; `rate` is a whole number."""
    return (cents * rate + 50) // 100
