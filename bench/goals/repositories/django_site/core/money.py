from decimal import ROUND_HALF_UP, Decimal


def total(amounts):
    """Sum of amounts, in taka with two places."""
    return sum(amounts, Decimal("0")).quantize(Decimal("0.01"), ROUND_HALF_UP)


def taka(amount):
    return f"৳{amount:,.2f}"
