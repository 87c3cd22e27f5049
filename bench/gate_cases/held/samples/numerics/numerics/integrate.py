"""Areas below a function."""

import math


def trapezoid(function, low, high, parts=100):
    """The area by trapezoids."""
    step = (high - low) / parts
    inner = math.fsum(function(low + step * i) for i in range(1, parts))
    return step * (inner + (function(low) + function(high)) / 2)


def simpson(function, low, high, parts=100):
    """The area by parabolas; an even number of parts."""
    if parts % 2:
        raise ValueError("an even number of parts")
    step = (high - low) / parts
    odd = math.fsum(function(low + step * i) for i in range(1, parts, 2))
    even = math.fsum(function(low + step * i) for i in range(2, parts, 2))
    return step / 3 * (function(low) + 4 * odd + 2 * even + function(high))
