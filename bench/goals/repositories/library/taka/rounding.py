from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

MODES = {"half_up": ROUND_HALF_UP, "half_even": ROUND_HALF_EVEN, "down": ROUND_DOWN}


def unit(decimals):
    """The smallest amount: 0.01 for two decimals."""
    return Decimal(1).scaleb(-decimals)


def rounded(amount, decimals, mode="half_up"):
    return amount.quantize(unit(decimals), MODES[mode])


def to_cash(amount, step):
    """To the next coin: in Dhaka nobody gives back less than a taka."""
    steps = (amount / step).quantize(Decimal(1), ROUND_HALF_UP)
    return steps * step
