"""Dividing amounts so that the shares add up to the whole."""
from decimal import ROUND_DOWN

from .rounding import unit


def allocate(amount, weights, decimals):
    """Shares by weight. What rounding leaves over goes unit by unit to the first shares."""
    whole = sum(weights)
    if whole <= 0:
        raise ValueError("weights add up to nothing")
    step = unit(decimals)
    shares = [(amount * weight / whole).quantize(step, ROUND_DOWN) for weight in weights]
    left = amount - sum(shares)
    at = 0
    sign = 1 if left >= 0 else -1
    while left:
        if weights[at % len(weights)]:
            shares[at % len(shares)] += sign * step
            left -= sign * step
        at += 1
    return shares


def evenly(amount, parts, decimals):
    return allocate(amount, [1] * parts, decimals)
