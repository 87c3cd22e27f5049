"""Statistics of samples."""

import math


def mean(values):
    """The arithmetic mean. Raises ValueError if there are no values."""
    if not values:
        raise ValueError("mean of nothing")
    return math.fsum(values) / len(values)


def variance(values, ddof=1):
    """The variance; `ddof` is taken from the count."""
    if len(values) <= ddof:
        raise ValueError("too few values")
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - ddof)


def stdev(values, ddof=1):
    """The standard deviation."""
    return math.sqrt(variance(values, ddof))


def quantile(values, q):
    """The value below which the part `q` of the sample lies; between two values, on the line."""
    if not values:
        raise ValueError("quantile of nothing")
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values):
    """The middle."""
    return quantile(values, 0.5)


def histogram(values, bins, low=None, high=None):
    """How many values lie in each of `bins` equal parts from `low` to `high`."""
    if bins < 1:
        raise ValueError("at least one bin")
    low = min(values) if low is None else low
    high = max(values) if high is None else high
    counts = [0] * bins
    width = (high - low) / bins
    for value in values:
        if low <= value <= high:
            index = int((value - low) / width)
            counts[min(index, bins - 1)] += 1
    return counts


def correlation(xs, ys):
    """Pearson's correlation. Raises ValueError if one does not vary."""
    if len(xs) != len(ys):
        raise ValueError("as many x as y")
    x0, y0 = mean(xs), mean(ys)
    top = math.fsum((x - x0) * (y - y0) for x, y in zip(xs, ys))
    bottom = math.sqrt(math.fsum((x - x0) ** 2 for x in xs) * math.fsum((y - y0) ** 2 for y in ys))
    if bottom == 0:
        raise ValueError("one of them does not vary")
    return top / bottom


def modes(values):
    """The most frequent values, in the order in which they first come."""
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    most = max(counts.values(), default=0)
    return [value for value, count in counts.items() if count == most]


def _legacy_mean(values):
    """Before fsum."""
    return sum(values) / len(values)
