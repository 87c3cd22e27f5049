"""Lines between points."""

from bisect import bisect_right


def linear(xs, ys, x):
    """y at x on the lines between the points; outside, the value at the end."""
    if len(xs) != len(ys) or not xs:
        raise ValueError("as many x as y, at least one")
    if any(a >= b for a, b in zip(xs, xs[1:])):
        raise ValueError("x must grow")
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    right = bisect_right(xs, x)
    left = right - 1
    part = (x - xs[left]) / (xs[right] - xs[left])
    return ys[left] + part * (ys[right] - ys[left])


def grid(start, stop, count):
    """`count` numbers from start to stop, both included."""
    if count < 2:
        raise ValueError("at least two")
    step = (stop - start) / (count - 1)
    return [start + step * i for i in range(count)]


def clamp(value, low, high):
    """The value, or the bound that it crosses."""
    return max(low, min(high, value))
